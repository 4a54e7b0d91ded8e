"""RecolorCalculator: how much of the colour each pixel gets, beside the reference's formula in NumPy."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.messages.recolor_pb2 import RecolorCalculatorOptions as Options
from penstock_image.painting.recolor import RecolorCalculator
from penstock_testing import run_calculator

RANDOM = np.random.default_rng(4)
RGB = RANDOM.integers(0, 256, (40, 50, 3)).astype(np.uint8)
FRAME = ImageFrame(RGB)
GRAY = RANDOM.integers(0, 256, (40, 50)).astype(np.uint8)
FLOATS = RANDOM.random((40, 50)).astype(np.float32)
COLOR = (200, 10, 100)


def run(inputs, headers=None, color=COLOR, **options):
    chosen = Options(**options)
    if color:
        chosen.color.r, chosen.color.g, chosen.color.b = color
    return run_calculator(RecolorCalculator, inputs, outputs=["IMAGE"], options=chosen, headers=headers)


def image(mask, **options) -> np.ndarray:
    result = run({"IMAGE": [(1, FRAME)], "MASK": [(1, mask)]}, **options)
    (packet,) = result.outputs["IMAGE"]
    assert packet.timestamp == 1
    assert packet.payload.format is ImageFormat.SRGB
    return packet.payload.array


def blended(weight, *, inverts=False, by_luminance=True):
    """Return the exact blend, in double precision."""
    weight = 1 - weight.astype(np.float64) if inverts else weight.astype(np.float64)
    share = weight * (RGB @ np.array([0.299, 0.587, 0.114]) / 255 if by_luminance else 1)
    return RGB * (1 - share[..., None]) + np.array(COLOR) * share[..., None]


@pytest.mark.parametrize("inverts", [False, True])
@pytest.mark.parametrize("by_luminance", [False, True])
@pytest.mark.parametrize("mask", [GRAY, FLOATS], ids=["GRAY8", "VEC32F1"])
def test_results_differ_from_the_exact_blend_by_at_most_1(mask, inverts, by_luminance):
    found = image(ImageFrame(mask), invert_mask=inverts, adjust_with_luminance=by_luminance)

    weight = mask if mask.dtype == np.float32 else mask / 255
    want = blended(weight, inverts=inverts, by_luminance=by_luminance)
    assert np.abs(found - want).max() <= 1.01
    assert np.abs(found - want).mean() < 0.4


@pytest.mark.parametrize("by_luminance", [False, True])
def test_frames_and_masks_stay_as_they_are_and_results_share_no_memory(by_luminance):
    rgb, mask = RGB.copy(), FLOATS.copy()
    frame, share = ImageFrame(rgb), ImageFrame(mask)

    result = run(
        {"IMAGE": [(1, frame), (2, frame)], "MASK": [(1, share), (2, share)]},
        adjust_with_luminance=by_luminance,
    )

    one, other = (packet.payload.array for packet in result.outputs["IMAGE"])
    assert np.array_equal(rgb, RGB)
    assert np.array_equal(mask, FLOATS)
    assert np.array_equal(one, other)
    assert not np.shares_memory(one, other)
    assert not np.shares_memory(one, rgb)


def test_nothing_is_painted_where_the_mask_is_0_and_only_the_colour_shows_where_it_is_1():
    mask = np.zeros((40, 50), np.uint8)
    mask[:, :10] = 255

    found = image(ImageFrame(mask), adjust_with_luminance=False)

    assert (found[:, :10] == COLOR).all()
    assert np.array_equal(found[:, 10:], RGB[:, 10:])


def test_a_black_pixel_stays_black_unless_the_luminance_is_left_out():
    black = {
        "IMAGE": [(1, ImageFrame(np.zeros_like(RGB)))],
        "MASK": [(1, ImageFrame(np.full_like(GRAY, 255)))],
    }

    with_it, without = run(black), run(black, adjust_with_luminance=False)

    assert not with_it.outputs["IMAGE"][0].payload.array.any()
    assert (without.outputs["IMAGE"][0].payload.array == COLOR).all()


@pytest.mark.parametrize(("channel", "number"), [(Options.UNKNOWN, 0), (Options.RED, 0), (Options.ALPHA, 3)])
def test_a_channel_of_the_mask_is_chosen(channel, number):
    mask = RANDOM.integers(0, 256, (40, 50, 4)).astype(np.uint8)

    found = image(ImageFrame(mask), mask_channel=channel)

    assert np.array_equal(found, image(ImageFrame(np.ascontiguousarray(mask[..., number]))))


def test_a_mask_of_another_size_is_stretched_linearly():
    small = RANDOM.random((10, 25)).astype(np.float32)

    found = image(ImageFrame(small))

    assert np.abs(found - blended(cv2.resize(small, (50, 40)))).max() <= 1.01


@pytest.mark.parametrize("inverts", [False, True])
def test_a_share_below_0_counts_as_0_and_one_above_1_overshoots_to_the_ends_of_the_range(inverts):
    wild = np.where(FLOATS < 0.5, np.float32(-3), np.float32(4))

    found = image(ImageFrame(wild), adjust_with_luminance=False, invert_mask=inverts)

    share = np.maximum(1 - wild if inverts else wild, 0)[..., None]
    want = np.clip(RGB * (1 - share), 0, 255) + np.clip(np.array(COLOR) * share, 0, 255)
    assert np.array_equal(found, np.minimum(want, 255))


def test_a_frame_without_a_mask_is_forwarded_and_a_mask_without_a_frame_is_not():
    result = run({"IMAGE": [(1, FRAME)], "MASK": [(2, ImageFrame(GRAY))]})

    (packet,) = result.outputs["IMAGE"]
    assert packet.timestamp == 1
    assert packet.payload is FRAME


def test_the_header_is_forwarded():
    header = VideoHeader(ImageFormat.SRGB, 50, 40, 30.0)

    assert run({"IMAGE": [], "MASK": []}, headers={"IMAGE": header}).headers["IMAGE"] == header


@pytest.mark.parametrize(
    ("color", "message"),
    [
        (None, r"color is not set, but says how to recolor; set it"),
        ((0, 256, 0), r"color is \(0, 256, 0\)"),
    ],
)
def test_a_colour_is_needed(color, message):
    with pytest.raises(GraphRunError, match=message):
        run({"IMAGE": [], "MASK": []}, color=color)


@pytest.mark.parametrize(
    ("frame", "mask", "message"),
    [
        (
            GRAY,
            GRAY,
            r"input 'IMAGE' holds .*GRAY8.*, but takes frames of SRGB; put a ColorConvertCalculator before",
        ),
        (
            RGB,
            np.dstack([FLOATS] * 2),
            r"input 'MASK' holds .*VEC32F2.*, but takes frames of GRAY8 or SRGB or SRGBA or",
        ),
        (
            RGB,
            RGB,
            r"'MASK' holds .*SRGB.*, which has no alpha channel to read shares from, but mask_channel is",
        ),
    ],
)
def test_other_formats_are_refused(frame, mask, message):
    inputs = {"IMAGE": [(1, ImageFrame(frame))], "MASK": [(1, ImageFrame(mask))]}

    with pytest.raises(GraphRunError, match=message):
        run(inputs, mask_channel=Options.ALPHA)
