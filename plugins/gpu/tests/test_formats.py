"""GpuBufferFormat: names, numbers, layouts in arrays and textures, and the image formats beside them."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat
from penstock_formats.image_format import LAYOUTS
from penstock_gpu.formats import GpuBufferFormat as F
from penstock_gpu.formats import (
    checked_format,
    format_of_array,
    gl_layout,
    image_format,
    of_image_format,
    pixel_layout,
)

PLANAR = tuple(
    kind for kind in F if kind.name.startswith("BI_PLANAR") or kind in (F.NV12, F.NV21, F.I420, F.YV12)
)
WORKING = tuple(kind for kind in F if kind not in PLANAR and kind != F.UNKNOWN)


def letters(number: int) -> str:
    return number.to_bytes(4, "big").decode("ascii")


def test_numbers_are_those_of_the_reference():
    assert int(F.UNKNOWN) == 0
    assert int(F.RGB24) == 24
    assert {kind.name: letters(kind) for kind in F if kind not in (F.UNKNOWN, F.RGB24)} == {
        "BGRA32": "BGRA",
        "RGBA32": "RGBA",
        "GRAY_FLOAT32": "L00f",
        "GRAY_HALF16": "L00h",
        "ONE_COMPONENT8": "L008",
        "ONE_COMPONENT8_ALPHA": "A008",
        "ONE_COMPONENT8_RED": "R008",
        "TWO_COMPONENT8": "2C08",
        "TWO_COMPONENT_HALF16": "2C0h",
        "TWO_COMPONENT_FLOAT32": "2C0f",
        "BI_PLANAR_420_YPCBCR8_VIDEO_RANGE": "420v",
        "BI_PLANAR_420_YPCBCR8_FULL_RANGE": "420f",
        "BI_PLANAR_420_YPCBCR10_VIDEO_RANGE": "x420",
        "BI_PLANAR_420_YPCBCR10_FULL_RANGE": "xf20",
        "RGBA_HALF64": "RGhA",
        "RGBA_FLOAT128": "RGfA",
        "IMMUTABLE_RGBA32": "4CI8",
        "IMMUTABLE_RGBA_FLOAT128": "4CIf",
        "NV12": "NV12",
        "NV21": "NV21",
        "I420": "I420",
        "YV12": "YV12",
    }


def converted():
    """Return image format → buffer format, of those that become one."""
    found = {}
    for kind in ImageFormat:
        with contextlib.suppress(InvalidArgumentError):
            found[kind] = of_image_format(kind)
    return found


def test_image_formats_become_the_buffer_formats_of_the_reference():
    assert converted() == {
        ImageFormat.SRGBA: F.BGRA32,
        ImageFormat.SRGB: F.RGB24,
        ImageFormat.GRAY8: F.ONE_COMPONENT8,
        ImageFormat.VEC32F1: F.GRAY_FLOAT32,
        ImageFormat.VEC32F2: F.TWO_COMPONENT_FLOAT32,
        ImageFormat.VEC32F4: F.RGBA_FLOAT128,
        ImageFormat.YCBCR420P: F.BI_PLANAR_420_YPCBCR8_FULL_RANGE,
    }


@pytest.mark.parametrize("kind", ["GRAY16", "SRGB48", "SRGBA64", "LAB8", "SBGRA", "UNKNOWN", "YCBCR420P10"])
def test_an_image_format_without_a_buffer_format_is_refused_with_those_that_have_one(kind):
    with pytest.raises(InvalidArgumentError) as raised:
        of_image_format(ImageFormat[kind])

    assert str(raised.value) == (
        f"image format {kind} has no GPU buffer format; "
        "convert the frame to one of SRGB, SRGBA, GRAY8, VEC32F1, VEC32F2, VEC32F4 before"
    )


def test_a_frame_that_becomes_a_buffer_comes_back_in_its_own_format():
    for kind in LAYOUTS.keys() & converted().keys():
        assert image_format(of_image_format(kind)) == kind


def test_formats_that_no_frame_has_are_unknown_as_images():
    without = {kind for kind in F if image_format(kind) == ImageFormat.UNKNOWN}

    assert without == {
        F.UNKNOWN,
        F.GRAY_HALF16,
        F.TWO_COMPONENT_HALF16,
        F.RGBA_HALF64,
        F.ONE_COMPONENT8_ALPHA,
        F.TWO_COMPONENT8,
        F.BI_PLANAR_420_YPCBCR10_VIDEO_RANGE,
        F.BI_PLANAR_420_YPCBCR10_FULL_RANGE,
        F.NV12,
        F.NV21,
        F.I420,
        F.YV12,
    }


@pytest.mark.parametrize("kind", PLANAR)
def test_a_format_of_several_planes_is_refused_with_those_that_work(kind):
    for ask in (pixel_layout, gl_layout):
        with pytest.raises(InvalidArgumentError) as raised:
            ask(kind)

        assert str(raised.value).startswith(
            f"GPU buffer format {kind.name} has several planes, so no texture and no array has it; "
            "use one of "
        )
        assert all(name in str(raised.value) for name in ("RGB24", "BGRA32", "RGBA_HALF64", "GRAY_FLOAT32"))


def test_the_unknown_format_is_refused_too():
    with pytest.raises(InvalidArgumentError, match="GPU buffer format UNKNOWN says nothing about pixels"):
        gl_layout(F.UNKNOWN)


def test_a_number_that_is_no_format_is_refused():
    with pytest.raises(InvalidArgumentError, match="GPU buffer format 7 does not exist; use one of RGB24, "):
        checked_format(7)


@pytest.mark.parametrize("is_es", [False, True])
@pytest.mark.parametrize("kind", WORKING)
def test_what_is_read_from_a_texture_holds_what_the_format_has(kind, is_es):
    layout, pixels = gl_layout(kind, is_es=is_es), pixel_layout(kind)

    assert (layout.channels, layout.dtype) == (pixels.channels, pixels.dtype)
    assert layout.read_channels >= layout.channels
    assert np.promote_types(layout.read_dtype, layout.dtype) == layout.read_dtype
    assert layout.upload_channels == (4 if kind == F.RGB24 else layout.channels)
    if is_es:
        assert layout.read_channels == 4
        assert layout.read_dtype in (np.uint8, np.float32)


@pytest.mark.parametrize(
    ("shape", "dtype", "kind"),
    [
        ((2, 3, 4), np.uint8, F.BGRA32),
        ((2, 3, 3), np.uint8, F.RGB24),
        ((2, 3), np.uint8, F.ONE_COMPONENT8),
        ((2, 3, 2), np.uint8, F.TWO_COMPONENT8),
        ((2, 3), np.float32, F.GRAY_FLOAT32),
        ((2, 3, 2), np.float32, F.TWO_COMPONENT_FLOAT32),
        ((2, 3, 4), np.float32, F.RGBA_FLOAT128),
        ((2, 3), np.float16, F.GRAY_HALF16),
        ((2, 3, 2), np.float16, F.TWO_COMPONENT_HALF16),
        ((2, 3, 4), np.float16, F.RGBA_HALF64),
    ],
)
def test_an_array_has_the_usual_format_of_its_layout(shape, dtype, kind):
    assert format_of_array(np.zeros(shape, dtype)) == kind


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((2, 3, 4), np.float64),
        ((2, 3, 5), np.uint8),
        ((0, 3), np.uint8),
        ((3,), np.uint8),
        ((2, 3), np.uint16),
    ],
)
def test_an_array_of_another_layout_is_refused_with_the_layouts_that_fit(shape, dtype):
    with pytest.raises(InvalidArgumentError) as raised:
        format_of_array(np.zeros(shape, dtype))

    assert (
        f"no GPU buffer format holds an array of {shape} {np.dtype(dtype)}: BGRA32 is (H, W, 4) uint8"
        in str(raised.value)
    )


def test_a_named_format_must_be_that_of_the_array():
    assert format_of_array(np.zeros((2, 3), np.uint8), F.ONE_COMPONENT8_ALPHA) == F.ONE_COMPONENT8_ALPHA
    with pytest.raises(InvalidArgumentError) as raised:
        format_of_array(np.zeros((2, 3, 4), np.uint8), F.RGBA_FLOAT128)

    assert str(raised.value) == (
        "an array of (2, 3, 4) uint8 is no RGBA_FLOAT128 image, which is (H, W, 4) float32; "
        "convert it, or name the format that it has"
    )
