"""Decoder and encoder in one graph: runs that are cut short, runs without an input file, and other codecs."""

from __future__ import annotations

import av
import pytest

import penstock_testing as testing
from penstock import CalculatorGraph, StatusCode
from penstock.errors import GraphRunError
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.encoder import VideoEncoderCalculator
from penstock_video.pattern import pattern_index
from penstock_video.plugin import penstock_components

GRAPH = """
input_side_packet: "input_video"
input_side_packet: "output_video"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
  options {
    [penstock.VideoDecoderCalculatorOptions.ext] { test_pattern { width: 64 height: 64 frames: %d } }
  }
}
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:frame"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
}
"""


TRANSCODING = """
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_file_path"
  output_stream: "VIDEO:video"
  output_stream: "VIDEO_PRESTREAM:video_prestream"
}
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:video"
  input_stream: "VIDEO_PRESTREAM:video_prestream"
  input_side_packet: "OUTPUT_FILE_PATH:output_file_path"
  options {
    [penstock.OpenCvVideoEncoderCalculatorOptions.ext] { codec: "%s" video_format: "%s" }
  }
}
"""


def loaded(text: str) -> CalculatorGraph:
    registry = testing.testing_registry(VideoDecoderCalculator, VideoEncoderCalculator)
    for full_name, (extendee, number, target) in penstock_components().options.items():
        registry.add_option(full_name, extendee, number, target)
    return CalculatorGraph(text, registry=registry)


def graph(frames: int = 0) -> CalculatorGraph:
    return loaded(GRAPH % frames)


def indexes(path) -> list[int]:
    run = testing.run_calculator(
        VideoDecoderCalculator, outputs=["VIDEO"], side_packets={"INPUT_FILE_PATH": path}
    )
    return [pattern_index(packet.payload.array) for packet in run.outputs["VIDEO"]]


def test_without_a_file_the_pattern_is_written_to_its_end(tmp_path):
    graph(frames=12).run({"output_video": str(tmp_path / "out.mp4")})

    assert indexes(tmp_path / "out.mp4") == list(range(12))


def test_a_graph_runs_again_and_writes_the_same_frames(tmp_path):
    one = graph(frames=12)

    one.run({"output_video": str(tmp_path / "one.mp4")})
    one.run({"output_video": str(tmp_path / "two.mp4")})

    # not each byte: an encoder with threads may spend some bits more
    assert indexes(tmp_path / "one.mp4") == indexes(tmp_path / "two.mp4") == list(range(12))


def test_a_file_that_is_given_is_read_and_may_be_written_over(tmp_path):
    path = tmp_path / "film.mp4"
    graph(frames=5).run({"output_video": path})

    graph(frames=99).run({"input_video": path, "output_video": path})

    assert indexes(path) == list(range(5))


def test_a_cancelled_run_leaves_a_file_that_plays(tmp_path):
    run = graph()
    run.observe_output_stream(
        "frame", lambda _, packet: run.cancel() if packet.timestamp >= 800_000 else None
    )

    with pytest.raises(GraphRunError) as failure:
        run.run({"output_video": str(tmp_path / "out.mp4")}, timeout=60)

    assert failure.value.code is StatusCode.CANCELLED
    found = indexes(tmp_path / "out.mp4")
    assert found == list(range(len(found)))
    assert len(found) >= 15
    assert [path.name for path in tmp_path.iterdir()] == ["out.mp4"]


@pytest.mark.reference(
    "calculators/video/opencv_video_encoder_calculator_test.cc",
    "OpenCvVideoEncoderCalculatorTest.DISABLED_TestMp4Avc720pVideo",
    "OpenCvVideoEncoderCalculatorTest.TestFlvH264Video",
    "OpenCvVideoEncoderCalculatorTest.TestMkvVp8Video",
)
@pytest.mark.parametrize(
    ("name", "codec", "ending", "written"),
    [
        pytest.param("MP4_AVC720P_AAC", "avc1", "mp4", "h264", marks=pytest.mark.slow),
        ("FLV_H264_AAC", "MJPG", "avi", "mjpeg"),
        ("MKV_VP8_VORBIS", "PIM1", "mkv", "mpeg1video"),
    ],
)
def test_a_film_of_the_reference_keeps_its_size_rate_and_length(  # noqa: PLR0913, PLR0917  # one case
    reference_film, tmp_path, name, codec, ending, written
):
    run = loaded(TRANSCODING % (codec, ending))
    headers = []
    run.observe_output_stream("video_prestream", lambda _, packet: headers.append(packet.payload))

    run.run({"input_file_path": reference_film(name), "output_file_path": tmp_path / f"out.{ending}"})

    (header,) = headers
    with av.open(str(tmp_path / f"out.{ending}")) as container:
        (stream,) = container.streams.video
        rate = stream.guessed_rate
        count = sum(1 for _ in container.demux(stream)) - 1  # an empty packet comes last
    assert stream.codec_context.name == written
    assert (stream.width, stream.height) == (header.width, header.height)
    assert float(rate) == header.frame_rate == 30
    assert count == 180
    assert round(count / header.frame_rate) == round(header.duration_s) == 6
