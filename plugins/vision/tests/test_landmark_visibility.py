"""VisibilityCopyCalculator, LandmarkVisibilityCalculator, VisibilitySmoothingCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Packet
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import LandmarkList, NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.landmarks.landmark_visibility import LandmarkVisibilityCalculator
from penstock_vision.landmarks.visibility_copy import VisibilityCopyCalculator
from penstock_vision.landmarks.visibility_smoothing import VisibilitySmoothingCalculator
from penstock_vision.messages.visibility_copy_pb2 import VisibilityCopyCalculatorOptions
from penstock_vision.messages.visibility_smoothing_pb2 import VisibilitySmoothingCalculatorOptions

SEEN = NormalizedLandmarkList(landmark=[{"visibility": 0.25, "presence": 0.5}, {}])
PLACED = LandmarkList(landmark=[{"x": 1, "visibility": 1}, {"x": 2}, {"x": 3}])


def copied(source, target, **options):
    feeds = {
        "NORM_LANDMARKS_FROM": [] if source is None else [(1, source)],
        "LANDMARKS_TO": [] if target is None else [(1, target)],
    }
    run = run_calculator(
        VisibilityCopyCalculator,
        feeds,
        outputs=["LANDMARKS_TO"],
        options=VisibilityCopyCalculatorOptions(**options),
    )
    return [packet.payload for packet in run.outputs["LANDMARKS_TO"]]


def test_visibility_and_presence_are_copied_and_what_is_missing_as_zero():
    assert copied(SEEN, PLACED) == [
        LandmarkList(
            landmark=[
                {"x": 1, "visibility": 0.25, "presence": 0.5},
                {"x": 2, "visibility": 0, "presence": 0},
            ]
        )
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"copy_visibility": False}, [{"x": 1, "visibility": 1, "presence": 0.5}, {"x": 2, "presence": 0}]),
        ({"copy_presence": False}, [{"x": 1, "visibility": 0.25}, {"x": 2, "visibility": 0}]),
    ],
)
def test_one_of_both_can_be_left_out(options, expected):
    assert copied(SEEN, PLACED, **options) == [LandmarkList(landmark=expected)]


def test_both_lists_are_needed_to_copy():
    assert copied(SEEN, None) == []
    assert copied(None, PLACED) == []


def test_a_target_with_fewer_landmarks_is_refused():
    with pytest.raises(
        GraphRunError,
        match="holds 1 landmarks, but 'in_0' 2; for a copy of visibility connect landmarks of the same",
    ):
        copied(SEEN, LandmarkList(landmark=[{}]))


@pytest.mark.parametrize(
    ("feeds", "outputs", "message"),
    [
        (["LANDMARKS_TO"], ["LANDMARKS_TO"], "there are none of the input ports LANDMARKS_FROM"),
        (["LANDMARKS_FROM"], ["LANDMARKS_TO"], "there are none of the input ports LANDMARKS_TO"),
        (["LANDMARKS_FROM", "LANDMARKS_TO"], ["NORM_LANDMARKS_TO"], "there is no output LANDMARKS_TO, but"),
    ],
)
def test_ports_for_copies_that_do_not_fit_are_refused(feeds, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(VisibilityCopyCalculator, {tag: [] for tag in feeds}, outputs=outputs)


def test_the_visibility_of_one_landmark_is_a_number():
    feeds = [
        (1, NormalizedLandmarkList(landmark=[{"visibility": 0.5}])),
        (2, NormalizedLandmarkList(landmark=[{}])),
    ]

    run = run_calculator(LandmarkVisibilityCalculator, {"NORM_LANDMARKS": feeds}, outputs=["VISIBILITY"])

    assert [packet.payload for packet in run.outputs["VISIBILITY"]] == [0.5, 0.0]


@pytest.mark.parametrize("count", [0, 2])
def test_none_or_several_landmarks_have_no_visibility(count):
    feeds = [(1, NormalizedLandmarkList(landmark=[{}] * count))]

    with pytest.raises(GraphRunError, match=f"holds {count} landmarks, but exactly one landmark's"):
        run_calculator(LandmarkVisibilityCalculator, {"NORM_LANDMARKS": feeds}, outputs=["VISIBILITY"])


def smoothed(*values, kind=LandmarkList, counts=None, **options):
    """Return the visibility of the last landmark of each list; values of None have no packet."""
    tag, out = {
        LandmarkList: ("LANDMARKS", "FILTERED_LANDMARKS"),
        NormalizedLandmarkList: ("NORM_LANDMARKS", "NORM_FILTERED_LANDMARKS"),
    }[kind]
    feeds = []
    for i, value in enumerate(values):
        count = counts[i] if counts else 2
        feeds.append(
            (i, kind(landmark=[{"x": i}] * (count - 1) + [{"x": i, "visibility": value}] * bool(count)))
        )
    run = run_calculator(
        VisibilitySmoothingCalculator,
        {tag: feeds},
        outputs=[out],
        options=VisibilitySmoothingCalculatorOptions(**options),
    )
    found = [packet.payload for packet in run.outputs[out]]
    assert all(type(one) is kind for one in found)
    return [one.landmark[-1].visibility for one in found if one.landmark]


@pytest.mark.parametrize("kind", [LandmarkList, NormalizedLandmarkList])
def test_the_first_visibility_stays_and_later_ones_follow_slowly(kind):
    found = smoothed(1.0, 0.0, 0.0, kind=kind, low_pass_filter={"alpha": 0.25})

    assert found == [1, 0.75, 0.5625]


def test_the_usual_weight_of_a_new_visibility_is_a_tenth():
    assert smoothed(0.0, 1.0, low_pass_filter={}) == [0, float(np.float32(0.1))]


def test_one_product_is_rounded_to_32_bits_and_the_other_is_not():
    alpha, first, second = np.float32(0.1), np.float32(0.3), np.float32(0.7)

    found = smoothed(0.3, 0.7, low_pass_filter={"alpha": 0.1})

    assert found[1] == float(np.float32(float(alpha * second) + (1.0 - float(alpha)) * float(first)))


def test_visibility_without_a_filter_is_forwarded():
    assert smoothed(0.0, 1.0, no_filter={}) == [0, 1]


class SmoothingOnBounds(VisibilitySmoothingCalculator):
    """The same, called at timestamps without a packet too."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.set_process_timestamp_bounds()


