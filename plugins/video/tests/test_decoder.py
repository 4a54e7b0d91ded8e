"""VideoDecoderCalculator: frames, times and headers of files, and which sources are refused."""

from __future__ import annotations

import gc
import logging
import os
import sys
import time
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest

from penstock import CalculatorGraph, Timestamp
from penstock.errors import GraphRunError, PenstockError
from penstock_formats import ImageFormat, VideoHeader
from penstock_testing import run_calculator, testing_registry
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.file_and_camera_reader import FileSource, camera_source
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions as Options
from penstock_video.source import microseconds


def decode(path=None, outputs=("VIDEO",), output_side_packets=None, **options):
    return run_calculator(
        VideoDecoderCalculator,
        outputs=list(outputs),
        options=Options(**options),
        side_packets=None if path is None else {"INPUT_FILE_PATH": path},
        output_side_packets=output_side_packets,
    )


def times(packets) -> list[int]:
    return [int(packet.timestamp) for packet in packets]


def test_frames_come_in_order_with_their_pixels_and_times(clip):
    run = decode(clip(ticks=(0, 1, 3)))

    assert times(run.outputs["VIDEO"]) == [0, 40_000, 120_000]
    for index, packet in enumerate(run.outputs["VIDEO"]):
        frame = packet.payload
        assert (frame.format, frame.width, frame.height) == (ImageFormat.SRGB, 32, 16)
        assert (frame.array[:8, :8] == 255).all()
        assert (frame.array[8:] == 10 * index).all()
        assert not frame.array.flags.writeable


def test_frames_stay_as_they_are_when_later_ones_are_decoded(clip):
    source = FileSource(clip(ticks=tuple(range(20))))
    first = source.read()[1]
    before = first.copy()

    while source.read() is not None:
        pass
    source.close()
    gc.collect()

    assert np.array_equal(first, before)


@pytest.mark.parametrize(
    ("ticks", "time_base", "expected"),
    [
        (1, Fraction(1, 3), 333_333),
        (2, Fraction(1, 3), 666_667),
        (1, Fraction(1001, 30000), 33_367),
        (1, Fraction(1, 2_000_000), 1),
        (-1, Fraction(1, 3), -333_333),
        (10**15, Fraction(1, 90000), 11_111_111_111_111_111),
    ],
)
def test_times_are_exact_and_rounded_half_up(ticks, time_base, expected):
    assert microseconds(ticks, time_base) == expected


def test_header_comes_with_the_stream_and_at_prestream(clip):
    run = decode(clip(), outputs=("VIDEO", "VIDEO_PRESTREAM"))

    header = run.headers["VIDEO"]
    assert (header.format, header.width, header.height) == (ImageFormat.SRGB, 32, 16)
    assert header.frame_rate == pytest.approx(25)
    assert header.duration_s == pytest.approx(0.12)
    (packet,) = run.outputs["VIDEO_PRESTREAM"]
    assert packet.timestamp == Timestamp.PRESTREAM
    assert packet.payload == header


@pytest.mark.reference(
    "calculators/video/opencv_video_decoder_calculator_test.cc",
    "OpenCvVideoDecoderCalculatorTest.TestMp4Avc720pVideo",
    "OpenCvVideoDecoderCalculatorTest.TestFlvH264Video",
    "OpenCvVideoDecoderCalculatorTest.TestMkvVp8Video",
)
@pytest.mark.parametrize(
    ("name", "width", "height", "duration"),
    [
        ("MP4_AVC720P_AAC", 1280, 640, 6.0),
        ("FLV_H264_AAC", 640, 320, 182 / 30),  # with the end of its sound
        ("MKV_VP8_VORBIS", 640, 320, 6.0),
    ],
)
def test_the_films_of_the_reference_are_decoded(reference_film, name, width, height, duration):
    graph = CalculatorGraph(
        """
        node {
          calculator: "VideoDecoderCalculator"
          input_side_packet: "INPUT_FILE_PATH:path"
          output_stream: "VIDEO:video"
          output_stream: "VIDEO_PRESTREAM:video_prestream"
        }
        """,
        registry=testing_registry(VideoDecoderCalculator),
    )
    headers, means = [], []
    graph.observe_output_stream("video_prestream", lambda _, packet: headers.append(packet.payload))
    graph.observe_output_stream("video", lambda _, packet: means.append(colours(packet.payload)))

    graph.run({"path": str(reference_film(name))})

    (header,) = headers
    assert (header.format, header.width, header.height) == (ImageFormat.SRGB, width, height)
    assert (header.frame_rate, header.duration_s) == pytest.approx((30, duration), rel=1e-6)
    assert len(means) == 180
    for shape, mean in means:
        assert shape == (height, width, 3)
        assert ((mean > 0) & (mean < 255)).all()


