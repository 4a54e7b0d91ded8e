"""FilterDetectionsCalculator, Filter...CollectionCalculator, TopKScoresCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import (
    ClassificationList,
    Detection,
    LandmarkList,
    LocationData,
    NormalizedLandmarkList,
    NormalizedRect,
)
from penstock_testing import run_calculator
from penstock_vision import filter_collection
from penstock_vision.detections.filter_detections import FilterDetectionsCalculator
from penstock_vision.detections.label_file import RESOURCES
from penstock_vision.detections.top_k_scores import TopKScoresCalculator
from penstock_vision.messages.filter_detections_pb2 import FilterDetectionsCalculatorOptions
from penstock_vision.messages.top_k_scores_pb2 import TopKScoresCalculatorOptions


def detection(width=1.0, height=1.0, *scores):
    made = Detection(score=scores)
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.width, box.height = width, height
    return made


def kept(given, size=(100, 50), **options):
    feeds = {"INPUT_DETECTIONS": [(1, given)]}
    if size is not None:
        feeds["IMAGE_SIZE"] = [(1, size)] if size else []
    run = run_calculator(
        FilterDetectionsCalculator,
        feeds,
        outputs=["OUTPUT_DETECTIONS"],
        options=FilterDetectionsCalculatorOptions(**options),
    )
    found = run.outputs["OUTPUT_DETECTIONS"][0].payload
    return [next(i for i, one in enumerate(given) if one is other) for other in found]


def test_detections_are_kept_from_a_score_on_by_their_first():
    given = [detection(1, 1, 0.25, 0.9), detection(1, 1, 0.5), detection(1, 1, 0.75)]

    assert kept(given, min_score=0.5) == [1, 2]


def test_detections_are_kept_in_a_range_of_sizes_both_ends_included():
    given = [detection(0.1, 0.1), detection(0.1, 0.4), detection(0.4, 0.1), detection(0.41, 0.1)]

    assert kept(given, min_pixel_size=20, max_pixel_size=40) == [1, 2]
    assert kept(given, max_pixel_size=20) == [0, 1]
    assert kept(given, min_pixel_size=40) == [2, 3]


def test_without_limits_all_are_kept_and_no_size_is_needed():
    assert kept([detection(), Detection()], size=None) == [0, 1]
    assert kept([detection()], size=()) == [0]


def test_a_score_is_needed_where_one_is_asked_for():
    with pytest.raises(GraphRunError, match="a detection to filter has no score, but min_score is set"):
        kept([detection()], min_score=0.5)


def test_limits_of_the_size_need_the_size_of_the_image():
    with pytest.raises(GraphConfigError, match="max_pixel_size of the filter is set, but there is no input"):
        kept([], size=None, max_pixel_size=1)
    with pytest.raises(GraphRunError, match="an image's size is"):
        kept([detection()], size=(), max_pixel_size=1)


@pytest.mark.reference(
    "calculators/util/filter_detections_calculator_test.cc",
    "FilterDetectionsCalculatorTest.TestFilterDetectionsScore",
    "FilterDetectionsCalculatorTest.TestFilterDetectionsScoreMultiple",
    "FilterDetectionsCalculatorTest.TestFilterDetectionsEmpty",
)
@pytest.mark.parametrize(
    ("scores", "expected"), [([0.2, 0.8], [1]), ([0.3, 0.4, 0.5, 0.6], [2, 3]), ([], [])]
)
def test_detections_with_just_the_score_are_kept_without_a_size(scores, expected):
    assert kept([Detection(score=[one]) for one in scores], size=None, min_score=0.5) == expected


@pytest.mark.reference(
    "calculators/util/filter_detections_calculator_test.cc",
    "FilterDetectionsCalculatorTest.TestFilterDetectionsMinSize",
)
def test_the_longer_side_must_be_long_enough_and_no_format_is_needed():
    sides = [(0.5, 0.49), (0.4, 0.4), (0.49, 0.5), (0.49, 0.49), (0.5, 0.5)]
    given = [
        Detection(location_data={"relative_bounding_box": {"height": height, "width": width}})
        for height, width in sides
    ]

    assert kept(given, size=(100, 100), min_pixel_size=50) == [0, 2, 4]


KINDS = {
    "UInt64": int,
    "NormalizedRect": NormalizedRect,
    "LandmarkList": LandmarkList,
    "NormalizedLandmarkList": NormalizedLandmarkList,
    "ClassificationList": ClassificationList,
}


def filtered(kind, elements, condition):
    calculator = getattr(filter_collection, f"Filter{kind}CollectionCalculator")
    feeds = {
        "ITERABLE": [(1, elements)] if elements is not None else [],
        "CONDITION": [(1, condition)] if condition is not None else [],
    }
    return [p.payload for p in run_calculator(calculator, feeds, outputs=["ITERABLE"]).outputs["ITERABLE"]]


@pytest.mark.parametrize("kind", KINDS)
def test_elements_are_kept_where_the_condition_is_true(kind):
    elements = [KINDS[kind]() for _ in range(3)]

    ((first, last),) = filtered(kind, elements, [True, False, True])

    assert first is elements[0]
    assert last is elements[2]


def test_a_list_without_a_condition_and_a_condition_without_a_list_give_nothing():
    assert filtered("UInt64", [1], None) == filtered("UInt64", None, [True]) == []
    assert filtered("UInt64", [], []) == [[]]


def test_as_many_conditions_as_elements_are_needed():
    with pytest.raises(
        GraphRunError, match=r"holds 2 elements and 'in_.' 1, but the filter of a collection needs"
    ):
        filtered("UInt64", [1, 2], [True])


# --- TopKScoresCalculator ----------------------------------------------------------------------------


def best(scores, outputs=("TOP_K_INDEXES", "TOP_K_SCORES"), **options):
    run = run_calculator(
        TopKScoresCalculator,
        {"SCORES": [(1, scores)]},
        outputs=list(outputs),
        options=TopKScoresCalculatorOptions(**options),
    )
    return [run.outputs[tag][0].payload for tag in outputs]


SCORES = [0.9, 0.2, 0.3, 1.0, 0.1]


@pytest.mark.reference(
    "calculators/util/top_k_scores_calculator_test.cc",
    "TopKScoresCalculatorTest.TestTopKOnly",
    "TopKScoresCalculatorTest.TestThresholdOnly",
    "TopKScoresCalculatorTest.TestBothTopKAndThreshold",
)
@pytest.mark.parametrize(
    ("options", "indices"),
    [
        ({"top_k": 2}, [3, 0]),
        ({"threshold": 0.2}, [3, 0, 2, 1]),
        ({"top_k": 4, "threshold": 0.3}, [3, 0, 2]),
        ({"top_k": 9}, [3, 0, 2, 1, 4]),
    ],
)
def test_the_best_scores_come_first(options, indices):
    found = best(SCORES, **options)

    assert found == [indices, [float(np.float32(SCORES[i])) for i in indices]]


@pytest.mark.parametrize(
    ("options", "cuts"),
    [
        ({"top_k": 2}, {"top_k is 2": 3}),
        ({"top_k": 2, "threshold": 0.2}, {"top_k is 2": 2}),
        ({"top_k": 5}, {}),
        ({"threshold": 0.5}, {}),
    ],
)
def test_the_ledger_has_what_only_top_k_left_out(options, cuts):
    run = run_calculator(
        TopKScoresCalculator,
        {"SCORES": [(1, SCORES)]},
        outputs=["TOP_K_INDEXES"],
        options=TopKScoresCalculatorOptions(**options),
    )

    assert run.cuts == cuts


def test_of_equal_scores_the_first_are_kept_and_the_last_of_them_comes_first():
    assert best([1.0, 1.0, 1.0, 2.0], top_k=3)[0] == [3, 2, 1]  # 2.0 pushes out the first
    assert best([1.0, 1.0, 1.0], top_k=2)[0] == [1, 0]


def test_random_scores_are_chosen_as_sorting_does():
    scores = np.random.default_rng(5).random(200).astype(np.float32)

    (indices,) = best(scores.tolist(), ["TOP_K_INDEXES"], top_k=20, threshold=0.3)

    order = [i for i in np.argsort(-scores) if scores[i] >= np.float32(0.3)]
    assert indices == order[:20]


@pytest.mark.parametrize("tag", ["CLASSIFICATIONS", "TOP_K_CLASSIFICATION"])
def test_classes_and_a_summary_without_labels(tag):
    classes, summary = best([0.123456789, 0.5], [tag, "SUMMARY"], top_k=2)

    found = [(one.index, one.score, one.HasField("label")) for one in classes.classification]
    assert found == [(1, 0.5, False), (0, float(np.float32(0.123456789)), False)]
    assert summary == "1:0.5,0:0.123457"


class Files:
    """A finder that has one file."""

    data = b"cup\ncan\n"

    def find(self, name, access):
        assert name == "labels.txt"
        return self


def test_labels_are_those_of_the_file_and_empty_behind_its_end():
    config = """
        input_stream: "in" output_stream: "labels" output_stream: "summary" output_stream: "classes"
        node {
          calculator: "TopKScoresCalculator" input_stream: "SCORES:in" output_stream: "TOP_K_LABELS:labels"
          output_stream: "SUMMARY:summary" output_stream: "CLASSIFICATIONS:classes"
          options { [penstock.TopKScoresCalculatorOptions.ext] { top_k: 2 label_map_path: "labels.txt" } }
        }
    """
    graph, seen = CalculatorGraph(config), {}
    graph.set_service(RESOURCES, Files())
    for name in ("labels", "summary", "classes"):
        graph.observe_output_stream(name, lambda stream, packet: seen.update({stream: packet.payload}))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet([0.0, 0.5, 0.75], 1))
    graph.close(60)

    assert seen["labels"] == ["", "can"]
    assert seen["summary"] == ":0.75,can:0.5"
    assert [one.label for one in seen["classes"].classification] == ["", "can"]


@pytest.mark.reference(
    "calculators/util/top_k_scores_calculator_test.cc", "TopKScoresCalculatorTest.TestNodeConfig"
)
@pytest.mark.parametrize(
    ("options", "outputs", "message"),
    [
        ({}, ["TOP_K_INDEXES", "TOP_K_SCORES"], "neither top_k nor threshold is set"),
        ({"top_k": 0}, [], "top_k is 0, but must be 1 or more"),
        ({"top_k": 1}, ["TOP_K_LABELS"], "TOP_K_LABELS is connected, but there are no labels"),
    ],
)
def test_options_that_do_not_say_what_to_choose_are_refused(options, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        best([], outputs, **options)
