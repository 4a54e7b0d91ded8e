"""VideoEncoderCalculator: times in the file, files that are complete or absent, and refusals."""

from __future__ import annotations

import logging
import os
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock import Timestamp
from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_testing import run_calculator
from penstock_video import libav_encoders
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.encoder import VideoEncoderCalculator
from penstock_video.libav_encoders import encoder_name
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.messages.encoder_pb2 import OpenCvVideoEncoderCalculatorOptions as Options
from penstock_video.pattern import PatternSource, pattern_index
from penstock_video.writer import Settings, VideoWriter

pytestmark = pytest.mark.heavy

NOW = 1_750_000_000_123_456


def pattern(count: int, width: int = 128, height: int = 96) -> list[ImageFrame]:
    source = PatternSource(
        VideoDecoderCalculatorOptions.TestPattern(width=width, height=height, frames=count)
    )
    return [ImageFrame(source.read()[1]) for _ in range(count)]


def encode(target, packets, *, sides=None, prestream=None, header=None, **options):
    inputs = {"VIDEO": packets}
    if prestream is not None:
        inputs["VIDEO_PRESTREAM"] = [(Timestamp.PRESTREAM, prestream)]
    return run_calculator(
        VideoEncoderCalculator,
        inputs,
        options=Options(**options),
        side_packets={"OUTPUT_FILE_PATH": target, **(sides or {})},
        headers=None if header is None else {"VIDEO": header},
    )


def decode(path):
    run = run_calculator(VideoDecoderCalculator, outputs=["VIDEO"], side_packets={"INPUT_FILE_PATH": path})
    return run.outputs["VIDEO"]


def format_of(path):
    with av.open(str(path)) as container:
        return container.streams.video[0].codec_context.codec.canonical_name


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def times(packets) -> list[int]:
    return [int(packet.timestamp) for packet in packets]


@pytest.mark.parametrize("name", ["out.mp4", "out.mov"])
@pytest.mark.parametrize("start", [0, 5_000_123, 3_600_000_001])
def test_timestamps_come_back_exactly_in_mp4_and_mov(tmp_path, name, start):
    stamps = [start + 33_367 * index + (index * index) % 17 for index in range(30)]

    encode(tmp_path / name, list(zip(stamps, pattern(30), strict=True)))

    found = decode(tmp_path / name)
    assert times(found) == stamps
    assert [pattern_index(p.payload.array) for p in found] == list(range(30))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(gaps=st.lists(st.integers(1, 40_000_000), max_size=12), start=st.integers(0, 80_000_000_000))
def test_any_growing_timestamps_come_back(tmp_path, gaps, start):
    stamps = [start]
    for gap in gaps:
        stamps.append(stamps[-1] + gap)
    frame = pattern(1, 16, 16)[0]

    encode(tmp_path / "out.mp4", [(stamp, frame) for stamp in stamps])

    assert times(decode(tmp_path / "out.mp4")) == stamps


def test_frames_come_back_as_they_were_except_for_compression(tmp_path):
    frames = pattern(3, 320, 240)

    encode(tmp_path / "out.mp4", list(enumerate(frames)), crf=4)

    for before, after in zip(frames, decode(tmp_path / "out.mp4"), strict=True):
        difference = np.abs(before.array.astype(int) - after.payload.array)
        assert np.median(difference) <= 3
        assert difference.mean() < 8


@pytest.mark.parametrize(
    "color", [(40, 40, 40), (220, 220, 220), (200, 30, 60), (20, 160, 40), (30, 60, 210)]
)
@pytest.mark.parametrize(("name", "codec"), [("out.mp4", ""), ("out.avi", "MJPG")])
def test_flat_colours_come_back_in_the_right_range_and_matrix(tmp_path, color, name, codec):
    pixels = np.full((64, 96, 3), color, np.uint8)

    encode(tmp_path / name, [(0, ImageFrame(pixels))], crf=1, codec=codec, bit_rate=50_000_000)

    assert np.abs(decode(tmp_path / name)[0].payload.array.astype(int) - color).max() <= 4


@pytest.mark.parametrize(
    ("name", "codec", "step"),
    [
        ("out.mkv", "", 1000),
        ("out.webm", "", 1000),
        ("out.avi", "MJPG", 40_000),
        ("out.mp4", "mp4v", 17),
        ("a.mp4", "AVC1", 1),
    ],
)
def test_other_containers_and_codecs_keep_times_as_well_as_they_can(tmp_path, name, codec, step):
    stamps = [40_000 * index for index in range(8)]

    encode(tmp_path / name, list(zip(stamps, pattern(8), strict=True)), codec=codec, fps=25)

    found = decode(tmp_path / name)
    assert np.abs(np.array(times(found)) - stamps).max() < step
    assert [pattern_index(p.payload.array) for p in found] == list(range(8))


