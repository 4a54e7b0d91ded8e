"""Lists of landmarks from and to arrays: the same messages as those made field by field."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock_formats import Landmark, LandmarkList, NormalizedLandmark, NormalizedLandmarkList
from penstock_formats.landmark_arrays import array_of, list_of

NAMES = ("x", "y", "z", "visibility", "presence")


@pytest.mark.parametrize("width", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("kind", "point"), [(LandmarkList, Landmark), (NormalizedLandmarkList, NormalizedLandmark)]
)
def test_a_list_has_the_fields_that_the_array_has(kind, point, width):
    points = np.random.default_rng(1).normal(size=(478, width)).astype(np.float32)
    points[0] = [0.0, -0.0, np.inf, -np.inf, 1e-45][:width]

    made = list_of(kind, points)

    assert made == kind(landmark=[point(**dict(zip(NAMES, map(float, row), strict=False))) for row in points])
    assert [made.landmark[0].HasField(name) for name in NAMES] == [i < width for i in range(5)]
    back = array_of(made)
    assert np.array_equal(back[:, :width], points)
    assert np.array_equal(np.signbit(back[:, :width]), np.signbit(points))
    assert not back[:, width:].any()


def test_a_number_that_is_none_stays_none():
    points = np.full((2, 3), np.nan, np.float32)

    assert np.isnan(array_of(list_of(LandmarkList, points))[:, :3]).all()


def test_no_point_is_an_empty_list():
    assert list_of(LandmarkList, np.zeros((0, 3), np.float32)) == LandmarkList()
    assert array_of(LandmarkList()).shape == (0, 5)


fields = st.dictionaries(st.sampled_from(NAMES), st.floats(width=32, allow_nan=False))


@given(st.lists(fields, max_size=6))
def test_points_with_any_fields_are_read(points):
    made = NormalizedLandmarkList(landmark=[NormalizedLandmark(**point) for point in points])

    wanted = [[point.get(name, 0.0) for name in NAMES] for point in points]
    assert np.array_equal(array_of(made), np.array(wanted, np.float32).reshape(-1, 5))


def test_fields_that_a_later_version_added_do_not_disturb():
    made = NormalizedLandmarkList(landmark=[NormalizedLandmark(x=1, y=2, z=3)])
    point = bytes(made.landmark[0].SerializeToString()) + b"\x35\x00\x00\x80\x3f"  # field 6, a float
    with_more = NormalizedLandmarkList.FromString(b"\x0a" + bytes([len(point)]) + point)

    assert array_of(with_more).tolist() == [[1, 2, 3, 0, 0]]
