"""The custom operation Resampler: values at points, between pixels and beyond the edge."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_tensors.models.resampler import resampler

IMAGE = np.arange(12, dtype=np.float32).reshape(1, 2, 3, 2)


def at(*points, image=IMAGE):
    """Return the values at some points; all others are far outside."""
    given = np.full((*image.shape[:3], 2), -9, np.float32)
    given.reshape(-1, 2)[: len(points)] = points
    (found,) = resampler({})([image, given])
    assert found.dtype == np.float32
    return found.reshape(-1, image.shape[3])[: len(points)].tolist()


def test_pixels_are_read_where_points_are_whole():
    assert at((0, 0), (2, 0), (1, 1)) == [[0, 1], [4, 5], [8, 9]]


def test_values_between_pixels_are_bilinear():
    assert at((0.5, 0), (0, 0.25), (1.5, 0.5)) == [[1, 2], [1.5, 2.5], [6, 7]]


def test_pixels_beyond_the_edge_are_0():
    assert at((-0.5, 0), (2.5, 1), (0, 1.75)) == [[0, 0.5], [5, 5.5], [1.5, 1.75]]


@pytest.mark.parametrize("point", [(-1, 0), (0, -1), (3, 0), (0, 2), (np.nan, 0), (np.inf, 0)])
def test_a_point_a_pixel_outside_gives_0(point):
    assert at(point) == [[0, 0]]


def test_each_image_of_a_batch_has_points_of_its_own():
    points = np.zeros((2, 1, 1, 2), np.float32)
    points[1] = -0.5

    (found,) = resampler({})([np.array([8, 16], np.float32).reshape(2, 1, 1, 1), points])

    assert found.ravel().tolist() == [8, 4]


@pytest.mark.parametrize("shape", [(1, 2, 3, 3), (1, 2, 2, 2), (2, 3, 2)])
def test_points_of_another_shape_are_refused(shape):
    with pytest.raises(InvalidArgumentError, match="the operation Resampler got an image of shape"):
        resampler({})([IMAGE, np.zeros(shape, np.float32)])
