"""The bilateral filter, luminance and Sobel edges, beside computations of each pixel in NumPy."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.filters.bilateral_filter import BilateralFilterCalculator
from penstock_image.filters.luminance import LuminanceCalculatorCpu
from penstock_image.filters.sobel_edges import SobelEdgesCalculatorCpu
from penstock_image.messages.bilateral_filter_pb2 import BilateralFilterCalculatorOptions
from penstock_testing import run_calculator

RANDOM = np.random.default_rng(4)
RGB = RANDOM.integers(0, 256, (12, 15, 3)).astype(np.uint8)
RGBA = RANDOM.integers(0, 256, (12, 15, 4)).astype(np.uint8)
GRAY = RANDOM.integers(0, 256, (12, 15)).astype(np.uint8)
HEADER = VideoHeader(ImageFormat.SRGB, 15, 12, 30.0)


def image(calculator, pixels, tag="VIDEO", options=None) -> np.ndarray:
    """Return the pixels that come out, checked to be at the time and of the format of those that went in."""
    frame = pixels if isinstance(pixels, ImageFrame) else ImageFrame(pixels)
    result = run_calculator(calculator, {tag: [(1, frame)]}, outputs=[tag], options=options)
    (packet,) = result.outputs[tag]
    assert packet.timestamp == 1
    assert packet.payload.format is (frame.format if tag == "IMAGE" else ImageFormat.GRAY8)
    return packet.payload.array


# --- the bilateral filter -----------------------------------------------------------------------------


def smooth(pixels, **options) -> np.ndarray:
    chosen = BilateralFilterCalculatorOptions(**{"sigma_color": 0.2, "sigma_space": 2, **options})
    return image(BilateralFilterCalculator, pixels, "IMAGE", chosen)


def filtered(gray, color, radius, sigma):
    """Return the bilateral filter of a grey image, pixel by pixel: an independent computation."""
    wide = np.pad(gray.astype(np.float64), radius, mode="reflect")
    found = np.empty(gray.shape)
    for y, x in np.ndindex(gray.shape):
        total = weights = 0.0
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if math.hypot(dy, dx) > radius:
                    continue
                value = wide[y + radius + dy, x + radius + dx]
                difference = value - float(gray[y, x])
                weight = math.exp(-(dx**2 + dy**2) / (2 * sigma**2) - difference**2 / (2 * color**2))
                total, weights = total + weight * value, weights + weight
        found[y, x] = total / weights
    return found


def test_each_pixel_becomes_a_weighted_mean_of_its_neighbours():
    assert np.abs(smooth(GRAY) - filtered(GRAY, 0.2 * 255, 2, 2)).max() <= 1


@pytest.mark.parametrize(
    "frame",
    [
        ImageFrame(GRAY),
        ImageFrame(RGB),
        ImageFrame(RGB, ImageFormat.LAB8),
        ImageFrame(RANDOM.random((12, 15)).astype(np.float32)),
    ],
    ids=lambda frame: frame.format.name,
)
def test_results_are_those_of_opencv_with_twice_the_radius_cut_off(frame):
    found = smooth(frame, sigma_space=2.8, sigma_color=0.1)

    want = cv2.bilateralFilter(frame.array, 5, np.float32(0.1) * 255.0, float(np.float32(2.8)))
    assert np.array_equal(found, want)
    assert not np.array_equal(found, frame.array)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma_color": -1}, r"sigma_color is -1 and sigma_space 2, but both must be 0 or more, and"),
        ({"sigma_space": math.nan}, r"sigma_color is 0.2 and sigma_space nan, but both must be 0 or more"),
        (
            {"sigma_space": 101},
            r"sigma_space 101, but both must be 0 or more, and sigma_space at most 100;",
        ),
    ],
)
def test_sigmas_out_of_range_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        smooth(GRAY, **options)


def test_other_formats_are_refused_by_the_bilateral_filter():
    with pytest.raises(
        GraphRunError,
        match=r"takes frames of GRAY8 or SRGB or LAB8 or VEC32F1; put a ColorConvert",
    ):
        smooth(RGBA)


def test_a_guide_is_refused():
    with pytest.raises(
        GraphConfigError, match=r"GUIDE is connected, but there is no joint filter in main mem"
    ):
        run_calculator(BilateralFilterCalculator, {"IMAGE": [], "GUIDE": []}, outputs=["IMAGE"])


# --- luminance ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pixels", [RGB, RGBA], ids=["SRGB", "SRGBA"])
def test_luminance_is_the_weighted_sum_of_the_colours_rounded(pixels):
    found = image(LuminanceCalculatorCpu, pixels)

    want = pixels[..., :3].astype(np.float64) @ np.array([0.2125, 0.7154, 0.0721])
    assert np.abs(found - want).max() <= 0.501


def test_a_grey_frame_is_its_own_luminance():
    frame = ImageFrame(GRAY)
    result = run_calculator(LuminanceCalculatorCpu, {0: [(1, frame)]}, outputs=[0], headers={0: HEADER})

    assert result.outputs[0][0].payload is frame
    assert result.headers[0] == VideoHeader(ImageFormat.GRAY8, 15, 12, 30.0)


def test_other_formats_have_no_luminance():
    with pytest.raises(
        GraphRunError,
        match=r"takes frames of SRGB or SRGBA or GRAY8; put a ColorMapCalculator",
    ):
        image(LuminanceCalculatorCpu, GRAY.astype(np.uint16))


# --- Sobel edges --------------------------------------------------------------------------------------


def gradient(gray):
    """Return the length of the Sobel gradient of each pixel, by loops over the kernel."""
    wide = np.pad(gray.astype(np.float64), 1, mode="edge")
    across, down = np.zeros(gray.shape), np.zeros(gray.shape)
    high, long = gray.shape
    for (y, x), weight in np.ndenumerate(np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])):
        across += weight * wide[y : y + high, x : x + long]
        down += weight * wide[x : x + high, y : y + long]
    return np.hypot(across, down)


def test_edges_are_the_length_of_the_gradient_rounded_and_at_most_255():
    mild = GRAY // 8

    assert np.abs(image(SobelEdgesCalculatorCpu, mild) - gradient(mild)).max() <= 0.501
    assert np.abs(image(SobelEdgesCalculatorCpu, GRAY) - np.minimum(gradient(GRAY), 255)).max() <= 0.501


def test_edges_of_colours_are_refused_with_the_cure():
    with pytest.raises(
        GraphRunError,
        match=r"takes frames of GRAY8; put a LuminanceCalculatorCpu before",
    ):
        image(SobelEdgesCalculatorCpu, RGB)


def test_the_header_of_edges_is_forwarded():
    header = VideoHeader(ImageFormat.GRAY8, 15, 12, 30.0)

    result = run_calculator(SobelEdgesCalculatorCpu, {0: []}, outputs=[0], headers={0: header})

    assert result.headers[0] == header
