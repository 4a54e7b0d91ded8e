"""PictureSourceCalculator: which pictures a path names, their pixels, their times, and what is refused."""

from __future__ import annotations

import logging
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import CalculatorGraph, Timestamp
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame
from penstock_image.pictures.picture_paths import natural, numbered
from penstock_image.pictures.picture_source import (
    BrokenPicture,
    PictureFormat,
    PictureSourceCalculator,
    PictureTimes,
)
from penstock_image.pictures.picture_source import PictureSourceCalculatorOptions as Options
from penstock_testing import run_calculator, testing_registry

COLOUR = np.arange(6 * 4 * 3, dtype=np.uint8).reshape(6, 4, 3)
RNG = np.random.default_rng(38)


def read(path, outputs=("VIDEO", "NAME"), times=None, **options):
    sides = {"INPUT_FILE_PATH": path} | ({} if times is None else {"TIMES_FILE_PATH": times})
    return run_calculator(
        PictureSourceCalculator, outputs=list(outputs), options=Options(**options), side_packets=sides
    )


def names(run) -> list[str]:
    return [packet.payload for packet in run.outputs["NAME"]]


def times(run) -> list[int]:
    return [int(packet.timestamp) for packet in run.outputs["VIDEO"]]


def frames(run) -> list[ImageFrame]:
    return [packet.payload for packet in run.outputs["VIDEO"]]


def write(path: Path, level: int = 0, size=(4, 6)) -> Path:
    assert cv2.imwrite(str(path), np.full((size[1], size[0], 3), level, np.uint8))
    return path


#: Tags of EXIF.
TAGS = {"taken": 0x9003, "subsec": 0x9291, "offset": 0x9011}


def photo(path: Path, pixels=COLOUR, orientation=None, **tags) -> Path:
    """Write a picture with EXIF data, by Pillow: taken, subsec, offset."""
    exif = Image.Exif()
    if orientation is not None:
        exif[0x0112] = orientation
    if tags:
        exif[0x8769] = {TAGS[name]: value for name, value in tags.items()}
    Image.fromarray(pixels).save(path, exif=exif, quality=95)
    return path


# --- which pictures -----------------------------------------------------------------------------


def test_a_folder_comes_in_natural_order_with_the_names_of_its_files(tmp_path):
    for level, name in enumerate(["shot 10.png", "shot 9.png", "Shot 1.PNG", ".hidden.png"]):
        write(tmp_path / name, level)
    (tmp_path / "notes.md").write_text("no picture")

    run = read(tmp_path)

    assert names(run) == ["Shot 1.PNG", "shot 9.png", "shot 10.png"]
    assert [int(frame.array[0, 0, 0]) for frame in frames(run)] == [2, 1, 0]
    assert times(run) == [0, 40_000, 80_000]


def test_natural_order_counts_and_does_not_mind_case():
    unsorted = ["b2", "a10", "B1", "a9", "a", "10", "9"]

    assert sorted(unsorted, key=natural) == ["9", "10", "a", "a9", "a10", "B1", "b2"]


def test_a_pattern_comes_in_the_order_of_its_numbers_and_missing_ones_are_said(tmp_path, caplog):
    for number in (0, 1, 4, 5, 10, 11, 12, 13, 14, 15, 16, 17):
        write(tmp_path / f"img_{number:04d}.png", number)
    write(tmp_path / "img_3.png")
    write(tmp_path / "img_00007.png")
    write(tmp_path / "other_0002.png")

    run = read(str(tmp_path / "img_%04d.png"))

    assert [int(frame.array[0, 0, 0]) for frame in frames(run)] == [0, 1, 4, 5, *range(10, 18)]
    assert times(run)[:3] == [0, 40_000, 80_000]
    assert "missing are 2, 3, 6, 7, 8 and 1 more" in caplog.text


@pytest.mark.parametrize(
    ("pattern", "number", "name"),
    [
        ("img_%04d.png", 12, "img_0012.png"), ("%d.png", 7, "7.png"), ("%3d", 7, "  7"),
        ("100%%_%d.png", 3, "100%_3.png"), ("%02d", 123, "123"),
    ],
)  # fmt: skip
def test_a_pattern_writes_its_number(pattern, number, name):
    assert numbered(pattern, number) == name


def test_a_pattern_with_a_per_cent_sign_of_its_own(tmp_path):
    write(tmp_path / "100%_3.png")

    assert names(read(tmp_path / "100%%_%d.png")) == ["100%_3.png"]