@pytest.mark.parametrize(
    ("stamps", "options", "expected"),
    [
        ([NOW, NOW + 7], {}, [0, 7]),
        ([-50, 10], {}, [0, 60]),
        ([100, 300], {}, [100, 300]),
        ([100, 300], {"timeline": Options.FROM_ZERO}, [0, 200]),
        ([86_400_000_000, 86_400_000_009], {"timeline": Options.PACKET}, [86_400_000_000, 86_400_000_009]),
    ],
)
def test_the_timeline_begins_at_zero_where_the_first_time_is_far_from_zero(
    tmp_path, stamps, options, expected
):
    encode(tmp_path / "out.mp4", [(stamp, pattern(1)[0]) for stamp in stamps], **options)

    assert times(decode(tmp_path / "out.mp4")) == expected


def test_a_file_of_live_frames_records_when_they_were_taken(tmp_path):
    encode(tmp_path / "out.mp4", [(NOW, pattern(1)[0])])

    with av.open(str(tmp_path / "out.mp4")) as container:
        assert container.metadata["creation_time"].startswith("2025-06-15T15:06:40")


@pytest.mark.parametrize("kind", [ImageFormat.GRAY8, ImageFormat.SRGBA])
def test_grey_frames_and_frames_with_alpha_are_written_too(tmp_path, kind):
    rgb = pattern(1)[0].array
    pixels = (
        rgb[:, :, 1] if kind is ImageFormat.GRAY8 else np.dstack([rgb, np.zeros(rgb.shape[:2], np.uint8)])
    )

    encode(tmp_path / "out.mp4", [(0, ImageFrame(pixels, kind))], crf=4)

    found = decode(tmp_path / "out.mp4")[0].payload.array
    want = np.dstack([pixels] * 3) if kind is ImageFormat.GRAY8 else rgb
    assert np.median(np.abs(found.astype(int) - want)) <= 3


def test_frames_with_strides_are_written_with_the_same_pixels(tmp_path):
    pixels = pattern(1)[0].array

    encode(tmp_path / "out.mp4", [(0, ImageFrame(pixels[:, ::-1]))], crf=4)

    assert np.median(np.abs(decode(tmp_path / "out.mp4")[0].payload.array.astype(int) - pixels[:, ::-1])) <= 3


@pytest.mark.parametrize(
    "given_by",
    [
        {"prestream": VideoHeader(frame_rate=12.5)},
        {"header": VideoHeader(frame_rate=12.5)},
        {"fps": 12.5, "header": VideoHeader(frame_rate=60.0)},
    ],
)
def test_the_rate_comes_from_options_or_headers(tmp_path, given_by):
    encode(tmp_path / "out.avi", [(0, pattern(1)[0])], codec="MJPG", **given_by)

    with av.open(str(tmp_path / "out.avi")) as container:
        assert container.streams.video[0].average_rate == Fraction(25, 2)


def test_an_error_in_the_middle_leaves_a_file_that_plays(tmp_path):
    frames = [*pattern(5), ImageFrame(np.zeros((32, 32, 3), np.uint8))]

    with pytest.raises(
        GraphRunError, match=r"has begun with 128x96, but the frame is 32x32; scale with an ImageTr"
    ):
        encode(tmp_path / "out.mp4", list(enumerate(frames)))

    assert [pattern_index(p.payload.array) for p in decode(tmp_path / "out.mp4")] == list(range(5))
    assert names(tmp_path) == ["out.mp4"]


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path):
    target = tmp_path / "out.mp4"
    encode(target, [(0, pattern(1)[0])])
    frames = decode(target)

    run = run_calculator(VideoDecoderCalculator, outputs=["VIDEO"], side_packets={"INPUT_FILE_PATH": target})
    encode(target, [(5, run.outputs["VIDEO"][0].payload)])

    assert times(frames) == [0]
    assert times(decode(target)) == [5]


