"""LandmarksRefinementCalculator: later lists overwrite landmarks, and three ways to make z."""

from __future__ import annotations

import pytest

from penstock.errors import GraphRunError
from penstock_formats import NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.landmarks.landmarks_refinement import LandmarksRefinementCalculator
from penstock_vision.messages.landmarks_refinement_pb2 import LandmarksRefinementCalculatorOptions

NONE, COPY = {"none": {}}, {"copy": {}}


def average(*indices):
    return {"assign_average": {"indexes_for_average": indices}}


def refined(*lists, refinements):
    """Return the landmarks (x, y, z or None) made of lists of (x, y, z); a list of None has no packet."""
    feeds = {}
    for i, points in enumerate(lists):
        landmarks = [dict(zip("xyz", point, strict=True)) for point in points or ()]
        packets = [] if points is None else [(3, NormalizedLandmarkList(landmark=landmarks))]
        feeds[f"LANDMARKS:{i}"] = packets
    given = [{"indexes_mapping": mapping, "z_refinement": z} for mapping, z in refinements]
    run = run_calculator(
        LandmarksRefinementCalculator,
        feeds,
        outputs=["REFINED_LANDMARKS"],
        options=LandmarksRefinementCalculatorOptions(refinement=given),
    )
    return [
        [(one.x, one.y, one.z if one.HasField("z") else None) for one in packet.payload.landmark]
        for packet in run.outputs["REFINED_LANDMARKS"]
    ]


def test_landmarks_go_where_the_mapping_says():
    found = refined([(1, 2, 3), (4, 5, 6)], refinements=[([1, 0], COPY)])

    assert found == [[(4, 5, 6), (1, 2, 3)]]


def test_a_later_list_overwrites_x_and_y_and_leaves_z():
    found = refined([(1, 2, 3), (4, 5, 6)], [(7, 8, 9)], refinements=[([0, 1], COPY), ([1], NONE)])

    assert found == [[(1, 2, 3), (7, 8, 6)]]


def test_without_a_z_there_is_none():
    assert refined([(1, 2, 3)], refinements=[([0], NONE)]) == [[(1, 2, None)]]
    assert refined([(1, 2, 3)], [(4, 5, 6)], refinements=[([0], NONE), ([1], COPY)]) == [
        [(1, 2, None), (4, 5, 6)]
    ]


def test_an_average_is_that_of_landmarks_of_the_result_so_far():
    found = refined(
        [(0, 0, 1), (0, 0, 2)],
        [(5, 5, 9), (6, 6, 9)],
        refinements=[([0, 1], COPY), ([2, 3], average(0, 1))],
    )

    assert found == [[(0, 0, 1), (0, 0, 2), (5, 5, 1.5), (6, 6, 1.5)]]


def test_all_lists_are_needed():
    assert refined([(1, 2, 3)], None, refinements=[([0], COPY), ([0], NONE)]) == []


def test_visibility_is_left_out():
    run = run_calculator(
        LandmarksRefinementCalculator,
        {"LANDMARKS": [(1, NormalizedLandmarkList(landmark=[{"x": 1, "visibility": 1, "presence": 1}]))]},
        outputs=["REFINED_LANDMARKS"],
        options=LandmarksRefinementCalculatorOptions(
            refinement=[{"indexes_mapping": [0], "z_refinement": COPY}]
        ),
    )

    (one,) = run.outputs["REFINED_LANDMARKS"][0].payload.landmark
    assert [field.name for field, _ in one.ListFields()] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("refinements", "message"),
    [
        ([], "there are 0 refinements in the options, but 1 inputs LANDMARKS"),
        ([([], COPY)], "refinement 0 has no indexes_mapping"),
        ([([0], {})], "refinement 0 has no z_refinement, but one is needed"),
        ([([1], COPY)], "have 1 indices from 1 to 1, but 0 is missing"),
        ([([0, 2], COPY)], "have 2 indices from 0 to 2, but 1 is missing"),
        ([([-1, 0], COPY)], "have 2 indices from -1 to 0, but 1 is missing"),
        ([([0], average())], "has assign_average without indexes_for_average"),
        ([([0], average(1))], "has indexes_for_average from 1 to 1, but the result has the indices 0 to 0"),
        ([([0, 1], COPY)], "holds 1 landmarks, but its indexes_mapping 2"),
    ],
)
def test_refinements_that_do_not_fit_are_refused(refinements, message):
    with pytest.raises(GraphRunError, match=message):
        refined([(1, 2, 3)], refinements=refinements)
