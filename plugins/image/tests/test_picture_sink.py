"""PictureSinkCalculator: names, formats and bytes of the pictures, and what is refused."""

from __future__ import annotations

import errno
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from penstock import CalculatorGraph, Packet
from penstock.access import Access
from penstock.errors import AlreadyExistsError, GraphRunError, ResourceExhaustedError
from penstock_formats import ImageFormat, ImageFrame
from penstock_image.pictures.picture_encoding import HOLDS
from penstock_image.pictures.picture_sink import PictureSinkCalculator
from penstock_image.pictures.picture_sink import PictureSinkCalculatorOptions as Options
from penstock_image.pictures.picture_source import (
    PictureFormat,
    PictureSourceCalculator,
    PictureSourceCalculatorOptions,
)
from penstock_testing import run_calculator, testing_registry

RNG = np.random.default_rng(38)


def picture(kind=ImageFormat.SRGB, size=(6, 4)) -> ImageFrame:
    """Return a frame of random pixels."""
    dtype = np.uint16 if kind.name.endswith(("16", "48", "64")) else np.uint8
    shape = (size[1], size[0]) if kind.channels == 1 else (size[1], size[0], kind.channels)
    return ImageFrame(RNG.integers(0, np.iinfo(dtype).max + 1, shape, dtype), kind)


def write(path, frames, names=None, times=None, **options):
    """Write frames at 0, 10, 20, ..."""
    inputs = {"VIDEO": [(10 * i, frame) for i, frame in enumerate(frames)]}
    if names is not None:
        inputs["NAME"] = [(10 * i, name) for i, name in enumerate(names)]
    sides = {"OUTPUT_FILE_PATH": path} | ({} if times is None else {"TIMES_FILE_PATH": times})
    run_calculator(PictureSinkCalculator, inputs, options=Options(**options), side_packets=sides)


def read(path, **options):
    """Return the frames of pictures as they are, by name, with their timestamps."""
    run = run_calculator(
        PictureSourceCalculator,
        outputs=["VIDEO", "NAME"],
        options=PictureSourceCalculatorOptions(format=PictureFormat.KEEP),
        side_packets={"INPUT_FILE_PATH": path, **options},
    )
    return [
        (name.payload, int(frame.timestamp), frame.payload)
        for name, frame in zip(run.outputs["NAME"], run.outputs["VIDEO"], strict=True)
    ]


