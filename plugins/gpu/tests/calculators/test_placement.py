"""Sizes that would take too much memory are refused before any is taken."""

from __future__ import annotations

import pytest

from penstock.errors import ResourceExhaustedError
from penstock_gpu.calculators.placement import Placement, checked_size


def test_a_size_of_too_many_pixels_is_refused():
    assert checked_size((16384, 8192)) == (16384, 8192)
    with pytest.raises(ResourceExhaustedError, match="output dimensions: a frame of 2147483647x2147483647"):
        checked_size((2**31 - 1, 2**31 - 1))


def test_a_scale_that_makes_too_many_pixels_is_refused_when_the_image_comes():
    placement = Placement(scale=1e9)
    with pytest.raises(ResourceExhaustedError, match=r"output_scale 1e\+09: a frame of"):
        placement.size_of(4, 4)

    assert Placement(scale=2.0).size_of(100, 50) == (200, 100)