def test_wildcards_choose_files(tmp_path):
    for name in ("a1.png", "a10.png", "a2.png", "b1.png"):
        write(tmp_path / name)

    assert names(read(str(tmp_path / "a*.png"))) == ["a1.png", "a2.png", "a10.png"]
    assert names(read(str(tmp_path / "?1.png"))) == ["a1.png", "b1.png"]


def test_a_list_names_pictures_from_its_own_folder_on(tmp_path):
    (tmp_path / "sub").mkdir()
    first, second = write(tmp_path / "sub" / "x.png", 1), write(tmp_path / "y.png", 2)
    (tmp_path / "all.txt").write_text(f"# the shots\n\n{second}\nsub/{first.name}\n", encoding="utf-8")

    assert names(read(tmp_path / "all.txt")) == ["y.png", "x.png"]


def test_one_picture_is_one_frame_with_its_header(tmp_path):
    run = read(write(tmp_path / "one.png", size=(7, 5)), outputs=("VIDEO", "VIDEO_PRESTREAM"), fps=2)

    assert times(run) == [0]
    header = run.headers["VIDEO"]
    assert (header.format, header.width, header.height) == (ImageFormat.SRGB, 7, 5)
    assert (header.frame_rate, header.duration_s) == (2, 0.5)
    (packet,) = run.outputs["VIDEO_PRESTREAM"]
    assert (packet.timestamp, packet.payload) == (Timestamp.PRESTREAM, header)


# --- pixels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "shape", "dtype"),
    [
        ("GRAY8", (6, 4), np.uint8), ("GRAY16", (6, 4), np.uint16), ("SRGB", (6, 4, 3), np.uint8),
        ("SRGB48", (6, 4, 3), np.uint16), ("SRGBA", (6, 4, 4), np.uint8), ("SRGBA64", (6, 4, 4), np.uint16),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".png", ".tif"])
def test_formats_are_kept_exactly(tmp_path, kind, shape, dtype, ending):
    pixels = RNG.integers(0, np.iinfo(dtype).max + 1, shape, dtype)
    order = {3: [2, 1, 0], 4: [2, 1, 0, 3]}.get(pixels.shape[-1] if pixels.ndim == 3 else 1)
    assert cv2.imwrite(str(tmp_path / f"p{ending}"), pixels if order is None else pixels[..., order])

    (kept,) = frames(read(tmp_path / f"p{ending}", format=PictureFormat.KEEP))
    (asked,) = frames(read(tmp_path / f"p{ending}", format=PictureFormat[kind]))

    assert kept.format is asked.format is ImageFormat[kind]
    assert np.array_equal(kept.array, pixels)
    assert np.array_equal(asked.array, pixels)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("SRGB", [[0, 0, 0], [1, 1, 1], [255, 255, 255]]),
        ("SRGBA", [[0, 0, 0, 255], [1, 1, 1, 255], [255, 255, 255, 255]]),
        ("GRAY8", [0, 1, 255]),
        ("SRGB48", [[128, 128, 128], [129, 129, 129], [65535, 65535, 65535]]),
    ],
)
def test_sixteen_bits_of_grey_become_what_is_asked(tmp_path, wanted, expected, caplog):
    cv2.imwrite(str(tmp_path / "d.png"), np.array([[128, 129, 65535]], np.uint16))

    (frame,) = frames(read(tmp_path / "d.png", format=PictureFormat[wanted]))

    assert frame.format is ImageFormat[wanted]
    assert frame.array[0].tolist() == expected
    assert ("without 8 of 16 bits" in caplog.text) == (wanted != "SRGB48")


def test_eight_bits_become_sixteen_and_alpha_is_left_out(tmp_path, caplog):
    Image.fromarray(np.array([[[1, 2, 255, 7]]], np.uint8), "RGBA").save(tmp_path / "a.png")

    (wide,) = frames(read(tmp_path / "a.png", format=PictureFormat.SRGBA64))
    assert wide.array.tolist() == [[[257, 514, 65535, 1799]]]
    assert "without" not in caplog.text
    (plain,) = frames(read(tmp_path / "a.png"))
    assert plain.array.tolist() == [[[1, 2, 255]]]
    assert "SRGBA pictures, such as" in caplog.text
    assert "become SRGB, without alpha" in caplog.text


def test_palettes_single_bits_and_cmyk_are_read(tmp_path):
    image = Image.fromarray(np.kron([[0, 255], [255, 0]], np.ones((8, 8))).astype(np.uint8))
    image.convert("1").save(tmp_path / "1.png")
    image.convert("P").save(tmp_path / "2.png")
    image.convert("CMYK").save(tmp_path / "3.jpg")

    run = read(tmp_path, format=PictureFormat.GRAY8)

    for frame in frames(run):
        assert np.abs(frame.array.astype(int) - np.asarray(image)).max() <= 2