def there(folder: Path) -> list[str]:
    """Return the names of all files in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


# --- bytes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "kind"),
    [(ending, kind) for ending, kinds in HOLDS.items() for kind in kinds if ending[:3] != ".jp"],
)
def test_every_format_that_a_kind_of_file_holds_comes_back(tmp_path, ending, kind):
    frame = picture(kind)
    path = tmp_path / f"p{ending}"

    write(path, [frame])

    ((_, _, back),) = read(path)
    assert back.format is kind
    if ending != ".webp":
        assert np.array_equal(back.array, frame.array)


@pytest.mark.parametrize("kind", HOLDS[".jpg"])
def test_a_jpeg_has_the_quality_that_is_asked(tmp_path, kind):
    smooth = cv2.resize(picture(kind).array, (96, 64), interpolation=cv2.INTER_CUBIC)
    frame = ImageFrame(smooth, kind)

    write(tmp_path / "good.jpg", [frame])
    write(tmp_path / "bad.JPG", [frame], quality=5)

    good, bad = (tmp_path / "good.jpg").stat().st_size, (tmp_path / "bad.JPG").stat().st_size
    assert bad < good / 2
    ((_, _, back),) = read(tmp_path / "good.jpg")
    assert back.format is kind
    assert np.abs(back.array.astype(int) - smooth).mean() < 4
    with Image.open(tmp_path / "bad.JPG") as image:
        assert image.format == "JPEG"


def test_png_compression_changes_the_size_and_no_pixel(tmp_path):
    frame = ImageFrame(np.tile(np.arange(256, dtype=np.uint8), (256, 1)))

    write(tmp_path / "fast.png", [frame], compression=0)
    write(tmp_path / "small.png", [frame], compression=9)

    assert (tmp_path / "small.png").stat().st_size < (tmp_path / "fast.png").stat().st_size / 10
    assert np.array_equal(read(tmp_path / "fast.png")[0][2].array, read(tmp_path / "small.png")[0][2].array)


# --- names -------------------------------------------------------------------------------------


def test_a_pattern_numbers_its_pictures(tmp_path):
    frames = [picture() for _ in range(3)]

    write(tmp_path / "img_%03d.png", frames, first_number=9)

    assert there(tmp_path) == ["img_009.png", "img_010.png", "img_011.png"]
    for (_, _, back), frame in zip(read(tmp_path / "img_%03d.png"), frames, strict=True):
        assert np.array_equal(back.array, frame.array)


def test_a_folder_is_made_and_its_pictures_are_numbered(tmp_path):
    write(f"{tmp_path}/new/", [picture(), picture()])
    write(tmp_path / "new", [picture()], ending=".jpg", first_number=7)

    assert there(tmp_path / "new") == ["000000.png", "000001.png", "000007.jpg"]


def test_in_a_folder_pictures_keep_their_names_or_get_another_ending(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    write(tmp_path / "a", [picture(), picture()], ["x.jpg", "y.TIFF"])
    write(tmp_path / "b", [picture(), picture()], ["x.jpg", "y.gif"], ending=".png")

    assert there(tmp_path / "a") == ["x.jpg", "y.TIFF"]
    assert there(tmp_path / "b") == ["x.png", "y.png"]


@pytest.mark.parametrize("name", ["", "../x.png", "a/x.png", "a\\x.png", ".x.png", "..", "x\0.png"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path, name):
    (tmp_path / "a").mkdir()

    with pytest.raises(
        GraphRunError, match=r"the picture sink gets the name .* at 0 on .*, but needs that of a file"
    ):
        write(tmp_path / "a", [picture()], [name])
    assert there(tmp_path) == ["a"]


def test_a_name_with_an_ending_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(GraphRunError, match=r"x\.gif' cannot be encoded: its ending is '\.gif', but must be"):
        write(tmp_path, [picture()], ["x.gif"])


def test_one_name_for_two_frames_is_refused(tmp_path):
    with pytest.raises(GraphRunError, match=r"x\.png' has the frame at 0, and the frame at 10 would"):
        write(tmp_path, [picture(), picture()], ["x.png", "x.jpg"], ending=".png")


def test_a_file_holds_one_picture(tmp_path):
    frame = picture()

    with pytest.raises(GraphRunError, match=r"the frame at 10 would replace it; name a pattern such as"):
        write(tmp_path / "one.png", [frame, picture()])
    assert np.array_equal(read(tmp_path / "one.png")[0][2].array, frame.array)


def test_a_table_gives_the_timestamps_back(tmp_path):
    write(f"{tmp_path}/p/", [picture(), picture(), picture()], times=tmp_path / "t.csv")

    assert (tmp_path / "t.csv").read_text().splitlines() == [
        "name,time_us", "000000.png,0", "000001.png,10", "000002.png,20",
    ]  # fmt: skip
    found = read(tmp_path / "p", TIMES_FILE_PATH=tmp_path / "t.csv")
    assert [(name, time) for name, time, _ in found] == [
        ("000000.png", 0), ("000001.png", 10), ("000002.png", 20),
    ]  # fmt: skip


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("p.txt", r"its ending is '\.txt', but must be one of \.png, "),
        ("p", r"its ending is '', but must be one of .*; a path that ends with '/' is a folder"),
        ("no/p.png", r"there is no folder '.*no'; make it first"),
        ("no/no/", r"folder '.*no/no' cannot be made: No such file or directory"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_a_frame_comes(tmp_path, name, said):
    with pytest.raises(GraphRunError, match=rf"open\(\) failed: .*{said}"):
        write(f"{tmp_path}/{name}", [])
    assert there(tmp_path) == []


def test_names_need_a_folder(tmp_path):
    with pytest.raises(GraphRunError, match=r"NAME is connected, but names have a place in a folder only"):
        write(tmp_path / "p.png", [], [])


@pytest.mark.parametrize(
    ("ending", "kind", "said"),
    [
        (
            ".jpg",
            ImageFormat.GRAY16,
            r"\.jpg holds GRAY8, SRGB; put a ColorMapCalculator before, or end the path",
        ),
        (".jpg", ImageFormat.SRGBA, r"put a ColorConvertCalculator before, or end the path with \.png"),
        (".bmp", ImageFormat.SRGB48, r"\.bmp holds GRAY8, SRGB; put"),
    ],
)
def test_a_frame_that_the_file_cannot_hold_is_refused(tmp_path, ending, kind, said):
    with pytest.raises(GraphRunError, match=said):
        write(tmp_path / f"p{ending}", [picture(kind)])
    assert there(tmp_path) == []


def test_numbers_that_are_no_colours_are_refused_by_png_too(tmp_path):
    frame = ImageFrame(np.zeros((4, 4), np.float32))

    with pytest.raises(GraphRunError, match=r"SRGB48.*; put a ColorMapCalculator before$"):
        write(tmp_path / "p.png", [frame])


def test_a_picture_too_long_for_a_jpeg_is_refused(tmp_path):
    frame = ImageFrame(np.zeros((1, 65501), np.uint8))

    with pytest.raises(GraphRunError, match=r"\.jpg has at most 65500 pixels on a side"):
        write(tmp_path / "p.jpg", [frame])


def graph(path, access=None) -> CalculatorGraph:
    made = CalculatorGraph(
        """
        input_stream: "frame"
        node { calculator: "PictureSinkCalculator" input_stream: "VIDEO:frame"
               input_side_packet: "OUTPUT_FILE_PATH:path" }
        """,
        registry=testing_registry(PictureSinkCalculator),
        access=access,
    )
    made.start_run({"path": str(path)})
    return made


def feed(made, count=1) -> None:
    for time in range(count):
        made.add_packet_to_input_stream("frame", Packet(picture(), time))
    made.close(20)


@pytest.mark.parametrize("name", ["000000.png", "p.png"])
def test_a_picture_that_exists_is_replaced_only_where_it_may_be(tmp_path, name):
    (tmp_path / name).write_bytes(b"old")
    target = tmp_path if name[0] == "0" else tmp_path / name

    with pytest.raises(GraphRunError) as failed:
        feed(graph(target, Access(overwrites=False)))
    assert isinstance(failed.value.errors[0].__cause__, AlreadyExistsError)
    assert f"{name}' exists; name another one, or allow that it is replaced: --force" in str(failed.value)
    assert (tmp_path / name).read_bytes() == b"old"

    feed(graph(target))
    assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
    assert there(tmp_path) == [name]


def test_a_reader_of_a_picture_that_is_replaced_has_all_of_the_old_one(tmp_path):
    path = tmp_path / "p.png"
    path.write_bytes(b"old")

    with path.open("rb") as reader:
        feed(graph(path))
        assert reader.read() == b"old"
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_a_limited_graph_writes_below_its_folders_only(tmp_path):
    (tmp_path / "in").mkdir()
    access = Access(writes=[tmp_path / "in"])

    feed(graph(tmp_path / "in" / "p.png", access))
    feed(graph(f"{tmp_path / 'in' / 'sub'}/", access))
    for path in (tmp_path / "p.png", f"{tmp_path}/sub/", tmp_path):
        with pytest.raises(GraphRunError, match="this graph may not write"):
            feed(graph(path, access))
    assert there(tmp_path) == ["in"]


def test_a_full_disk_names_the_picture_and_leaves_nothing_of_it(tmp_path, monkeypatch):
    def full(self, data):
        Path.open(self, "wb").close()
        raise OSError(errno.ENOSPC, "No space left on device")

    made = graph(tmp_path / "%d.png")
    made.add_packet_to_input_stream("frame", Packet(picture(), 0))
    made.wait_until_idle(20)
    monkeypatch.setattr(Path, "write_bytes", full)

    made.add_packet_to_input_stream("frame", Packet(picture(), 1))
    with pytest.raises(GraphRunError) as failed:
        made.close(20)
    assert isinstance(failed.value.errors[0].__cause__, ResourceExhaustedError)
    assert "1.png' cannot be written as a picture: No space left on device; make room on the disk" in str(
        failed.value
    )
    assert there(tmp_path) == ["0.png"]


def test_a_run_without_frames_says_so(tmp_path, caplog):
    feed(graph(tmp_path / "p.png"), 0)

    assert "no frame came, so no picture was written" in caplog.text
    assert there(tmp_path) == []