def test_without_a_frame_no_file_is_made_and_the_log_says_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mp4", [])

    assert names(tmp_path) == []
    assert "no frame came, so no file was written" in caplog.text


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("none/out.mp4", {}, r"cannot be written: there is no directory '.*none'; make it first"),
        ("folder", {}, r"folder' cannot be written: it is a directory; name a file"),
        (
            "out.mp4",
            {"video_format": "avi"},
            r"the encoder's video file .* does not end in '\.avi', which video_format demands; change one of",
        ),
        (
            "out.mp4",
            {"codec": "wxyz"},
            r"codec 'wxyz' is unknown or no video encoder; use a four-letter code",
        ),
        ("out.mp4", {"codec": "aac"}, r"codec 'aac' is unknown or no video encoder"),
        (
            "out.PNG",
            {},
            r"out\.PNG' would be a picture, which has one frame; a PictureSinkCalculator of pens",
        ),
        ("out.jpg", {"codec": "mjpg"}, r"out\.jpg' would be a picture"),
        (
            "out.film",
            {},
            r"out\.film' cannot be written as 128x96 libx264: .*; check the codec and the ending of the path",
        ),
        ("out.webm", {"codec": "avc1"}, r"out\.webm' cannot be written as 128x96 libx264: "),
        ("out.mp4", {"width": 64}, r"has begun with 64x96, but the frame is 128x96; scale with"),
        ("out.mp4", {"codec": "avc1", "preset": "warp"}, r"out\.mp4' cannot be written as 128x96 libx264: "),
    ],
)
def test_settings_that_cannot_be_written_are_refused_and_leave_no_file(tmp_path, name, options, message):
    (tmp_path / "folder").mkdir()

    with pytest.raises(GraphRunError, match=message):
        encode(tmp_path / name, [(0, pattern(1)[0])], **options)

    assert names(tmp_path) == ["folder"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere"
)
def test_a_place_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)

    with pytest.raises(GraphRunError, match=r"cannot be written: no permission for '"):
        encode(tmp_path / "out.mp4", [(0, pattern(1)[0])])


def test_permission_is_checked_before_the_first_frame(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)

    with pytest.raises(GraphRunError, match=r"cannot be written: no permission for '"):
        encode(tmp_path / "out.mp4", [])


@pytest.mark.parametrize(
    ("name", "codec", "size", "found"),
    [
        ("out.mp4", "", (129, 97), (130, 98)),
        ("out.mov", "", (128, 97), (128, 98)),
        ("out.mp4", "hevc", (129, 96), (130, 96)),
        ("out.webm", "", (129, 97), (129, 97)),
        ("out.mkv", "av01", (129, 97), (129, 97)),
        ("out.avi", "mp4v", (129, 97), (129, 97)),
        ("out.mp4", "", (1, 1), (2, 2)),
    ],
)
def test_odd_sides_are_kept_or_made_even_as_the_codec_needs(  # noqa: PLR0913, PLR0917  # one case
    tmp_path, caplog, name, codec, size, found
):
    width, height = size
    rgb = np.full((height, width, 3), (200, 30, 60), np.uint8)
    rgb[:, -2:] = (20, 160, 40)  # the last column is one of these
    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / name, [(0, ImageFrame(rgb))], codec=codec, crf=4, bit_rate=5_000_000)

    made = decode(tmp_path / name)[0].payload.array
    assert (made.shape[1], made.shape[0]) == found
    assert np.abs(made[:, -1].astype(int) - (20, 160, 40)).max() < 30
    words = f"frames are {width}x{height}, and "
    assert (words in caplog.text) == (size != found)


def test_a_frame_of_another_format_is_refused(tmp_path):
    frame = ImageFrame(np.zeros((16, 16), np.uint16))

    with pytest.raises(
        GraphRunError, match=r"takes GRAY8, SRGB or SRGBA, but the frame is <ImageFrame GRAY16 16x16>;"
    ):
        encode(tmp_path / "out.mp4", [(0, frame)])


def test_a_frame_at_a_special_timestamp_is_refused(tmp_path):
    with pytest.raises(
        GraphRunError, match=r"a frame at Timestamp::PostStream\(\) cannot be encoded into a file"
    ):
        encode(tmp_path / "out.mp4", [(Timestamp.POSTSTREAM, pattern(1)[0])])


@pytest.mark.parametrize(
    ("codec", "suffix", "name"),
    [
        ("", ".mp4", "libx264"),
        ("", ".MKV", "libx264"),
        ("", ".WEBM", "libvpx-vp9"),
        ("", ".gif", "gif"),
        ("", ".mov", "libx264"),
        ("", ".avi", "libx264"),
        ("avc1", ".mp4", "libx264"),
        ("XVID", ".avi", "mpeg4"),
    ],
)
def test_a_codec_is_given_by_four_letters_or_by_default(codec, suffix, name):
    assert encoder_name(codec, suffix) == name


