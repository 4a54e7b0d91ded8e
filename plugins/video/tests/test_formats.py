"""The formats and times of VideoDecoderCalculator: what is kept, converted, moved, dropped and told."""

from __future__ import annotations

import logging
import shutil
import subprocess
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest

from penstock import CalculatorGraph
from penstock_formats import ImageFormat
from penstock_testing import run_calculator, testing_registry
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions as Options
from penstock_video.pixel_formats import FrameFormat
from penstock_video.timeline import Timeline

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(38)
FORMATS = ("SRGB", "SRGBA", "GRAY8", "GRAY16", "SRGB48", "SRGBA64")


def film(path: Path, pictures, pixel_format: str, given: str = "", codec: str = "ffv1", **parts) -> Path:
    """Write pictures as a video; `first`: the tick of the first frame, 1/25 s each."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pixel_format
        for index, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format=given or pixel_format)
            frame.pts, frame.time_base = index, Fraction(1, 25)
            for packet in stream.encode(frame):
                container.mux(moved(packet, **parts))
        for packet in stream.encode(None):
            container.mux(moved(packet, **parts))
    return path


def moved(packet: av.Packet, first: int = 0, time_base: Fraction = Fraction(1, 25)) -> av.Packet:
    """Move a packet by `first` ticks of its time base, which becomes `time_base`."""
    if first:
        factor = Fraction(1, 25) / time_base
        packet.pts, packet.dts = (int(tick * factor) + first for tick in (packet.pts, packet.dts))
        packet.time_base = time_base
    return packet


def grey(levels, size=(32, 16)) -> list[np.ndarray]:
    return [np.full((size[1], size[0], 3), level, np.uint8) for level in levels]


def decode(path, **options):
    return run_calculator(
        VideoDecoderCalculator,
        outputs=["VIDEO"],
        options=Options(**options),
        side_packets={} if path is None else {"INPUT_FILE_PATH": str(path)},
    )


def frames(run):
    return [packet.payload for packet in run.outputs["VIDEO"]]


def times(run) -> list[int]:
    return [int(packet.timestamp) // 1000 for packet in run.outputs["VIDEO"]]


def levels(run) -> list[int]:
    return [round(float(frame.array.mean()), -1) for frame in frames(run)]


# --- formats -----------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["ffv1", "png"])
@pytest.mark.parametrize("asked", ["GRAY16", "KEEP"])
def test_depth_in_millimetres_stays_exact(tmp_path, codec, asked, caplog):
    depth = [RNG.integers(0, 65536, (17, 33), np.uint16) for _ in range(3)]
    depth[0][0, :3] = (0, 1, 65535)
    name, kind = {"ffv1": ("d.mkv", "gray16le"), "png": ("d.mov", "gray16be")}[codec]
    film(tmp_path / name, depth, kind, codec=codec)

    with caplog.at_level(logging.INFO, "penstock.video"):
        run = decode(tmp_path / name, format=asked)

    assert run.headers["VIDEO"].format is ImageFormat.GRAY16
    for frame, expected in zip(frames(run), depth, strict=True):
        assert frame.format is ImageFormat.GRAY16
        assert np.array_equal(frame.array, expected)
        assert not frame.array.flags.writeable
    assert ("gray16be, and become GRAY16" in caplog.text) == (codec == "png")


def test_png_of_16_bits_in_mkv_is_exact(tmp_path):
    """libav's own program writes such files; PyAV refuses PNG in mkv."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("no program ffmpeg, which makes the file")
    depth = [RNG.integers(0, 65536, (17, 33), np.uint16)]
    film(tmp_path / "d.mkv", depth, "gray16le")
    command = ["ffmpeg", "-v", "error", "-i", "d.mkv", "-c:v", "png", "-pix_fmt", "gray16be", "png.mkv"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)

    (frame,) = frames(decode(tmp_path / "png.mkv", format="KEEP"))

    assert frame.format is ImageFormat.GRAY16
    assert np.array_equal(frame.array, depth[0])


NEAREST = [
    ("gray", "", "GRAY8"),
    ("bgr0", "rgb24", "SRGB"),
    ("bgra", "rgba", "SRGBA"),
    ("rgb48le", "", "SRGB48"),
    ("rgba64le", "", "SRGBA64"),
    ("yuv420p", "rgb24", "SRGB"),
    ("yuv420p10le", "rgb24", "SRGB48"),
    ("yuva420p", "rgba", "SRGBA"),
    ("gray10le", "gray", "GRAY16"),
]