def test_what_is_converted_is_said_once(tmp_path, caplog):
    for number in range(4):
        Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / f"{number}.png")

    with caplog.at_level(logging.INFO, "penstock.image"):
        read(tmp_path)

    assert [one.message for one in caplog.records] == [
        f"GRAY8 pictures, such as {str(tmp_path / '0.png')!r}, become SRGB"
    ]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("ending", [".jpg", ".png", ".webp"])
def test_exif_orientation_is_followed_mirrored_ones_too(tmp_path, orientation, ending):
    pixels = np.zeros((16, 24, 3), np.uint8)
    pixels[:8, :8] = 255
    pixels[8:, 16:] = (255, 0, 0)
    path = photo(tmp_path / f"p{ending}", pixels, orientation)
    from PIL import ImageOps

    upright = np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))

    (frame,) = frames(read(path))
    (raw,) = frames(read(path, follows_exif=False))

    assert frame.array.shape == upright.shape
    assert np.abs(frame.array.astype(int) - upright).max() <= 12
    assert raw.array.shape == pixels.shape
    assert np.array_equal(raw.array, frame.array) == (orientation == 1)


def test_a_turned_tiff_is_turned_once(tmp_path):
    pixels = np.zeros((16, 24, 3), np.uint8)
    pixels[:8, :8] = 255
    Image.fromarray(pixels).save(tmp_path / "p.tif", tiffinfo={274: 6})

    (frame,) = frames(read(tmp_path / "p.tif"))

    assert frame.array.shape == (24, 16, 3)
    assert (frame.array[:8, 8:] == 255).all()


def test_each_frame_has_its_own_size_which_is_said_once(tmp_path, caplog):
    for number, size in enumerate([(4, 6), (8, 2), (3, 3)]):
        write(tmp_path / f"{number}.png", size=size)

    with caplog.at_level(logging.INFO, "penstock.image"):
        run = read(tmp_path)

    assert [(frame.width, frame.height) for frame in frames(run)] == [(4, 6), (8, 2), (3, 3)]
    assert (run.headers["VIDEO"].width, run.headers["VIDEO"].height) == (4, 6)
    assert caplog.text.count("but the first one is 4x6; each frame has its own size") == 1


def test_another_size_can_be_refused(tmp_path):
    write(tmp_path / "0.png", size=(4, 6))
    write(tmp_path / "1.png", size=(8, 2))

    with pytest.raises(GraphRunError, match=r"1\.png' is 8x2, but the first one is 4x6; scale the"):
        read(tmp_path, same_size=True)


# --- times -------------------------------------------------------------------------------------