@pytest.mark.parametrize(
    ("name", "missing", "found"),
    [
        ("out.mp4", {"libx264"}, "av1"),
        ("out.mkv", {"libx264", "libsvtav1"}, "vp9"),
        ("out.mp4", {"libx264", "libsvtav1", "libvpx-vp9"}, "mpeg4"),
        ("out.mov", {"libx264"}, "mpeg4"),
        ("out.avi", {"libx264"}, "mpeg4"),
        ("out.webm", {"libvpx-vp9"}, "av1"),
    ],
)
def test_without_an_encoder_files_are_written_by_the_next_best_one(
    tmp_path, monkeypatch, name, missing, found
):
    there = libav_encoders.is_video_encoder
    monkeypatch.setattr(libav_encoders, "is_video_encoder", lambda name: name not in missing and there(name))

    encode(tmp_path / name, [(40_000 * index, frame) for index, frame in enumerate(pattern(5))], fps=25)

    assert format_of(tmp_path / name) == found
    assert [pattern_index(p.payload.array) for p in decode(tmp_path / name)] == list(range(5))


def test_a_default_encoder_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(libav_encoders, "is_video_encoder", lambda _: False)

    with pytest.raises(GraphRunError, match=r"codec 'libvpx-vp9' is unknown or no video encoder"):
        encode(tmp_path / "out.webm", [(0, pattern(1)[0])])


def test_all_frames_of_h264_in_avi_come_back_at_equal_times(tmp_path):
    encode(tmp_path / "out.avi", [(40_000 * index, frame) for index, frame in enumerate(pattern(20))], fps=25)

    found = decode(tmp_path / "out.avi")
    assert [pattern_index(p.payload.array) for p in found] == list(range(20))
    assert set(np.diff(times(found))) == {40_000}


def held_back(folder, settings, size):
    """Return the most frames that were given to an encoder and whose packets had not come."""
    writer = VideoWriter(folder / "out.mkv", settings, size)
    stream, sent, worst, came = writer._stream, 0, 0, set()
    try:
        for frame in pattern(80, *size):
            picture = av.VideoFrame.from_ndarray(frame.array, format="rgb24").reformat(format=stream.pix_fmt)
            picture.pts, picture.time_base = sent * 60_000 // settings.fps, Fraction(1, 60_000)
            came.update(round(one.pts * one.time_base * settings.fps) for one in stream.encode(picture))
            sent += 1
            worst = max(worst, sent - next(index for index in range(81) if index not in came))
    finally:
        writer.finish()
    return worst


@pytest.mark.parametrize("fps", [25, 5, 1])
@pytest.mark.parametrize(
    ("codec", "preset"),
    [("libx264", "veryfast"), ("libx264", "superfast"), ("libx264", "medium"), ("libx264", "veryslow"),
     ("libx265", "medium"), ("libvpx-vp9", ""), ("libvpx", ""), ("mpeg4", ""), ("mjpeg", "")],
)  # fmt: skip
def test_an_encoder_holds_back_less_than_a_second_or_a_few_frames(tmp_path, fps, codec, preset):
    assert held_back(tmp_path, Settings(codec, fps, preset=preset), (128, 96)) <= max(0.92 * fps, 4)


@pytest.mark.parametrize("preset", ["ultrafast", "superfast", "veryfast", "medium"])
@pytest.mark.parametrize("fps", [30, 25, 15, 5])
def test_an_encoder_holds_back_no_more_on_a_large_machine(tmp_path, monkeypatch, fps, preset):
    monkeypatch.setattr(libav_encoders, "_processors", lambda: 64)

    assert held_back(tmp_path, Settings("libx264", fps, preset=preset), (32, 720)) <= max(0.92 * fps, 4)


@pytest.mark.parametrize(
    ("cores", "asked", "fps", "preset", "expected"),
    [
        (2, 0, 30, "veryfast", ("FRAME", 3)),
        (4, 0, 30, "veryfast", ("FRAME", 6)),
        (64, 0, 30, "veryfast", ("FRAME", 11)),
        (64, 4, 30, "veryfast", ("FRAME", 4)),
        (1, 0, 25, "veryfast", ("FRAME", 2)),
        (8, 0, 25, "medium", ("SLICE", 0)),
        (8, 3, 1, "veryfast", ("SLICE", 3)),
    ],
)
def test_x264_gets_the_threads_that_use_the_machine(cores, asked, fps, preset, expected):
    options = libav_encoders.encoder_options("libx264", 23, preset, fps)

    assert libav_encoders.threading("libx264", options, asked, fps, height=720, cores=cores) == expected


def test_vp9_gets_as_many_columns_as_fit():
    def columns(width):
        return libav_encoders.encoder_options("libvpx-vp9", 33, "", 30, width=width)["tile-columns"]

    assert [columns(width) for width in (0, 255, 512, 1280, 1920, 3840, 16000)] == [
        "0", "0", "1", "2", "2", "3", "4",
    ]  # fmt: skip