@pytest.mark.parametrize(("pixel_format", "given", "kept"), NEAREST)
def test_the_nearest_format_is_kept(tmp_path, pixel_format, given, kept):
    form = ImageFormat[kept]
    kind = given or pixel_format
    dtype = np.uint16 if "16" in kind or "48" in kind or "64" in kind else np.uint8
    channels = {"gray": 1, "rgb24": 3, "rgba": 4, "rgb48le": 3, "rgba64le": 4}[kind]
    shape = (16, 32) if channels == 1 else (16, 32, channels)
    picture = np.full(shape, 64, dtype) if given else RNG.integers(0, np.iinfo(dtype).max + 1, shape, dtype)
    film(tmp_path / "f.mkv", [picture], pixel_format, given)

    run = decode(tmp_path / "f.mkv", format="KEEP")

    (frame,) = frames(run)
    assert frame.format is form
    assert run.headers["VIDEO"].format is form
    if not given:
        assert np.array_equal(frame.array, picture)


def test_a_palette_is_kept_as_its_colours():
    palette = np.zeros((256, 4), np.uint8)
    palette[1] = (200, 10, 20, 30)  # alpha, red, green, blue
    frame = av.VideoFrame.from_ndarray((np.ones((16, 16), np.uint8), palette), format="pal8")

    picture = FrameFormat(None, "film").picture(frame)

    assert picture.shape == (16, 16, 4)
    assert (picture == (10, 20, 30, 200)).all()


@pytest.mark.parametrize("asked", FORMATS)
@pytest.mark.parametrize("source", ["gray", "bgr0", "yuv420p"])
def test_white_black_and_grey_are_the_same_in_every_format(tmp_path, asked, source):
    pictures = grey([0, 64, 255])
    given = "rgb24" if source != "gray" else ""
    film(
        tmp_path / "f.mkv", [one[..., 0] for one in pictures] if source == "gray" else pictures, source, given
    )

    found = frames(decode(tmp_path / "f.mkv", format=asked))

    step = 257 if asked in {"GRAY16", "SRGB48", "SRGBA64"} else 1
    for frame, level in zip(found, (0, 64, 255), strict=True):
        assert frame.format is ImageFormat[asked]
        colours = frame.array[..., :3] if frame.format.channels == 4 else frame.array
        assert np.abs(colours.astype(int) - level * step).max() <= step
        if frame.format.channels == 4:
            assert (frame.array[..., 3] == 255 * step).all()


def test_the_test_pattern_comes_in_the_format_that_is_asked():
    pattern = {"width": 32, "height": 32, "frames": 2}
    plain, gray = (
        frames(decode(None, test_pattern=Options.TestPattern(**pattern), format=asked))
        for asked in ("KEEP", "GRAY8")
    )

    assert [frame.format for frame in plain] == [ImageFormat.SRGB] * 2
    expected = plain[1].array @ np.array([0.299, 0.587, 0.114])
    assert np.abs(gray[1].array - expected).max() < 2


def test_a_conversion_is_said_once_and_warned_of_where_depth_loses_bits(tmp_path, caplog):
    film(tmp_path / "c.mkv", grey([0, 10, 20]), "bgr0", "rgb24")
    film(tmp_path / "d.mkv", [np.zeros((16, 32), np.uint16)] * 3, "gray16le")

    colours, depth = (f"video file {str(tmp_path / name)!r}" for name in ("c.mkv", "d.mkv"))
    with caplog.at_level(logging.INFO, "penstock.video"):
        decode(tmp_path / "c.mkv")
        decode(tmp_path / "d.mkv")
        decode(tmp_path / "d.mkv", format="GRAY16")

    assert [(one.levelname, one.message) for one in caplog.records] == [
        ("INFO", f"{colours}: frames are bgr0, and become SRGB"),
        ("WARNING", f"{depth}: frames are gray16le, and become SRGB; format: GRAY16 keeps them"),
    ]


# --- times -------------------------------------------------------------------------------------


@pytest.fixture
def joined(tmp_path) -> Path:
    """Return two recordings in one file: ten frames of 32x16, then five of 48x32, whose times start again."""
    film(tmp_path / "1.ts", grey(range(0, 100, 10)), "yuv420p", "rgb24", codec="libx264")
    film(tmp_path / "2.ts", grey(range(100, 150, 10), (48, 32)), "yuv420p", "rgb24", codec="libx264")
    path = tmp_path / "joined.ts"
    path.write_bytes((tmp_path / "1.ts").read_bytes() + (tmp_path / "2.ts").read_bytes())
    return path


def test_where_times_start_again_they_go_on_if_that_is_asked(joined, caplog):
    with caplog.at_level(logging.INFO, "penstock.video"):
        run = decode(joined, restart="CONTINUE")

    begin = times(run)[0]
    assert times(run) == [begin + 40 * number for number in range(15)]
    assert levels(run) == list(range(0, 150, 10))
    assert [(frame.width, frame.height) for frame in frames(run)] == [(32, 16)] * 10 + [(48, 32)] * 5
    assert (run.headers["VIDEO"].width, run.headers["VIDEO"].height) == (32, 16)
    assert caplog.text.count(f"frames are 48x32 from {(begin + 400) * 1000} us on, and were 32x16; each") == 1
    assert "times started again 1 times, and went on" in caplog.text


