"""The tensor of an image: its place, its values, its axes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect.resizing import Resize, place_of
from penstock_formats import ImageFormat, ImageFrame

NOISE = np.random.default_rng(0).integers(0, 256, (36, 64, 3), np.uint8)


def made(options, image=None):
    """Return the tensors' arrays and the padding for an image."""
    graph = f"""
    input_stream: "image" output_stream: "tensors" output_stream: "padding"
    node {{
      calculator: "DetectorInputCalculator" input_stream: "IMAGE:image"
      output_stream: "TENSORS:tensors" output_stream: "LETTERBOX_PADDING:padding"
      node_options {{ [type.googleapis.com/penstock_detect.DetectorInputCalculatorOptions] {{ {options} }} }}
    }}"""
    frame = ImageFrame(NOISE, ImageFormat.SRGB) if image is None else image
    outputs = penstock.run(graph, {"image": [(0, frame)]})
    return [one.array for one in outputs["tensors"][0].payload], outputs["padding"][0].payload


def test_an_image_of_the_same_size_is_only_turned_into_planes():
    (array,), padding = made("width: 64 height: 36")

    assert array.shape == (1, 3, 36, 64)
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array[0], (NOISE.transpose(2, 0, 1) / 255).astype(np.float32))
    assert padding == (0, 0, 0, 0)


def test_values_are_mapped_in_the_order_of_the_model():
    mean, std = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)
    given = " ".join([*(f"mean: {one}" for one in mean), *(f"std: {one}" for one in std)])

    (array,), _ = made(f"width: 64 height: 36 scale: 1 bgr: true axes: NHWC {given}")

    expected = (NOISE[..., ::-1] - np.array(mean)) / np.array(std)
    assert array.shape == (1, 36, 64, 3)
    np.testing.assert_allclose(array[0], expected, rtol=1e-6)


def test_a_letterbox_keeps_the_aspect_ratio():
    (array,), padding = made('width: 32 height: 32 element_type: "uint8"')

    inner = cv2.resize(NOISE, (32, 18), interpolation=cv2.INTER_LINEAR)
    expected = np.full((32, 32, 3), 114, np.uint8)
    expected[7:25] = inner
    np.testing.assert_array_equal(array[0].transpose(1, 2, 0), expected)
    assert padding == (0, 7 / 32, 0, 7 / 32)


def test_a_letterbox_in_the_corner():
    (array,), padding = made(
        'width: 32 height: 32 element_type: "uint8" resize: LETTERBOX_TOP_LEFT pad_value: 3'
    )

    assert (array[0][:, 18:] == 3).all()
    np.testing.assert_array_equal(array[0].transpose(1, 2, 0)[:18], cv2.resize(NOISE, (32, 18)))
    assert padding == (0, 0, 0, 14 / 32)


def test_a_stretched_image_has_no_padding():
    (array,), padding = made('width: 16 height: 32 element_type: "uint8" resize: STRETCH')

    np.testing.assert_array_equal(array[0].transpose(1, 2, 0), cv2.resize(NOISE, (16, 32)))
    assert padding == (0, 0, 0, 0)


def test_halves_and_the_size():
    (array, size), _ = made('width: 64 height: 36 element_type: "float16" gives_size: true')

    assert array.dtype == np.float16
    np.testing.assert_allclose(array[0].transpose(1, 2, 0), NOISE / 255, atol=1e-3)
    assert size.tolist() == [[64, 36]]
    assert size.dtype == np.int64


@pytest.mark.parametrize("channels", [1, 3])
def test_grey_and_transparent_images(channels):
    grey = ImageFrame(NOISE[..., 0].copy(), ImageFormat.GRAY8)
    clear = ImageFrame(np.dstack([NOISE, NOISE[..., :1]]), ImageFormat.SRGBA)

    (of_grey,), _ = made(f'width: 64 height: 36 element_type: "uint8" channels: {channels}', grey)
    (of_clear,), _ = made(f'width: 64 height: 36 element_type: "uint8" channels: {channels}', clear)

    assert (of_grey[0] == NOISE[..., 0]).all()
    wanted = NOISE.transpose(2, 0, 1) if channels == 3 else cv2.cvtColor(NOISE, cv2.COLOR_RGB2GRAY)[None]
    np.testing.assert_array_equal(of_clear[0], wanted)


def test_an_array_is_an_image():
    (array,), _ = made('width: 64 height: 36 element_type: "uint8"', NOISE)

    np.testing.assert_array_equal(array[0].transpose(1, 2, 0), NOISE)


def test_an_image_of_another_format_is_refused():
    deep = ImageFrame(np.zeros((4, 4), np.uint16), ImageFormat.GRAY16)

    with pytest.raises(
        GraphRunError, match="format GRAY16, but the detector takes SRGB, SRGBA and GRAY8; convert"
    ):
        made("width: 64 height: 36", deep)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("width: 64", "height is 0, but must be 1 or more"),
        ("width: 64 height: 36 mean: 1 mean: 2", "mean has 2 numbers, but must have one for each of 3"),
        ("width: 64 height: 36 std: 0", "std none of 0"),
        ("width: 64 height: 36 channels: 2", "channels is 2, but must be 1 or 3"),
        ("width: 64 height: 36 pad_value: 256", "pad_value is 256, but must be from 0 to 255"),
        ('width: 64 height: 36 element_type: "int8"', "element_type is 'int8', but must be one of float32"),
        ("width: 64 height: 36 scale: nan", "scale is nan, but must be finite"),
        ("width: 100000 height: 100000", "a frame of 100000x100000 has"),
    ],
)
def test_options_that_do_not_fit(options, words):
    with pytest.raises(GraphConfigError, match=words):
        made(options)


def test_a_very_long_image_still_has_a_row():
    place = place_of(Resize.LETTERBOX, 10_000, 2, 64, 64)

    assert (place.bottom - place.top, place.right - place.left) == (1, 64)
    assert sum(place.padding) == pytest.approx(63 / 64)
