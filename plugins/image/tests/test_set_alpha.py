"""SetAlphaCalculator: where the alpha comes from, and that the colours stay."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.messages.set_alpha_pb2 import SetAlphaCalculatorOptions
from penstock_image.painting.set_alpha import SetAlphaCalculator
from penstock_testing import run_calculator

RANDOM = np.random.default_rng(4)
RGB = RANDOM.integers(0, 256, (5, 7, 3)).astype(np.uint8)
RGBA = RANDOM.integers(0, 256, (5, 7, 4)).astype(np.uint8)
MASK = RANDOM.integers(0, 256, (5, 7)).astype(np.uint8)


def run(pixels=RGB, alpha=None, headers=None, **options):
    inputs = {"IMAGE": [(1, ImageFrame(pixels))]}
    if alpha is not None:
        inputs["ALPHA"] = alpha
    return run_calculator(
        SetAlphaCalculator,
        inputs,
        outputs=["IMAGE"],
        options=SetAlphaCalculatorOptions(**options),
        headers=headers,
    )


def image(pixels=RGB, alpha=None, **options) -> np.ndarray:
    (packet,) = run(pixels, alpha, **options).outputs["IMAGE"]
    assert packet.timestamp == 1
    assert packet.payload.format is ImageFormat.SRGBA
    assert not np.shares_memory(packet.payload.array, pixels)
    return packet.payload.array


@pytest.mark.parametrize("pixels", [RGB, RGBA, RGBA.transpose(1, 0, 2)], ids=["SRGB", "SRGBA", "transposed"])
@pytest.mark.parametrize(("value", "want"), [(0, 0), (7, 7), (255, 255), (300, 255)])
def test_one_value_is_the_alpha_of_all_pixels_and_the_colours_stay(pixels, value, want):
    found = image(pixels, alpha_value=value)

    assert np.array_equal(found[..., :3], pixels[..., :3])
    assert (found[..., 3] == want).all()


@pytest.mark.parametrize("pixels", [RGB, RGBA], ids=["SRGB", "SRGBA"])
def test_a_mask_is_the_alpha(pixels):
    found = image(pixels, [(1, ImageFrame(MASK))])

    assert np.array_equal(found, np.dstack([pixels[..., :3], MASK]))


@pytest.mark.reference(
    "calculators/image/set_alpha_calculator_test.cc",
    "SetAlphaCalculatorTest.CpuRgb",
    "SetAlphaCalculatorTest.CpuRgba",
)
@pytest.mark.parametrize("channels", [3, 4])
def test_the_mask_of_the_reference_is_the_alpha(channels):
    pixels = (np.arange(100 * 100 * channels) % 256).astype(np.uint8).reshape(100, 100, channels)
    mask = (np.arange(100 * 100) % 256).astype(np.uint8).reshape(100, 100)

    found = image(pixels, [(1, ImageFrame(mask))])

    assert np.array_equal(found, np.dstack([pixels[..., :3], mask]))


def test_of_a_mask_with_several_channels_the_first_counts():
    of_colour = image(alpha=[(1, ImageFrame(RGBA))])
    of_flow = image(alpha=[(1, ImageFrame(np.dstack([MASK, RGB[..., 0]]).astype(np.float32) / 255))])

    assert np.array_equal(of_colour[..., 3], RGBA[..., 0])
    assert np.array_equal(of_flow[..., 3], MASK)


def test_a_mask_of_floats_is_rounded_with_halves_up_as_in_the_reference():
    mask = np.tile(np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1 / 3, 1], np.float32), (5, 1))

    found = image(alpha=[(1, ImageFrame(mask))])

    assert found[2, :, 3].tolist() == [26, 77, 128, 179, 230, 85, 255]  # of mediapipe 0.10.21


def test_a_mask_of_floats_outside_of_0_to_1_counts_as_the_nearest_of_them():
    mask = np.tile(np.array([-0.1, 1.3, -9, 1e9, np.nan, -np.inf, np.inf], np.float32), (5, 1))

    assert image(alpha=[(1, ImageFrame(mask))])[0, :, 3].tolist() == [0, 255, 0, 255, 0, 0, 255]


def test_a_frame_without_its_mask_is_transparent_as_in_the_reference():
    assert (image(alpha=[])[..., 3] == 0).all()


def test_frames_of_another_size_follow_each_other():
    small = ImageFrame(np.zeros((2, 3, 3), np.uint8))

    result = run_calculator(
        SetAlphaCalculator,
        {"IMAGE": [(1, ImageFrame(RGB)), (2, small)]},
        outputs=["IMAGE"],
        options=SetAlphaCalculatorOptions(alpha_value=9),
    )

    assert [p.payload.array.shape for p in result.outputs["IMAGE"]] == [(5, 7, 4), (2, 3, 4)]


def test_a_mask_without_a_frame_sends_nothing_and_headers_get_the_format():
    header = VideoHeader(ImageFormat.SRGB, 7, 5, 30.0)

    result = run_calculator(
        SetAlphaCalculator,
        {"IMAGE": [], "ALPHA": [(1, ImageFrame(MASK))]},
        outputs=["IMAGE"],
        headers={"IMAGE": header},
    )

    assert result.outputs["IMAGE"] == []
    assert result.headers["IMAGE"] == VideoHeader(ImageFormat.SRGBA, 7, 5, 30.0)


@pytest.mark.parametrize(
    ("alpha", "options", "message"),
    [
        (None, {}, r"alpha_value is -1, and input ALPHA is not connected, but exactly one of them gives"),
        ([], {"alpha_value": 3}, r"alpha_value is 3, and input ALPHA is connected, but exactly one of them"),
        (
            [(1, ImageFrame(MASK.astype(np.uint16)))],
            {},
            r"input 'ALPHA' holds .*GRAY16.* but takes frames of GRAY8",
        ),
        (
            [(1, ImageFrame(MASK[:2]))],
            {},
            r"'ALPHA' holds .*7x2.*, but input 'IMAGE' .*7x5.*; make both frames the",
        ),
    ],
)
def test_what_gives_no_alpha_is_refused(alpha, options, message):
    with pytest.raises(GraphRunError, match=message):
        run(alpha=alpha, **options)


def test_a_grey_frame_is_refused_with_the_cure():
    with pytest.raises(
        GraphRunError,
        match=r"takes frames of SRGB or SRGBA; put a ColorConvertCalculator before",
    ):
        run(MASK, alpha_value=1)


def test_images_on_the_gpu_are_refused():
    with pytest.raises(GraphConfigError, match=r"ALPHA_GPU and IMAGE_GPU are connected, but this calculator"):
        run_calculator(SetAlphaCalculator, {"IMAGE_GPU": [], "ALPHA_GPU": []}, outputs=["IMAGE_GPU"])
