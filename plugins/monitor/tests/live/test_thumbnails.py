"""What the page shows of a payload."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image as Pillow

from penstock import Packet
from penstock_formats import Detection, Image, ImageFormat, ImageFrame, Matrix, Tensor
from penstock_formats.image_format import LAYOUTS
from penstock_live.pictures import LONGEST, heat_map
from penstock_live.thumbnail import thumbnail


def of(payload):
    return thumbnail(Packet(payload, 7))


def pixels(made):
    """Return the picture that a thumbnail is."""
    return np.asarray(Pillow.open(io.BytesIO(made.content)))


def content(made):
    assert made.media_type == "application/json"
    return json.loads(made.content)


@pytest.mark.parametrize("kind", LAYOUTS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("size", [(1, 1), (480, 640), (3, 2000)])
def test_images_of_every_format_are_pictures_of_at_most_320_pixels(kind, size):
    layout = LAYOUTS[kind]
    shape = size if layout.channels == 1 else (*size, layout.channels)
    numbers = np.arange(np.prod(shape)).reshape(shape) % 200
    made = of(ImageFrame(numbers.astype(layout.dtype), kind))
    assert made.kind == "image"
    assert made.media_type in {"image/png", "image/jpeg"}
    height, width = pixels(made).shape[:2]
    assert (height, width) == {(480, 640): (240, 320), (3, 2000): (1, 286), (1, 1): (1, 1)}[size]
    assert made.words == f"<ImageFrame {kind.name} {size[1]}x{size[0]}>"
    assert made.timestamp == "7"


def test_colours_stay_what_they_are():
    picture = np.zeros((100, 100, 3), np.uint8)
    picture[:, 50:] = (200, 100, 50)
    for made in (of(ImageFrame(picture)), of(Image(ImageFrame(picture))), of(picture), of(picture[None])):
        assert np.abs(pixels(made)[50, 75].astype(int) - (200, 100, 50)).max() < 4
        assert np.abs(pixels(made)[50, 25].astype(int)).max() < 4


def test_blue_first_is_turned_round():
    picture = np.full((8, 8, 4), (10, 20, 200, 255), np.uint8)
    assert pixels(of(ImageFrame(picture, ImageFormat.SBGRA)))[4, 4].tolist() == [200, 20, 10, 255]


def test_a_large_image_is_averaged_and_not_only_thinned():
    stripes = np.zeros((640, 640), np.uint8)
    stripes[:, ::2] = 200
    assert pixels(of(ImageFrame(stripes)))[100, 100] == 100


def test_a_mask_is_exact():
    mask = np.zeros((50, 60), np.uint8)
    mask[20:30, 20:40] = 255
    made = of(ImageFrame(mask))
    assert made.media_type == "image/png"
    assert np.array_equal(pixels(made), mask)


@pytest.mark.parametrize("wrap", [np.asarray, lambda array: Matrix(array.astype(np.float32)), Tensor])
def test_tables_of_numbers_are_heat_maps_with_their_range(wrap):
    table = np.linspace(-1, 3, 20 * 30, dtype=np.float32).reshape(20, 30)
    made = of(wrap(table))
    assert (made.kind, made.media_type) == ("heat map", "image/png")
    assert made.words.endswith(", from -1 to 3")
    shown = pixels(made)
    assert shown[0, 0].tolist() == [68, 1, 84]
    assert shown[-1, -1].tolist() == [253, 231, 37]
    assert shown.shape[1] >= 150


def test_a_heat_map_grows_lighter_with_its_numbers():
    picture, least, largest = heat_map(np.arange(300).reshape(1, 300))
    lightness = picture[0] @ (0.2126, 0.7152, 0.0722)
    assert (least, largest) == (0, 299)
    assert np.all(np.diff(lightness) > -0.5)
    assert lightness[-1] - lightness[0] > 150


def test_what_is_no_number_is_grey_in_a_heat_map_and_no_other_number_is():
    table = np.full((8, 8), np.nan)
    table[0, 0], table[0, 1], table[1, 0] = 1.0, 2.0, np.inf
    picture, least, largest = heat_map(table)
    cell = picture.shape[0] // 8
    assert (least, largest) == (1, 2)
    assert picture[cell, 0].tolist() == picture[-1, -1].tolist() == [128, 128, 128]
    assert picture[0, 0].tolist() == [68, 1, 84]


@pytest.mark.parametrize("table", [np.full((9, 9), np.nan), np.full((9, 9), 5.0), np.ones((9, 9), bool)])
def test_a_table_without_a_range_is_a_heat_map_too(table):
    assert of(table).kind == "heat map"


def test_a_large_table_is_thinned():
    picture, _, _ = heat_map(np.zeros((5000, 10)))
    assert picture.shape[0] <= LONGEST


def test_arrays_of_few_rows_are_lines():
    assert content(of(np.arange(5))) == {"rows": [[0, 1, 2, 3, 4]]}
    stereo = of(Matrix(np.float32([[0, 1], [2, np.nan]])))
    assert (stereo.kind, content(stereo)) == ("lines", {"rows": [[0.0, 1.0], [2.0, None]]})


def test_a_long_line_keeps_its_peaks():
    sound = np.zeros(44_100, np.float32)
    sound[12_345], sound[20_000] = 0.75, -0.5
    (row,) = content(of(Matrix(sound[None])))["rows"]
    assert len(row) == 240
    assert (min(row), max(row)) == (-0.5, 0.75)


def test_of_an_array_of_more_dimensions_the_first_table_is_shown_and_that_is_said():
    made = of(np.zeros((2, 7, 16, 5)))
    assert made.kind == "heat map"
    assert made.words == "<ndarray (2, 7, 16, 5) float64>, shown: 7 x 16 of it, from 0 to 0"
    assert "shown" not in of(np.zeros((1, 16, 16, 1))).words


@pytest.mark.parametrize(
    ("payload", "value"),
    [(3, 3), (True, 1), (2.5, 2.5), (np.float32(0.5), 0.5), (np.int64(4), 4), (np.array(6), 6)],
)
def test_numbers_are_numbers(payload, value):
    made = of(payload)
    assert (made.kind, content(made)) == ("number", {"value": value})


@pytest.mark.parametrize("payload", [float("nan"), float("-inf"), 10**400])
def test_numbers_that_javascript_has_not_are_null_and_their_words_say_them(payload):
    made = of(payload)
    assert content(made) == {"value": None}
    assert made.words


def test_everything_else_is_words_of_one_line_and_never_long():
    assert content(of({"a": [1, 2]})) == {"text": "{'a': [1, 2]}"}
    assert len(content(of("x" * 10_000))["text"]) <= 400
    found = Detection(label=["cup"], score=[0.9])
    assert "cup" in content(of(found))["text"]
    assert content(of(None)) == {"text": "None"}
    assert of(np.zeros((0, 5))).kind == "text"


def test_a_payload_may_draw_itself_as_in_a_notebook():
    class Chart:
        def _repr_png_(self):
            return b"\x89PNG..."

    made = of(Chart())
    assert (made.kind, made.media_type, made.content) == ("image", "image/png", b"\x89PNG...")
    Chart._repr_png_ = lambda self: None
    assert of(Chart()).kind == "text"


def test_a_payload_that_cannot_be_drawn_says_why():
    class Broken:
        def _repr_png_(self):
            raise RuntimeError("no ink")

    assert content(of(Broken())) == {"text": "<Broken> cannot be shown: RuntimeError: no ink"}


def test_an_image_on_the_gpu_is_copied_and_shown():
    class Buffer:
        width = height = 4
        nbytes = 48

        def read_view(self, view):
            raise AssertionError("not needed")

        def frame(self):
            return ImageFrame(np.full((4, 4, 3), 9, np.uint8))

    assert np.abs(pixels(of(Buffer())).astype(int) - 9).max() < 4
    assert of(Image(Buffer())).kind == "image"


def test_no_packet_is_nothing():
    assert thumbnail(None).kind == thumbnail(Packet()).kind == "none"


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((300_000_000,), "uint8"),
        ((1, 300_000_000), "uint8"),
        ((40_000_000,), "float64"),
        ((17_320, 17_320), "uint8"),
        ((10_000, 10_000, 3), "uint8"),
    ],
)
def test_a_very_large_array_is_sampled_before_it_is_converted(shape, dtype):
    code = f"""
import resource, numpy, penstock
from penstock_live.thumbnail import thumbnail
packet = penstock.Packet(numpy.zeros({shape!r}, {dtype!r}), 0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
made = thumbnail(packet)
print(made.kind.split()[0], (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    command = [sys.executable, "-c", code]
    kind, mib = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert kind in {"lines", "heat", "image"}
    assert int(mib) < 60