def test_times_come_by_rate_without_adding_errors_up(tmp_path):
    for number in range(4):
        write(tmp_path / f"{number}.png")

    assert times(read(tmp_path, fps=30)) == [0, 33_333, 66_667, 100_000]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("name,time\nb.png,0.5\na.png,1.25\n", [("b.png", 500_000), ("a.png", 1_250_000)]),
        ("b.png, 0.1\r\n\r\na.png,0.2\r\n", [("b.png", 100_000), ("a.png", 200_000)]),
        ("name,time_us\na.png,1700000000000001\n", [("a.png", 1_700_000_000_000_001)]),
        ('"a.png",-3\n', [("a.png", -3_000_000)]),
    ],
)
def test_a_table_gives_order_and_times(tmp_path, table, expected):
    write(tmp_path / "a.png")
    write(tmp_path / "b.png")
    (tmp_path / "t.csv").write_text(table, encoding="utf-8", newline="")

    run = read(tmp_path, times=tmp_path / "t.csv")

    assert list(zip(names(run), times(run), strict=True)) == expected


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("a.png,0\nc.png,1\n", r"t\.csv, line 2: there is no picture 'c\.png' in picture folder"),
        ("a.png,0\nb.png,0\n", r"line 2: picture 'b\.png' is at 0 us, which is not later than .* at 0 us"),
        ("a.png,1\nb.png,0.5\n", r"line 2: picture 'b\.png' is at 500000 us, which is not later"),
        ("a.png,now\n", r"line 1: the picture's time is 'now', but must be a number of seconds"),
        ("a.png,1e400\n", r"line 1: the picture's time is '1e400'"),
        ("a.png,nan\n", r"line 1: the picture's time is 'nan'"),
        ("a.png\n", r"line 1: the row of times has 1 columns, but must have two"),
        ('a.png,0\n"b.png,1\n', r"line 2: unexpected end of data"),
        ("name,time\n", r"t\.csv' has no row"),
        ("a.png,\xff\n", r"t\.csv' is no text in UTF-8"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(tmp_path, table, said):
    write(tmp_path / "a.png")
    write(tmp_path / "b.png")
    (tmp_path / "t.csv").write_bytes(table.encode("latin-1"))

    with pytest.raises(GraphRunError, match=said):
        read(tmp_path, times=tmp_path / "t.csv")


def test_pictures_that_are_not_in_the_table_are_counted_in_the_log(tmp_path, caplog):
    for name in "abc":
        write(tmp_path / f"{name}.png")
    (tmp_path / "t.csv").write_text("b.png,0\n")

    assert names(read(tmp_path, times=tmp_path / "t.csv")) == ["b.png"]
    assert "2 pictures are not in the table" in caplog.text


def test_exif_gives_order_and_times_to_parts_of_a_second(tmp_path):
    photo(tmp_path / "1.jpg", taken="2024:05:06 07:08:09", subsec="5")
    photo(tmp_path / "2.jpg", taken="2024:05:06 07:08:09", subsec="123456")
    photo(tmp_path / "3.jpg", taken="2024:05:06 09:08:09", offset="+02:00")

    run = run_exif(tmp_path)

    second = 1_714_979_289_000_000
    assert list(zip(names(run), times(run), strict=True)) == [
        ("3.jpg", second), ("2.jpg", second + 123_456), ("1.jpg", second + 500_000),
    ]  # fmt: skip


def run_exif(path, **options):
    return run_calculator(
        PictureSourceCalculator,
        outputs=["VIDEO", "NAME"],
        options=Options(times=PictureTimes.EXIF, **options),
        side_packets={"INPUT_FILE_PATH": path},
    )


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({}, "has no time: its EXIF data have no DateTimeOriginal"),
        ({"taken": "yesterday"}, "has no time: time data 'yesterday' does not match"),
        ({"taken": "2024:05:06 07:08:09", "subsec": "half"}, "parts of a second in EXIF are 'half'"),
        ({"taken": "2024:05:06 07:08:08"}, r"it was taken at the same time as .*1\.jpg"),
    ],
)
def test_a_picture_without_a_time_of_its_own_is_refused_or_skipped_and_counted(tmp_path, tags, said, caplog):
    photo(tmp_path / "1.jpg", taken="2024:05:06 07:08:08")
    photo(tmp_path / "2.jpg", **tags)

    with pytest.raises(GraphRunError, match=rf"2\.jpg'.*{said}"):
        run_exif(tmp_path)
    run = run_exif(tmp_path, broken=BrokenPicture.SKIP)

    assert names(run) == ["1.jpg"]
    assert "left out: picture" in caplog.text


def test_times_cannot_come_from_exif_and_a_table(tmp_path):
    with pytest.raises(
        GraphConfigError, match="the picture source has times: EXIF, but TIMES_FILE_PATH is connected too"
    ):
        run_calculator(
            PictureSourceCalculator,
            outputs=["VIDEO"],
            options=Options(times=PictureTimes.EXIF),
            side_packets={"INPUT_FILE_PATH": "x", "TIMES_FILE_PATH": "y"},
        )


# --- what is refused, or skipped -------------------------------------------------------------------


def test_a_missing_path_says_what_can_be_named(tmp_path):
    with pytest.raises(GraphRunError, match=r"no\.png' does not exist; name a picture, a folder, a list"):
        read(tmp_path / "no.png")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no/img_%d.png", r"cannot be read: No such file or directory: .*no'; check the path"),
        ("img_%d.png", r"finds no picture, such as 'img_1\.png'"),
        ("img_%d_%d.png", r"has 2 numbers, but must have one"),
        ("*.bmp", r"picture pattern .* fits no picture in .*; check folder and pattern"),
    ],
)
def test_a_pattern_that_no_file_fits_is_refused(tmp_path, name, said):
    write(tmp_path / "a.png")

    with pytest.raises(GraphRunError, match=said):
        read(str(tmp_path / name))


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(GraphRunError, match=r"folder .* holds no picture, nothing; pictures end with"):
        read(tmp_path)
    (tmp_path / "film.mp4").write_bytes(b"")
    with pytest.raises(GraphRunError, match=r"holds no picture, only 'film\.mp4'"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"# only a comment\n", "is empty"),
        (b"\nno.png\n", r"l\.txt, line 2: there is no picture"),
        (b"\xff", "UTF-8"),
    ],
)
def test_a_bad_list_is_refused_with_its_line(tmp_path, text, said):
    (tmp_path / "l.txt").write_bytes(text)

    with pytest.raises(GraphRunError, match=said):
        read(tmp_path / "l.txt")


