"""AssociationNormRectCalculator: of rectangles that overlap the later one stays."""

from __future__ import annotations

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.association import AssociationNormRectCalculator
from penstock_vision.association_calculator_pb2 import AssociationCalculatorOptions


def rect(x, width=1.0, **more):
    return NormalizedRect(x_center=x, y_center=0, width=width, height=1, **more)


def joined(*lists, threshold=0.25, ports=None):
    feeds = {
        port: [] if found is None else [(5, found)]
        for port, found in zip(ports or range(len(lists)), lists, strict=True)
    }
    run = run_calculator(
        AssociationNormRectCalculator,
        feeds,
        outputs=[0],
        options=AssociationCalculatorOptions(min_similarity_threshold=threshold),
    )
    return [[one.x_center for one in packet.payload] for packet in run.outputs[0]]


def test_rects_that_do_not_overlap_all_stay_in_order():
    assert joined([rect(0), rect(3)], [rect(6)]) == [[0, 3, 6]]


def test_a_later_rect_removes_all_that_it_overlaps():
    # half of each is shared with the one between: a third of both together
    assert joined([rect(0), rect(1)], [rect(0.5)]) == [[0.5]]


def test_a_rect_is_compared_with_those_of_its_own_list_too():
    assert joined([rect(0), rect(0.25), rect(5)]) == [[0.25, 5]]


def test_an_overlap_as_large_as_the_threshold_is_not_too_large():
    # 0.5 of 1.5
    assert joined([rect(0)], [rect(0.5)], threshold=0.4) == [[0, 0.5]]
    assert joined([rect(0)], [rect(0)], threshold=1) == [[0, 0]]


def test_a_rotation_does_not_count():
    assert joined([rect(0)], [rect(0, rotation=1)]) == [[0]]


def test_rects_that_touch_overlap_by_nothing():
    assert joined([rect(0)], [rect(1)], threshold=0) == [[0, 1]]


def test_a_rect_without_area_removes_nothing():
    assert joined([rect(0, width=0)], [rect(0, width=0)], threshold=0) == [[0, 0]]


def test_empty_lists_give_an_empty_list():
    assert joined([], []) == [[]]


def test_one_input_with_a_packet_is_enough_and_none_gives_none():
    assert joined(None, [rect(1)]) == [[1]]
    assert joined(None, None) == []


def test_the_first_element_of_the_first_list_is_not_checked():
    without = NormalizedRect(x_center=2)

    assert joined([without]) == [[2]]
    assert joined([], [without]) == [[2]]


def test_any_other_rect_without_values_is_refused():
    message = (
        "a rectangle has no (y_center, height, width|y_center, width, height|.*), so it cannot be compared"
    )
    with pytest.raises(GraphRunError, match=message):
        joined([rect(0)], [NormalizedRect(x_center=2)])
    with pytest.raises(GraphRunError, match=message):
        joined([NormalizedRect(x_center=2)], [rect(0)])


def test_rects_of_before_change_nothing():
    assert joined([rect(0)], [rect(0), rect(4)], ports=[0, "PREV"]) == [[0]]


def test_a_negative_threshold_is_refused():
    with pytest.raises(GraphRunError, match="min_similarity_threshold is -1, but must be 0 to 1"):
        joined([], threshold=-1)


def test_a_list_is_needed():
    with pytest.raises(GraphConfigError, match="there are 0 untagged inputs; connect at least one"):
        joined([], ports=["PREV"])
