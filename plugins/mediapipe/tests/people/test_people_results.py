"""PeopleResultsCalculator: results as numbers and texts that JSON has."""

from __future__ import annotations

import json
import pickle

import pytest

from penstock.errors import GraphRunError
from penstock_formats import ClassificationList, LandmarkList, NormalizedLandmarkList
from penstock_people.results import PeopleResultsCalculator
from penstock_testing import run_calculator

POINTS = NormalizedLandmarkList(landmark=[{"x": 0.1234567, "y": 0.5, "z": -0.25}])
WORLD = LandmarkList(landmark=[{"x": 0.5, "y": 0.25, "z": 0.125, "visibility": 0.75}])
LEFT = ClassificationList(classification=[{"label": "Left", "score": 0.5}, {"label": "Right", "score": 0.25}])


def results(**inputs: object) -> object:
    run = run_calculator(
        PeopleResultsCalculator,
        {"FRAME": [(1, "frame"), (2, "frame")], **{tag: [(1, payload)] for tag, payload in inputs.items()}},
        outputs=["RESULTS"],
    )
    first, second = run.outputs["RESULTS"]
    assert (first.timestamp, second.timestamp) == (1, 2)
    assert second.payload == []
    return json.loads(json.dumps(first.payload))


def test_lists_give_a_result_for_each_element():
    assert results(
        LANDMARKS=[POINTS, POINTS],
        WORLD_LANDMARKS=[WORLD, WORLD],
        CLASSIFICATIONS=[LEFT, ClassificationList()],
    ) == [
        {
            "label": "Left",
            "score": 0.5,
            "landmarks": [[0.123457, 0.5, -0.25]],
            "world_landmarks": [[0.5, 0.25, 0.125, 0.75]],
        },
        {"landmarks": [[0.123457, 0.5, -0.25]], "world_landmarks": [[0.5, 0.25, 0.125, 0.75]]},
    ]


def test_a_name_goes_with_the_results_of_its_picture_also_where_nothing_was_found():
    run = run_calculator(
        PeopleResultsCalculator,
        {"FRAME": [(1, 0), (2, 0)], "LANDMARKS": [(1, [POINTS])], "NAME": [(1, "a.jpg"), (2, "b.jpg")]},
        outputs=["RESULTS"],
    )

    first, second = (packet.payload for packet in run.outputs["RESULTS"])
    assert (first.picture, len(first)) == ("a.jpg", 1)
    assert (second.picture, second) == ("b.jpg", [])
    again = pickle.loads(pickle.dumps(first))  # noqa: S301  # just made
    assert (again.picture, again) == (first.picture, first)


def test_single_landmarks_give_one_result():
    assert results(SINGLE_LANDMARKS=POINTS, SINGLE_WORLD_LANDMARKS=WORLD) == [
        {"landmarks": [[0.123457, 0.5, -0.25]], "world_landmarks": [[0.5, 0.25, 0.125, 0.75]]}
    ]


def test_landmarks_without_a_frame_give_nothing():
    run = run_calculator(
        PeopleResultsCalculator, {"FRAME": [], "LANDMARKS": [(1, [POINTS])]}, outputs=["RESULTS"]
    )

    assert run.outputs["RESULTS"] == []


def test_unequal_numbers_are_refused():
    with pytest.raises(
        GraphRunError, match="numbers of results are CLASSIFICATIONS 1, LANDMARKS 2, but must"
    ):
        results(LANDMARKS=[POINTS, POINTS], CLASSIFICATIONS=[LEFT])
