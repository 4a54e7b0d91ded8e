"""FilterDetectionCalculator: allowed labels, patterns, scores."""

from __future__ import annotations

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Detection
from penstock_testing import run_calculator
from penstock_vision.detections.filter_detection import FilterDetectionCalculator
from penstock_vision.messages.filter_detection_pb2 import FilterDetectionCalculatorOptions


def filtered(*detections, tag="DETECTIONS", allowed=None, **options):
    """Return the payloads sent for a list; `allowed` is (tag of the side packet, its payload)."""
    given = list(detections) if tag == "DETECTIONS" else detections[0]
    run = run_calculator(
        FilterDetectionCalculator,
        {tag: [(1, given)]},
        outputs=[tag],
        side_packets=dict([allowed] if allowed else []),
        options=FilterDetectionCalculatorOptions(**options),
    )
    return [packet.payload for packet in run.outputs[tag]]


def found(labels, scores=None, **more):
    return Detection(label=labels, score=scores or [0.5] * len(labels), **more)


@pytest.mark.parametrize(
    "allowed",
    [("LABELS", ["cup", "can"]), ("LABELS_CSV", " cup,,can\t, "), ("LABEL_MAP", {3: "can", 5: "cup"})],
)
def test_detections_with_an_allowed_label_pass(allowed):
    assert filtered(found(["cup"]), found(["dog"]), found(["can"]), allowed=allowed) == [
        [found(["cup"]), found(["can"])]
    ]


def test_without_a_list_of_labels_all_pass():
    assert filtered(found(["dog"])) == [[found(["dog"])]]


def test_allowed_labels_of_a_detection_stay_the_highest_score_first():
    given = found(["a", "dog", "b"], [0.25, 0.5, 0.75])

    assert filtered(given, allowed=("LABELS", ["a", "b"])) == [[found(["b", "a"], [0.75, 0.25])]]


def test_the_place_stays_and_all_else_is_left_out():
    given = found(["a"], label_id=[4], track_id="t", location_data={"format": 1})

    assert filtered(given) == [[found(["a"], location_data={"format": 1})]]


def test_an_allowed_label_may_be_a_pattern_for_the_whole_label():
    given = [found(["cup"]), found(["cups"]), found(["scup"])]

    assert filtered(*given, allowed=("LABELS", ["c.p"])) == [[found(["cup"])]]


def test_a_label_that_is_no_pattern_stands_for_itself():
    assert filtered(found(["(a"]), allowed=("LABELS", ["(a"])) == [[found(["(a"])]]
    assert filtered(found(["a"]), allowed=("LABELS", ["(a"])) == [[]]


def test_scores_at_the_limits_pass():
    given = [found(["a"], [score]) for score in (0.125, 0.25, 0.5, 0.75)]

    (kept,) = filtered(*given, min_score=0.25, max_score=0.5)

    assert [one.score[0] for one in kept] == [0.25, 0.5]


def test_one_detection_is_sent_or_not():
    assert filtered(found(["a"]), tag="DETECTION") == [found(["a"])]
    assert filtered(found(["a"]), tag="DETECTION", allowed=("LABELS", ["b"])) == []


def test_an_empty_list_of_labels_lets_nothing_through():
    assert filtered(found(["a"]), allowed=("LABELS_CSV", " , ")) == []


def test_an_empty_list_of_labels_may_allow_everything():
    options = {"empty_allowed_labels_means_allow_everything": True}

    assert filtered(found(["a"]), allowed=("LABELS", []), **options) == [[found(["a"])]]


def test_an_empty_list_of_labels_may_be_an_error():
    with pytest.raises(GraphRunError, match="allows no label, which fail_on_empty_labels forbids"):
        filtered(found(["a"]), allowed=("LABELS", []), fail_on_empty_labels=True)


def test_labels_without_scores_are_refused():
    with pytest.raises(
        GraphRunError, match="with 2 labels and 1 scores, but the filter needs a score for each"
    ):
        filtered(found(["a", "b"], [0.5]))


def test_labels_come_from_one_side_packet_only():
    with pytest.raises(GraphConfigError, match="there are LABELS and LABELS_CSV of the side packet"):
        run_calculator(
            FilterDetectionCalculator,
            {"DETECTIONS": []},
            outputs=["DETECTIONS"],
            side_packets={"LABELS": ["a"], "LABELS_CSV": "a"},
        )
