"""Images become smaller as Pillow makes them, and as torchvision cuts them: against loops in plain Python."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from PIL import Image
from test_detector_input import made

from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect.resizing import Resize, place_of
from penstock_formats import ImageFormat, ImageFrame

NOISE = np.random.default_rng(0).integers(0, 256, (72, 128, 3), np.uint8)


def triangle(x):
    return max(1 - abs(x), 0)


def cubic(x):
    """Keys' curve with a = -0.5."""
    x = abs(x)
    if x < 1:
        return 1.5 * x**3 - 2.5 * x**2 + 1
    return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0


def weights(before, after, curve, reach):
    """Return for each new pixel of a line the weights of the old ones, whole numbers in parts of 2^22."""
    step = before / after
    width = max(step, 1)
    rows = []
    for i in range(after):
        middle = (i + 0.5) * step
        first, last = int(middle - reach * width + 0.5), int(middle + reach * width + 0.5)
        row = [curve((k + 0.5 - middle) / width) if first <= k < last else 0 for k in range(before)]
        shares = [2**22 * one / sum(row) for one in row]
        rows.append([int(one + math.copysign(0.5, one)) for one in shares])
    return np.array(rows)


def bytes_of(values):
    return np.clip((values + 2**21) // 2**22, 0, 255)


def averaged(pixels, size, curve, reach):
    """Return an image (H, W, 3) in another size, columns first, both times rounded to bytes."""
    across = weights(pixels.shape[1], size[0], curve, reach)
    down = weights(pixels.shape[0], size[1], curve, reach)
    lines = bytes_of(np.einsum("xk,ykc->yxc", across, pixels.astype(np.int64)))
    return bytes_of(np.einsum("yk,kxc->yxc", down, lines))


@pytest.mark.parametrize(
    ("interpolation", "curve", "reach", "filter_"),
    [
        ("ANTIALIAS", triangle, 1, Image.Resampling.BILINEAR),
        ("ANTIALIAS_CUBIC", cubic, 2, Image.Resampling.BICUBIC),
    ],
)
@pytest.mark.parametrize("size", [(37, 23), (200, 72), (128, 20), (90, 72)])
def test_pixels_that_become_one_are_averaged(interpolation, curve, reach, filter_, size):
    options = f'width: {size[0]} height: {size[1]} element_type: "uint8" resize: STRETCH'

    (array,), _ = made(f"{options} interpolation: {interpolation}", ImageFrame(NOISE, ImageFormat.SRGB))

    found = array[0].transpose(1, 2, 0)
    np.testing.assert_array_equal(found, np.asarray(Image.fromarray(NOISE).resize(size, filter_)))
    np.testing.assert_array_equal(found, averaged(NOISE, size, curve, reach))


@pytest.mark.parametrize(
    ("size", "given", "scaled", "cut"),
    [
        ((32, 32), "", (56, 32), (12, 0)),
        ((32, 32), "short_side: 36", (64, 36), (16, 2)),
        ((32, 32), "short_side: 37", (65, 37), (16, 2)),
        ((32, 32), "short_side: 39", (69, 39), (18, 4)),  # halves go to the even number
        ((64, 16), "", (64, 36), (0, 10)),
        ((64, 16), "short_side: 18", (72, 40), (4, 12)),
        ((31, 31), "", (55, 31), (12, 0)),
    ],
)
def test_the_middle_is_cut_out_of_the_resized_image(size, given, scaled, cut):
    options = f'width: {size[0]} height: {size[1]} element_type: "uint8" resize: CROP {given}'

    (array,), padding = made(options, ImageFrame(NOISE, ImageFormat.SRGB))

    (left, top), (width, height) = cut, size
    whole = np.asarray(Image.fromarray(NOISE).resize(scaled, Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(array[0].transpose(1, 2, 0), whole[top : top + height, left : left + width])
    right, bottom = scaled[0] - width - left, scaled[1] - height - top
    assert padding == pytest.approx((-left / width, -top / height, -right / width, -bottom / height))


def test_grey_images_are_averaged_too():
    grey = ImageFrame(NOISE[..., 0].copy(), ImageFormat.GRAY8)

    (array,), _ = made('width: 32 height: 32 element_type: "uint8" channels: 1 resize: CROP', grey)

    np.testing.assert_array_equal(
        array[0, 0], np.asarray(Image.fromarray(grey.array).resize((56, 32), 2))[:, 12:44]
    )


def test_four_pixels_are_taken_where_linear_is_asked_for():
    options = 'width: 32 height: 32 element_type: "uint8" resize: CROP interpolation: LINEAR'

    (array,), _ = made(options, ImageFrame(NOISE, ImageFormat.SRGB))

    np.testing.assert_array_equal(array[0].transpose(1, 2, 0), cv2.resize(NOISE, (56, 32))[:, 12:44])


@pytest.mark.parametrize("size", [(100_000, 1), (1, 100_000), (1, 1), (3, 10_000)])
@pytest.mark.parametrize("short_side", [0, 700])
def test_a_very_long_image_is_cropped_in_little_memory(size, short_side):
    place = place_of(Resize.CROP, *size, 640, 480, short_side)

    assert place[:4] == (0, 0, 640, 480)
    left, top, right, bottom = place.part
    assert 0 <= left < right <= size[0]
    assert 0 <= top < bottom <= size[1]
    columns, rows = place.scaled
    assert columns * rows <= 70 * 640 * 480
    for at, of, kept in zip(place.start, place.scaled, (640, 480), strict=True):
        assert 0 <= at <= of - kept
    # What the tensor shows of the image is its middle, as large on both sides.
    before, after = place.padding[:2], place.padding[2:]
    assert before == pytest.approx(after, abs=0.02, rel=0.02)
    shown = [of / (1 - one - other) for of, one, other in zip(size, before, after, strict=True)]
    if min(size) > 1:
        assert shown[0] * 480 == pytest.approx(shown[1] * 640, rel=0.3)


@pytest.mark.parametrize("width", range(60, 70))
@pytest.mark.parametrize("height", [17, 61, 64, 67, 700])
def test_what_is_cut_always_fills_the_input(width, height):
    for size in ((33, 33), (33, 20), (64, 64)):
        for short_side in (0, min(size), 2 * min(size) + 1):
            place = place_of(Resize.CROP, width, height, *size, short_side)
            for at, of, kept in zip(place.start, place.scaled, size, strict=True):
                assert 0 <= at <= of - kept
            assert math.isclose(place.scaled[0] / place.scaled[1], width / height, rel_tol=0.1) or (
                max(width / height, height / width) > 4
            )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("short_side: 40", "short_side is 40, but resize is LETTERBOX, which takes no middle of an image"),
        ("short_side: 31 resize: CROP", "short_side is 31, but must be 32 or more, the shorter side of"),
        ("short_side: -1 resize: CROP", "short_side is -1, but must be 0 or more"),
    ],
)
def test_a_short_side_that_cannot_be(options, words):
    with pytest.raises(GraphConfigError, match=words):
        made(f"width: 32 height: 48 {options}")


def test_a_short_side_of_too_many_pixels_is_refused(monkeypatch):
    options = "width: 32 height: 32 resize: CROP"
    long = ImageFrame(np.zeros((4, 80, 3), np.uint8), ImageFormat.SRGB)

    with pytest.raises(GraphConfigError, match="short_side: a frame of 100000x100000 has"):
        made(f"{options} short_side: 100000")
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", "3000")
    with pytest.raises(GraphRunError, match="whose middle is taken: a frame of 640x32 has 20480 pixels"):
        made(options, long)