def colours(frame):
    """Return the shape of a frame, and the mean of each colour, of every fourth pixel both ways."""
    return frame.array.shape, frame.array[::4, ::4].mean(axis=(0, 1))


def test_the_file_may_be_a_path_object(clip):
    assert len(decode(Path(clip())).outputs["VIDEO"]) == 3


def test_on_the_wall_clock_the_start_of_the_run_is_added(clip):
    before = time.time_ns() // 1000
    run = decode(clip(), wall_clock=True)
    after = time.time_ns() // 1000

    first, second, _ = times(run.outputs["VIDEO"])
    assert before <= first <= after
    assert second - first == 40_000


def test_a_frame_is_rotated_as_its_file_says(clip):
    run = decode(clip("turned.mp4", rotation=90))

    frame = run.outputs["VIDEO"][0].payload
    assert (frame.width, frame.height) == (16, 32)
    assert (run.headers["VIDEO"].width, run.headers["VIDEO"].height) == (16, 32)
    assert (frame.array[24:, :8] == 255).all()
    assert (frame.array[:24] == 0).all()


class Frames(FileSource):
    """A source whose frames carry the times that a test gives; None: no time at all."""

    def __init__(self, path: Path, pts: list[int | None]) -> None:
        self._pts = iter(pts)
        super().__init__(path)

    def _decoded(self):
        frame = super()._decoded()
        if frame is not None:
            frame.pts = next(self._pts)
        return frame


def all_times(source: FileSource) -> list[int]:
    found = []
    while (read := source.read()) is not None:
        found.append(read[0])
    source.close()
    return found


def test_frames_that_are_not_later_than_the_one_before_are_dropped_and_counted(clip, caplog):
    with caplog.at_level(logging.WARNING, "penstock.video"):
        found = all_times(Frames(clip(ticks=(0, 1, 2, 3, 4)), [0, 40, 40, 20, 80]))

    assert found == [0, 40_000, 80_000]
    assert "dropped 2 frames not later than the one before and 0 packets" in caplog.text


def test_frames_without_a_time_follow_at_the_streams_rate(clip):
    assert all_times(Frames(clip(ticks=(0, 1, 2)), [None, None, 200])) == [0, 40_000, 200_000]


def rubbish(packet: av.Packet) -> av.Packet:
    """Return a packet with the place and time of another, whose bytes cannot be decoded."""
    broken = av.Packet(b"no picture at all" * 5)
    broken.pts = broken.dts = packet.pts
    broken.time_base, broken.stream = packet.time_base, packet.stream
    return broken


def test_packets_that_cannot_be_decoded_cost_only_their_own_frames(tmp_path, caplog):
    path = tmp_path / "holes.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=25)
        stream.width, stream.height, stream.pix_fmt = 8, 8, "rgb24"
        for index in range(4):
            frame = av.VideoFrame.from_ndarray(np.full((8, 8, 3), index, np.uint8), format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, 25)
            for packet in stream.encode(frame):
                container.mux(rubbish(packet) if index == 2 else packet)

    with caplog.at_level(logging.WARNING, "penstock.video"):
        run = decode(path, decoder_threads=1)

    assert times(run.outputs["VIDEO"]) == [0, 40_000, 120_000]
    assert "1 packets that cannot be decoded" in caplog.text


def test_a_missing_file_is_named():
    with pytest.raises(
        GraphRunError,
        match=r"video file 'no/such.mp4' cannot be read: it does not exist; check INPUT_FILE_PATH",
    ):
        decode("no/such.mp4")


def test_a_file_that_is_no_video_is_named_with_the_reason(tmp_path):
    path = tmp_path / "broken.mp4"
    path.write_bytes(b"this is no film" * 100)

    with pytest.raises(
        GraphRunError, match=r"broken\.mp4' cannot be read as a video: Invalid data .*; check the file"
    ):
        decode(str(path))


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(GraphRunError, match=r"cannot be read as a video: "):
        decode(str(tmp_path))


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_a_file_without_permission_is_refused(clip):
    path = clip()
    path.chmod(0)

    with pytest.raises(GraphRunError, match=r"cannot be read as a video: Permission denied"):
        decode(path)


def test_a_file_without_a_video_stream_is_refused(tmp_path):
    path = tmp_path / "sound.wav"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        sound.sample_rate = 8000
        container.mux(stream.encode(sound))
        container.mux(stream.encode(None))

    with pytest.raises(
        GraphRunError, match=r"sound\.wav' has no video stream, only audio; give a video file"
    ):
        decode(path)


def test_a_video_without_a_frame_that_can_be_decoded_is_refused(tmp_path):
    path = tmp_path / "empty.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=25)
        stream.width, stream.height, stream.pix_fmt = 8, 8, "rgb24"
        packet = av.Packet(b"rubbish")
        packet.pts = packet.dts = 0
        packet.time_base, packet.stream = Fraction(1, 25), stream
        container.start_encoding()
        container.mux(packet)

    with pytest.raises(GraphRunError, match=r"not one frame can be decoded \(1 broken packets\)"):
        decode(path)