GRAPH = """
node { calculator: "VideoDecoderCalculator" name: "reads" input_side_packet: "INPUT_FILE_PATH:path"
       output_stream: "VIDEO:frame"
       options { [penstock.VideoDecoderCalculatorOptions.ext] { decoder_threads: 1 } } }
"""


def ledger_of(path):
    graph = CalculatorGraph(GRAPH, registry=testing_registry(VideoDecoderCalculator))
    seen = []
    graph.observe_output_stream("frame", lambda _, packet: seen.append(int(packet.timestamp) // 1000))
    graph.run({"path": str(path)})
    ledger = graph.ledger()
    assert ledger.adds_up
    return seen, [(drop.stream, drop.place, drop.reason, drop.count) for drop in ledger.drops]


def test_without_it_they_are_dropped_and_the_ledger_says_why(joined, caplog):
    seen, drops = ledger_of(joined)

    assert len(seen) == 10
    assert drops == [("frame", "node 'reads'", "not later than the frame before", 5)]
    assert "dropped 5 frames not later than the one before and 0 packets" in caplog.text


def test_packets_that_cannot_be_decoded_are_in_the_ledger(tmp_path):
    path = tmp_path / "holes.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=25)
        stream.width, stream.height, stream.pix_fmt = 8, 8, "rgb24"
        for index in range(6):
            frame = av.VideoFrame.from_ndarray(np.full((8, 8, 3), index, np.uint8), format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, 25)
            for packet in stream.encode(frame):
                bad = av.Packet(b"no picture at all" * 5)
                bad.pts = bad.dts = packet.pts
                bad.time_base, bad.stream = packet.time_base, packet.stream
                container.mux(bad if index in {2, 5} else packet)

    seen, drops = ledger_of(path)

    assert seen == [0, 40, 120, 160]
    assert drops == [("frame", "node 'reads'", "cannot be decoded", 2)]


def test_times_of_mpeg_ts_go_on_where_they_wrap(tmp_path):
    ticks = Fraction(1, 90000)
    path = film(
        tmp_path / "wrap.ts", grey(range(0, 200, 10)), "yuv420p", "rgb24", "mpeg2video",
        first=2**33 - 30_000, time_base=ticks,
    )  # fmt: skip

    run = decode(path)

    begin = times(run)[0]
    assert begin < 0 < times(run)[-1]
    assert np.abs(np.diff(times(run)) - 40).max() <= 1
    assert levels(run) == list(range(0, 200, 10))


def test_an_edit_list_says_which_frames_there_are(tmp_path):
    path = film(
        tmp_path / "cut.mp4", grey(range(0, 200, 10)), "yuv420p", "rgb24", "libx264",
        first=-8 * 512, time_base=Fraction(1, 12800),
    )  # fmt: skip
    run = decode(path)

    assert times(run) == list(range(0, 480, 40))
    assert levels(run) == list(range(80, 200, 10))


def test_a_variable_rate_keeps_its_times_where_times_go_on(clip):
    path = clip(ticks=(0, 1, 3, 4, 9), time_base=Fraction(1, 25))

    assert times(decode(path, restart="CONTINUE")) == [0, 40, 120, 160, 360]


def stamps(*pts: int | None, time_base=Fraction(1, 1000), **given) -> list[int | None]:
    timeline = Timeline(40_000, **given)
    return [timeline.time_of(SimpleNamespace(pts=one, time_base=time_base)) for one in pts]


def test_each_new_part_follows_one_period_after_the_one_before():
    assert stamps(0, 40, 100, 0, 40, 500, 7, 47, goes_on=True) == [
        0, 40_000, 100_000, 140_000, 180_000, 640_000, 680_000, 720_000,
    ]  # fmt: skip


def test_a_step_back_by_less_than_a_period_is_no_new_part():
    for goes_on in (False, True):
        assert stamps(0, 40, 40, 20, 80, goes_on=goes_on) == [0, 40_000, None, None, 80_000]


def test_without_going_on_a_new_part_is_late_until_it_is_later():
    assert stamps(0, 40, 80, 0, 40, 80, 120) == [0, 40_000, 80_000, None, None, None, 120_000]


def test_frames_without_a_time_follow_those_before():
    assert stamps(None, None, 200, None, 0, None, goes_on=True) == [
        0, 40_000, 200_000, 240_000, 280_000, 320_000,
    ]  # fmt: skip


def test_a_second_wrap_is_no_step_back():
    ticks = Fraction(1, 90000)
    first = 2**34 - 3600
    found = stamps(first, 2**33, 2**33 + 3600, time_base=ticks, wraps=True)

    assert found == [round(Fraction(first + n * 3600, 90000) * 1_000_000) for n in range(3)]
    assert stamps(first, 2**33, time_base=ticks)[1] is None
    # A file that begins again is no wrap, however long it was.
    assert stamps(first, 0, time_base=ticks, wraps=True)[1] is None