def test_a_call_without_landmarks_forgets_the_visibility():
    lists = [(t, LandmarkList(landmark=[{"visibility": value}])) for t, value in ((1, 0.0), (3, 1.0))]

    for calculator, last in ((VisibilitySmoothingCalculator, 0.25), (SmoothingOnBounds, 1)):
        run = run_calculator(
            calculator,
            {"LANDMARKS": [lists[0], Packet().at(2), lists[1]]},
            outputs=["FILTERED_LANDMARKS"],
            options=VisibilitySmoothingCalculatorOptions(low_pass_filter={"alpha": 0.25}),
        )
        assert run.outputs["FILTERED_LANDMARKS"][-1].payload.landmark[0].visibility == last


def test_the_number_of_landmarks_must_stay():
    with pytest.raises(GraphRunError, match="holds 3 landmarks, but 2 before"):
        smoothed(0.0, 1.0, counts=[2, 3], low_pass_filter={})


def test_the_number_of_landmarks_may_change_after_none():
    assert smoothed(0.0, 1.0, counts=[0, 3], low_pass_filter={}) == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no filter smooths the visibility, but one is needed; set no_filter or low_pass_filter"),
        ({"low_pass_filter": {"alpha": 1.5}}, "alpha is 1.5, but must be 0 to 1"),
        ({"low_pass_filter": {"alpha": -1}}, "alpha is -1, but must be 0 to 1"),
    ],
)
def test_options_without_a_filter_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        smoothed(0.0, **options)


@pytest.mark.parametrize(
    ("feeds", "outputs", "message"),
    [
        (
            ["LANDMARKS", "NORM_LANDMARKS"],
            ["FILTERED_LANDMARKS"],
            "NORM_LANDMARKS and LANDMARKS of the input",
        ),
        (["LANDMARKS"], ["NORM_FILTERED_LANDMARKS"], "there is no output FILTERED_LANDMARKS, but"),
    ],
)
def test_ports_of_a_filter_that_do_not_fit_are_refused(feeds, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(VisibilitySmoothingCalculator, {tag: [] for tag in feeds}, outputs=outputs)
