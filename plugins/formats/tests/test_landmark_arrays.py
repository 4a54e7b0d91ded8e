"""Lists of landmarks from and to arrays: the same messages as those made field by field."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock_formats import Landmark, LandmarkList, NormalizedLandmark, NormalizedLandmarkList
from penstock_formats.landmark_arrays import landmark_array, landmark_list

NAMES = ("x", "y", "z", "visibility", "presence")


@pytest.mark.parametrize("width", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("kind", "point"), [(LandmarkList, Landmark), (NormalizedLandmarkList, NormalizedLandmark)]
)
def test_a_list_has_the_fields_that_the_array_has(kind, point, width):
    points = np.random.default_rng(1).normal(size=(478, width)).astype(np.float32)
    points[0] = [0.0, -0.0, np.inf, -np.inf, 1e-45][:width]

    made = landmark_list(kind, points)

    assert made == kind(landmark=[point(**dict(zip(NAMES, map(float, row), strict=False))) for row in points])
    assert [made.landmark[0].HasField(name) for name in NAMES] == [i < width for i in range(5)]
    back = landmark_array(made)
    assert np.array_equal(back[:, :width], points)
    assert np.array_equal(np.signbit(back[:, :width]), np.signbit(points))
    assert not back[:, width:].any()


def test_a_number_that_is_none_stays_none():
    points = np.full((2, 3), np.nan, np.float32)

    assert np.isnan(landmark_array(landmark_list(LandmarkList, points))[:, :3]).all()


def test_no_point_is_an_empty_list():
    assert landmark_list(LandmarkList, np.zeros((0, 3), np.float32)) == LandmarkList()
    assert landmark_array(LandmarkList()).shape == (0, 5)


fields = st.dictionaries(st.sampled_from(NAMES), st.floats(width=32, allow_nan=False))


@given(st.lists(fields, max_size=6))
def test_points_with_any_fields_are_read(points):
    made = NormalizedLandmarkList(landmark=[NormalizedLandmark(**point) for point in points])

    wanted = [[point.get(name, 0.0) for name in NAMES] for point in points]
    assert np.array_equal(landmark_array(made), np.array(wanted, np.float32).reshape(-1, 5))


def test_fields_that_a_later_version_added_do_not_disturb():
    made = NormalizedLandmarkList(landmark=[NormalizedLandmark(x=1, y=2, z=3)])
    point = bytes(made.landmark[0].SerializeToString()) + b"\x35\x00\x00\x80\x3f"  # field 6, a float
    with_more = NormalizedLandmarkList.FromString(b"\x0a" + bytes([len(point)]) + point)

    assert landmark_array(with_more).tolist() == [[1, 2, 3, 0, 0]]
