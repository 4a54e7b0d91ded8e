"""MaskOverlayCalculatorCpu: the mix of two images, beside the exact one in NumPy."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.painting.mask_overlay import (
    MaskChannel,
    MaskOverlayCalculatorCpu,
    MaskOverlayCalculatorCpuOptions,
)
from penstock_testing import run_calculator

RANDOM = np.random.default_rng(4)
BELOW, ABOVE = RANDOM.integers(0, 256, (2, 20, 30, 3)).astype(np.uint8)
CLEAR_BELOW, CLEAR_ABOVE = RANDOM.integers(0, 256, (2, 20, 30, 4)).astype(np.uint8)
GRAY = RANDOM.integers(0, 256, (20, 30)).astype(np.uint8)
FLOATS = RANDOM.random((20, 30)).astype(np.float32)


def run(inputs, headers=None, **options):
    return run_calculator(
        MaskOverlayCalculatorCpu,
        inputs,
        outputs=["OUTPUT"],
        options=MaskOverlayCalculatorCpuOptions(**options),
        headers=headers,
    )


def mixed(mask, below=BELOW, above=ABOVE, **options) -> np.ndarray:
    is_image = isinstance(mask, np.ndarray)
    given = {"MASK": [(1, ImageFrame(mask))]} if is_image else {"CONST_MASK": [(1, mask)]}
    inputs = {"VIDEO:0": [(1, ImageFrame(below))], "VIDEO:1": [(1, ImageFrame(above))]}
    (packet,) = run({**inputs, **given}, **options).outputs["OUTPUT"]
    assert packet.timestamp == 1
    return packet.payload.array


def exact(share, below=BELOW, above=ABOVE):
    share = np.asarray(share, np.float64)[..., None]
    return np.clip(below + (above.astype(np.float64) - below) * share, 0, 255)


@pytest.mark.parametrize(
    ("below", "above"), [(BELOW, ABOVE), (CLEAR_BELOW, CLEAR_ABOVE)], ids=["SRGB", "SRGBA"]
)
@pytest.mark.parametrize("mask", [GRAY, FLOATS, 0.25, 0.0, 1.0, -0.5, 2.0], ids=str)
def test_results_differ_from_the_exact_mix_by_at_most_1(mask, below, above):
    share = mask / 255 if mask is GRAY else mask

    assert np.abs(mixed(mask, below, above) - exact(share, below, above)).max() <= 1


def test_ends_of_the_range_show_one_image_alone():
    mask = np.zeros((20, 30), np.uint8)
    mask[:, 15:] = 255

    found = mixed(mask)

    assert np.array_equal(found[:, :15], BELOW[:, :15])
    assert np.array_equal(found[:, 15:], ABOVE[:, 15:])


def test_a_channel_of_the_mask_is_chosen_and_another_size_is_stretched():
    mask = RANDOM.integers(0, 256, (10, 15, 4)).astype(np.uint8)

    for channel, number in ((MaskChannel.RED, 0), (MaskChannel.ALPHA, 3)):
        share = cv2.resize(np.ascontiguousarray(mask[..., number]), (30, 20)) / 255
        assert np.abs(mixed(mask, mask_channel=channel) - exact(share)).max() <= 1


def test_without_a_mask_the_second_image_is_forwarded_and_without_both_images_nothing():
    below, above = ImageFrame(BELOW), ImageFrame(ABOVE)

    result = run(
        {
            "VIDEO:0": [(1, below), (2, below), (4, below)],
            "VIDEO:1": [(1, above), (3, above)],
            "MASK": [(2, ImageFrame(GRAY)), (3, ImageFrame(GRAY))],
        }
    )

    (packet,) = result.outputs["OUTPUT"]
    assert packet.timestamp == 1
    assert packet.payload is above


def test_the_header_of_the_first_image_is_forwarded():
    header = VideoHeader(ImageFormat.SRGB, 30, 20, 25.0)

    result = run({"VIDEO:0": [], "VIDEO:1": [], "MASK": []}, headers={"VIDEO:0": header})

    assert result.headers["OUTPUT"] == header


@pytest.mark.parametrize(
    ("mask", "below", "above", "message"),
    [
        (
            GRAY,
            BELOW[..., 0],
            ABOVE,
            r"'VIDEO:0' holds .*GRAY8.*, but takes frames of SRGB or SRGBA; put a ColorConvert",
        ),
        (
            GRAY,
            BELOW,
            CLEAR_ABOVE,
            r"'VIDEO:1' holds .*SRGBA.*, but takes frames of SRGB; make both images one format",
        ),
        (
            GRAY,
            BELOW,
            ABOVE[:9],
            r"'VIDEO:1' holds .*30x9>, but input 'VIDEO:0' .*30x20>; make both frames the",
        ),
        (
            ABOVE,
            BELOW,
            ABOVE,
            r"'MASK' holds .*SRGB.*, which has no alpha channel to read shares from, but mask_channel is",
        ),
        (
            GRAY.astype(np.uint16),
            BELOW,
            ABOVE,
            r"'MASK' holds .*GRAY16.*, but takes frames of GRAY8 or SRGB or SRGBA",
        ),
    ],
)
def test_images_that_do_not_fit_are_refused(mask, below, above, message):
    with pytest.raises(GraphRunError, match=message):
        mixed(mask, below, above, mask_channel=MaskChannel.ALPHA)


@pytest.mark.parametrize(
    ("masks", "said", "code"),
    [
        ([], "no mask", StatusCode.NOT_FOUND),
        (["MASK", "CONST_MASK"], "MASK and CONST_MASK", StatusCode.INVALID_ARGUMENT),
    ],
)
def test_exactly_one_mask_is_needed(masks, said, code):
    said = rf"{said} is connected; connect either MASK or CONST_MASK"
    with pytest.raises(GraphConfigError, match=said) as caught:
        run({tag: [] for tag in ("VIDEO:0", "VIDEO:1", *masks)})

    assert caught.value.code is code