def test_a_decoder_with_nothing_to_read_is_refused_when_the_run_starts():
    with pytest.raises(PenstockError, match=r"INPUT_FILE_PATH"):
        decode()


def test_a_camera_together_with_a_test_pattern_is_refused():
    with pytest.raises(
        GraphRunError, match=r"options name both camera_index and test_pattern; leave out one"
    ):
        decode(camera_index=0, test_pattern={})


def test_a_file_overrides_the_test_pattern(clip):
    assert len(decode(clip(), test_pattern={"frames": 7}).outputs["VIDEO"]) == 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cameras are Video4Linux devices")
def test_a_missing_camera_is_named():
    with pytest.raises(
        GraphRunError, match=r"camera 4711 does not exist: there is no device file '/dev/video4711'"
    ):
        decode(camera_index=4711)


def test_a_camera_on_a_system_without_any_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "platform", "freebsd14")

    with pytest.raises(
        ValueError, match=r"^camera 0 cannot be read on 'freebsd14': cameras work on Linux, macOS"
    ):
        camera_source(0)


@pytest.mark.parametrize(
    ("system", "name", "kind", "options"),
    [
        ("darwin", "1:none", "avfoundation", {"framerate": "30"}),
        ("win32", "video=Front camera", "dshow", {"rtbufsize": "256M"}),
    ],
)
def test_other_systems_have_their_own_cameras_whose_times_begin_now(  # noqa: PLR0913, PLR0917
    monkeypatch, clip, system, name, kind, options
):
    """A file stands for the camera: this is about what libav is asked for."""
    asked, file, really_open = [], str(clip()), av.open

    def opened(path, mode, **rest):
        asked.append((path, rest))
        return really_open(file, mode)

    devices = [
        SimpleNamespace(name="Microphone", media_types=["audio"]),
        SimpleNamespace(name="Rear camera", media_types=["video"]),
        SimpleNamespace(name="Front camera", media_types=["video", "audio"]),
    ]
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(av, "open", opened)
    monkeypatch.setattr(av, "enumerate_input_devices", lambda wanted: devices)
    before = time.time_ns() // 1000
    source = camera_source(1)
    try:
        times = [source.read()[0] for _ in range(3)]
    finally:
        source.close()

    assert asked == [(name, {"format": kind, "options": options})]
    assert before <= times[0] <= time.time_ns() // 1000
    assert [later - times[0] for later in times] == [0, 40_000, 80_000]


def test_a_camera_that_windows_does_not_have_is_named_beside_those_that_it_has(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    devices = [SimpleNamespace(name="Front camera", media_types=["video"])]
    monkeypatch.setattr(av, "enumerate_input_devices", lambda wanted: devices)

    with pytest.raises(
        ValueError, match=r"camera 1 does not exist; the cameras are 0: 'Front camera'; check"
    ):
        camera_source(1)
    monkeypatch.delattr(av, "enumerate_input_devices")
    with pytest.raises(ValueError, match=r"PyAV .* does not list devices; pip install --upgrade av"):
        camera_source(0)


def test_audio_is_saved_without_a_change(film):
    run = decode(film, output_side_packets=["SAVED_AUDIO_PATH"])

    path = Path(run.output_side_packets["SAVED_AUDIO_PATH"])
    try:
        with av.open(str(film)) as before, av.open(str(path)) as after:
            wanted = [bytes(p) for p in before.demux(audio=0) if p.size]
            assert [bytes(p) for p in after.demux(audio=0) if p.size] == wanted
            assert not after.streams.video
    finally:
        path.unlink()


def test_without_audio_the_path_is_empty_and_the_log_says_so(clip, caplog):
    with caplog.at_level(logging.WARNING, "penstock.video"):
        run = decode(clip(), output_side_packets=["SAVED_AUDIO_PATH"])

    assert run.output_side_packets["SAVED_AUDIO_PATH"] == ""
    assert "no audio can be copied from a file without an audio stream" in caplog.text


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")
def test_no_file_stays_open_whether_a_run_ends_well_or_not(clip, tmp_path):
    good, bad = clip(), tmp_path / "bad.mp4"
    bad.write_bytes(b"x" * 5000)
    decode(good)
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(5):
        decode(good)
        with pytest.raises(GraphRunError):
            decode(bad)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_real_film_has_132_frames_40_ms_apart(film):
    run = decode(film, decoder_threads=2)

    assert times(run.outputs["VIDEO"]) == [40_000 * index for index in range(132)]
    assert run.headers["VIDEO"] == VideoHeader(ImageFormat.SRGB, 1280, 720, 25.0, 5.28)