def test_the_last_frame_of_an_mp4_is_within_its_end_though_packets_are_out_of_order(tmp_path):
    stamps = [0, 40_000, 700_000, 1_400_000, 1_440_000]

    encode(tmp_path / "out.mp4", list(zip(stamps, pattern(5), strict=True)))

    assert times(decode(tmp_path / "out.mp4")) == stamps


def test_audio_is_copied_without_a_change_up_to_the_last_frame(tmp_path, film):
    frame = pattern(1)[0]
    stamps = [40_000 * index for index in range(25)]

    encode(tmp_path / "out.mp4", [(stamp, frame) for stamp in stamps], sides={"AUDIO_FILE_PATH": film})

    with av.open(str(film)) as before, av.open(str(tmp_path / "out.mp4")) as after:
        wanted = [bytes(p) for p in before.demux(audio=0) if p.size and p.pts * p.time_base < Fraction(1)]
        assert [bytes(p) for p in after.demux(audio=0) if p.size] == wanted
    assert times(decode(tmp_path / "out.mp4")) == stamps


def test_missing_audio_is_left_out_or_refused(tmp_path, caplog):
    frame = pattern(1)[0]
    encode(tmp_path / "silent.mp4", [(0, frame)])

    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mp4", [(0, frame)], sides={"AUDIO_FILE_PATH": ""})
    with pytest.raises(
        GraphRunError,
        match=r"the video encoder's AUDIO_FILE_PATH 'no/such\.aac' does not exist; check it",
    ):
        encode(tmp_path / "none.mp4", [(0, frame)], sides={"AUDIO_FILE_PATH": "no/such.aac"})
    with pytest.raises(GraphRunError, match=r"silent\.mp4' has no audio stream; check AUDIO_FILE_PATH"):
        encode(tmp_path / "none.mp4", [(0, frame)], sides={"AUDIO_FILE_PATH": tmp_path / "silent.mp4"})

    assert "AUDIO_FILE_PATH is empty, so the file gets no audio" in caplog.text
    assert names(tmp_path) == ["out.mp4", "silent.mp4"]


def test_the_real_film_keeps_its_132_times(tmp_path, film):
    run = run_calculator(VideoDecoderCalculator, outputs=["VIDEO"], side_packets={"INPUT_FILE_PATH": film})

    encode(tmp_path / "out.mp4", run.outputs["VIDEO"], header=run.headers["VIDEO"], preset="ultrafast")

    assert times(decode(tmp_path / "out.mp4")) == [40_000 * index for index in range(132)]


# --- GIF ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ImageFormat.SRGB, ImageFormat.GRAY8])
def test_a_gif_has_all_frames_with_their_colours_and_times(tmp_path, kind):
    frames = pattern(8)
    if kind is ImageFormat.GRAY8:
        frames = [ImageFrame(np.ascontiguousarray(frame.array[:, :, 1])) for frame in frames]
    stamps = [0, 40_000, 90_000, 200_000, 240_000, 280_000, 1_000_000, 1_040_000]

    encode(tmp_path / "out.gif", list(zip(stamps, frames, strict=True)))

    found = decode(tmp_path / "out.gif")
    assert times(found) == stamps
    assert [pattern_index(p.payload.array) for p in found] == list(range(8))
    for before, after in zip(frames, found, strict=True):
        want = before.array if before.array.ndim == 3 else np.dstack([before.array] * 3)
        assert np.abs(want.astype(int) - after.payload.array).mean() < 6


def test_a_gif_keeps_odd_sides_and_plays_after_an_error(tmp_path):
    frames = [*pattern(3, 129, 97), ImageFrame(np.zeros((32, 32, 3), np.uint8))]

    with pytest.raises(GraphRunError, match="has begun with 129x97, but the frame is 32x32"):
        encode(tmp_path / "out.gif", [(40_000 * index, frame) for index, frame in enumerate(frames)])

    assert [p.payload.array.shape for p in decode(tmp_path / "out.gif")] == [(97, 129, 3)] * 3


def test_frames_that_a_gif_cannot_tell_apart_are_an_error(tmp_path):
    with pytest.raises(
        GraphRunError, match=r"out\.gif' cannot be written: a frame at 45000 us has no time of its own"
    ):
        encode(tmp_path / "out.gif", list(zip([0, 40_000, 45_000], pattern(3), strict=True)))

    assert times(decode(tmp_path / "out.gif")) == [0, 40_000]
