"""SobelEdgesCalculator against the filter written out pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest

from penstock_gpu.calculators.luminance import LuminanceCalculator
from penstock_gpu.calculators.sobel_edges import SobelEdgesCalculator

#: Levels by which the result may differ from the exact value, rounded.
TOLERANCE = 1
ACROSS = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


pytestmark = pytest.mark.heavy


def edges(red):
    """Return the exact length of the gradient of (H, W) bytes, at most 255, the border repeated."""
    height, width = red.shape
    found = np.empty((height, width))
    for y in range(height):
        for x in range(width):
            rows = np.clip([y - 1, y, y + 1], 0, height - 1)
            columns = np.clip([x - 1, x, x + 1], 0, width - 1)
            around = red[np.ix_(rows, columns)].astype(float)
            found[y, x] = np.hypot((around * ACROSS).sum(), (around * ACROSS.T).sum())
    return np.minimum(found, 255)


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 5), (9, 1), (2, 2), (31, 17), (64, 9)])
def test_the_length_of_the_gradient_of_red_comes_out_grey_and_opaque(run, random, width, height):
    # a mild image, so that not all of it is cut off at 255
    pixels = random.integers(0, 60, (height, width, 4), np.uint8)

    found = run.image(SobelEdgesCalculator, {"VIDEO": pixels})

    exact = edges(pixels[..., 0])
    assert found.shape == (height, width, 4)
    assert np.abs(found[..., 0] - np.rint(exact)).max() <= TOLERANCE
    assert np.array_equal(found[..., 0], found[..., 1])
    assert np.array_equal(found[..., 0], found[..., 2])
    assert (found[..., 3] == 255).all()


def test_values_are_rounded_not_cut_off(run, random):
    pixels = random.integers(0, 30, (60, 80), np.uint8)

    found = run.image(SobelEdgesCalculator, {"VIDEO": pixels})

    assert abs((found[..., 0] - edges(pixels)).mean()) < 0.05


def test_strong_edges_are_cut_off_at_white(run):
    pixels = np.zeros((4, 6), np.uint8)
    pixels[:, 3:] = 255

    found = run.image(SobelEdgesCalculator, {"VIDEO": pixels})

    assert (found[:, 2:4, 0] == 255).all()
    assert not found[:, [0, 1, 4, 5], 0].any()


def test_green_and_blue_do_not_count(run):
    pixels = np.zeros((5, 5, 3), np.uint8)
    pixels[2, 2, 1:] = 200

    assert not run.image(SobelEdgesCalculator, {"VIDEO": pixels})[..., :3].any()


def test_an_image_of_floats_is_filtered_like_one_of_bytes(run, random):
    pixels = random.integers(0, 60, (7, 8), np.uint8)

    found = run.image(SobelEdgesCalculator, {"VIDEO": (pixels / 255).astype(np.float32)})

    assert np.abs(found[..., 0] - np.rint(edges(pixels))).max() <= TOLERANCE


def test_edges_of_a_luminance_are_those_of_the_grey_image(run, random):
    pixels = random.integers(0, 60, (12, 10, 4), np.uint8)
    grey = run(LuminanceCalculator, {"VIDEO": [(0, pixels)]}).outputs["VIDEO"][0].payload

    found = run.image(SobelEdgesCalculator, {"VIDEO": grey})

    assert np.abs(found[..., 0] - np.rint(edges(grey.array()[..., 0]))).max() <= TOLERANCE


def test_a_timestamp_without_an_image_gives_nothing_and_sizes_may_change(run):
    images = [(1, np.zeros((3, 4), np.uint8)), (5, np.zeros((1, 2), np.uint8))]

    packets = run(SobelEdgesCalculator, {"VIDEO": images}).outputs["VIDEO"]

    assert [(int(p.timestamp), p.payload.width, p.payload.height) for p in packets] == [(1, 4, 3), (5, 2, 1)]