def jpeg() -> bytes:
    return cv2.imencode(".jpg", RNG.integers(0, 256, (64, 64, 3), np.uint8))[1].tobytes()


def png() -> bytes:
    return cv2.imencode(".png", RNG.integers(0, 256, (64, 64, 3), np.uint8))[1].tobytes()


BROKEN = [
    ("text.png", b"this is no picture", r"the file begins with b'this is ', which is no picture that OpenCV"),
    ("empty.png", b"", r"the file is empty"),
    ("cut.jpg", jpeg()[:-400], r"the JPEG file is damaged or cut off"),
    ("half.jpg", jpeg()[:900], r"the JPEG file is damaged or cut off"),
    ("cut.png", png()[:-400], r"the PNG file is damaged or cut off"),
]


@pytest.mark.parametrize(("name", "data", "said"), BROKEN)
def test_a_broken_picture_is_named(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(GraphRunError, match=rf"picture '.*{name}': {said}.*; replace or remove the picture"):
        read(tmp_path / name)


def test_a_broken_picture_of_a_list_is_named_with_its_line(tmp_path):
    write(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"no picture")
    (tmp_path / "l.txt").write_text("a.png\nb.png\n")

    with pytest.raises(GraphRunError, match=r"picture '.*b\.png' \(.*l\.txt, line 2\): the file begins"):
        read(tmp_path / "l.txt")


def test_float_pictures_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "f.tiff"), np.zeros((4, 4, 3), np.float32))

    with pytest.raises(GraphRunError, match=r"f\.tiff' has 3 channels of float32, but frames"):
        read(tmp_path)


GRAPH = """
node {
  calculator: "PictureSourceCalculator" name: "shots"
  input_side_packet: "INPUT_FILE_PATH:path" output_stream: "VIDEO:frame" output_stream: "NAME:name"
  node_options { [type.googleapis.com/penstock_image.PictureSourceCalculatorOptions] { %s } }
}
"""


def graph(options="", access=None) -> CalculatorGraph:
    registry = testing_registry(PictureSourceCalculator)
    made = CalculatorGraph(GRAPH % options, registry=registry, access=access)
    made.observe_output_stream("frame", lambda *_: None)
    return made


def test_skipped_pictures_leave_their_time_empty_and_are_counted_in_the_ledger(tmp_path, caplog):
    write(tmp_path / "8.png")
    for number, (name, data, _) in enumerate(BROKEN):
        (tmp_path / f"0{number}{Path(name).suffix}").write_bytes(data)
    write(tmp_path / "9.png")
    seen = []
    made = graph("broken: SKIP")
    made.observe_output_stream("frame", lambda _, packet: seen.append(int(packet.timestamp)))

    made.run({"path": str(tmp_path)})

    ledger = made.ledger()
    assert seen == [5 * 40_000, 6 * 40_000] == [200_000, 240_000]
    assert ledger.adds_up
    assert [(drop.stream, drop.place, drop.reason, drop.count) for drop in ledger.drops] == [
        ("frame", "node 'shots'", "picture cannot be read", 5)
    ]
    assert caplog.text.count("left out: picture") == 5
    assert "00.png': the file begins with" in caplog.text


def test_if_all_are_broken_it_is_an_error_even_where_they_are_skipped(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no")

    with pytest.raises(GraphRunError, match=r"folder .*: not one of 1 pictures can be read; the log names"):
        graph("broken: SKIP").run({"path": str(tmp_path)})


def test_a_limited_graph_reads_below_its_folders_only(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    write(inside / "a.png")
    write(outside / "b.png")
    (inside / "l.txt").write_text(f"a.png\n{outside / 'b.png'}\n")
    (inside / "t.csv").write_text("a.png,0\n")
    (inside / "link.png").symlink_to(outside / "b.png")
    access = Access(reads=[inside])

    for path in (inside / "a.png", inside / "a*.png"):
        graph(access=access).run({"path": str(path)})
    outsiders = (outside, outside / "b.png", outside / "no.png", outside / "*.png", inside / "l.txt")
    for path in (*outsiders, inside / "link.png", inside):
        with pytest.raises(GraphRunError, match=r"this graph may not read '.*(out|out/.*|link\.png)'"):
            graph(access=access).run({"path": str(path)})


def test_the_run_in_a_graph_of_functions_sees_the_frames(tmp_path):
    write(tmp_path / "a.png", 7)

    rows = penstock.run(
        GRAPH % "format: GRAY8" + 'output_stream: "frame"', side_packets={"path": str(tmp_path)}
    )

    assert [packet.payload.array.mean() for packet in rows["frame"]] == [7]
