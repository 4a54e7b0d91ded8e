"""Regions of images: where they are, how they grow, and what their matrices do."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedRect
from penstock_tensors.inputs.image_region import (
    Region,
    corners,
    cut_out,
    padded,
    region_matrix,
    region_of,
    region_transform,
    tensor_corners,
)


def test_without_a_rect_the_region_is_the_whole_image():
    assert region_of(None, 640, 480) == Region(320.0, 240.0, 640.0, 480.0, 0.0)


def test_a_rect_is_scaled_to_pixels_in_float32():
    rect = NormalizedRect(x_center=0.1, y_center=0.7, width=0.3, height=0.9, rotation=0.5)

    region = region_of(rect, 333, 77)

    assert region.center_x == float(np.float32(0.1) * np.float32(333))
    assert region.height == float(np.float32(0.9) * np.float32(77))
    assert region.rotation == 0.5


@pytest.mark.parametrize(
    ("size", "tensor", "grown", "padding"),
    [
        ((200, 100), (50, 50), (200, 200), (0, 0.25, 0, 0.25)),
        ((100, 200), (50, 50), (200, 200), (0.25, 0, 0.25, 0)),
        ((100, 100), (80, 40), (200, 100), (0.25, 0, 0.25, 0)),
        ((100, 50), (20, 10), (100, 50), (0, 0, 0, 0)),
    ],
)
def test_a_region_grows_to_the_ratio_of_the_tensor(size, tensor, grown, padding):
    region, found = padded(Region(10, 20, *size, 0.3), *tensor)

    assert (region.width, region.height) == grown
    assert (region.center_x, region.center_y, region.rotation) == (10, 20, 0.3)
    assert found == padding


def test_a_region_without_area_cannot_grow():
    with pytest.raises(
        InvalidArgumentError, match=r"the image's region is 0 x 5 pixels, but .* both sides must be above 0"
    ):
        padded(Region(1, 1, 0, 5, 0), 8, 8)


def test_the_matrix_takes_the_corners_of_the_tensor_to_those_of_the_region():
    region = Region(300.0, 200.0, 120.0, 80.0, 0.6)
    matrix = np.array(region_matrix(region, 640, 480)).reshape(4, 4)

    for at, corner in zip([(0, 1), (0, 0), (1, 0), (1, 1)], corners(region), strict=True):
        x, y, _, _ = matrix @ (*at, 0, 1)
        assert (x * 640, y * 480) == pytest.approx(tuple(corner), abs=1e-3)


def test_a_turn_by_a_quarter_moves_the_top_left_corner_to_the_top_right():
    bottom_left, top_left, *_ = corners(Region(50.0, 50.0, 20.0, 20.0, math.pi / 2))

    assert tuple(top_left) == pytest.approx((60, 40), abs=1e-4)
    assert tuple(bottom_left) == pytest.approx((40, 40), abs=1e-4)


def test_a_region_without_rotation_is_cut_out_as_it_is():
    pixels = np.random.default_rng(1).integers(0, 256, (40, 50, 3)).astype(np.uint8)

    transform = region_transform(Region(20, 15, 16, 10, 0), tensor_corners(16, 10))
    found = cut_out(pixels, transform, (16, 10), cv2.BORDER_CONSTANT)

    assert np.array_equal(found, pixels[10:20, 12:28])
