"""Landmarks as an array and back: the fast form, and the one for landmarks with different fields."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock_formats import Landmark, LandmarkList, NormalizedLandmarkList
from penstock_vision.landmarks.landmark_table import FIELDS, LandmarkTable, X, Z

EVEN = {
    "nothing": [{}, {}],
    "x and y": [{"x": 1, "y": 2}, {"x": -1.5, "y": 0}],
    "x, y, z": [{"x": 1, "y": 2, "z": 3}] * 21,
    "all": [dict.fromkeys(FIELDS, 0.1), dict.fromkeys(FIELDS, -0.0)],
    "with a gap": [{"x": 1, "presence": 2}, {"x": 3, "presence": 4}],
    "one": [{"z": 5}],
}
UNEVEN = {
    "another field": [{"x": 1}, {"y": 1}],
    "fewer fields": [{"x": 1, "y": 2}, {"x": 1}],
    "some without": [{}, {"x": 1}],
    "of the same length": [{"x": 1, "y": 2}, {"x": 1, "z": 2}],
}


@pytest.mark.parametrize("kind", [LandmarkList, NormalizedLandmarkList])
@pytest.mark.parametrize("landmarks", [*EVEN.values(), *UNEVEN.values(), []], ids=[*EVEN, *UNEVEN, "empty"])
def test_a_list_comes_back_as_it_was(kind, landmarks):
    given = kind(landmark=landmarks)

    table = LandmarkTable.of(given)

    assert table.values.shape == (len(landmarks), 5)
    assert table.make(kind) == given
    assert [list(row) for row in table.values.tolist()] == [
        [getattr(one, field) for field in FIELDS] for one in given.landmark
    ]


@pytest.mark.parametrize("landmarks", [EVEN["x, y, z"], EVEN["with a gap"], EVEN["all"]])
def test_landmarks_with_the_same_fields_are_read_at_once(landmarks):
    assert isinstance(LandmarkTable.of(LandmarkList(landmark=landmarks)).present, tuple)


@pytest.mark.parametrize("landmarks", UNEVEN.values(), ids=UNEVEN)
def test_landmarks_with_different_fields_are_read_one_by_one(landmarks):
    present = LandmarkTable.of(LandmarkList(landmark=landmarks)).present

    assert present.tolist() == [[field in one for field in FIELDS] for one in landmarks]


@pytest.mark.parametrize("landmarks", [EVEN["x and y"], UNEVEN["another field"]])
def test_a_field_that_is_given_to_all_is_there(landmarks):
    table = LandmarkTable.of(LandmarkList(landmark=landmarks))

    table.values[:, Z] = 7
    table.have(Z)

    assert all(one.HasField("z") and one.z == 7 for one in table.make(LandmarkList).landmark)


@pytest.mark.parametrize("landmarks", [EVEN["x and y"], UNEVEN["another field"]])
def test_only_the_first_landmarks_can_be_kept(landmarks):
    table = LandmarkTable.of(LandmarkList(landmark=landmarks))

    table.cut(1)

    assert table.make(LandmarkList) == LandmarkList(landmark=landmarks[:1])


def test_every_number_of_32_bits_keeps_its_bits():
    numbers = np.array([math.inf, -math.inf, 1e-45, 3.4028235e38, 0.1], np.float32)
    table = LandmarkTable.of(LandmarkList(landmark=[{"x": float(one)} for one in numbers]))

    assert table.values[:, X].tobytes() == numbers.tobytes()
    assert LandmarkTable.of(LandmarkList(landmark=[{"x": math.nan}])).make(LandmarkList).landmark[0].x != 0


def test_the_array_is_not_the_memory_of_the_message():
    given = LandmarkList(landmark=[{"x": 1, "y": 1, "z": 1}])

    LandmarkTable.of(given).values[:] = 5

    assert given.landmark[0] == Landmark(x=1, y=1, z=1)


@pytest.mark.parametrize("landmarks", [*EVEN.values(), *UNEVEN.values()], ids=[*EVEN, *UNEVEN])
def test_a_table_from_which_all_is_cut_is_an_empty_list(landmarks):
    table = LandmarkTable.of(LandmarkList(landmark=landmarks))
    table.cut(0)

    assert table.make(LandmarkList) == LandmarkList()
