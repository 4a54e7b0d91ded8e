"""Association...Calculator: of rectangles and detections that overlap the later one stays."""

from __future__ import annotations

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Detection, LocationData, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.detections.association import (
    AssociationDetectionCalculator,
    AssociationNormRectCalculator,
)
from penstock_vision.messages.association_pb2 import AssociationCalculatorOptions


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
        "a rectangle has no (y_center, height, width|y_center, width, height|.*), so no association with"
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
    with pytest.raises(GraphConfigError, match="an association has 0 untagged inputs; connect at least one"):
        joined([], ports=["PREV"])


def detection(x, identity=None, width=1.0):
    made = Detection(detection_id=identity)
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = x, 0, width, 1
    return made


def associated(*lists, previous=None):
    feeds = {i: [(5, some)] for i, some in enumerate(lists)}
    if previous is not None:
        feeds["PREV"] = [(5, previous)]
    options = AssociationCalculatorOptions(min_similarity_threshold=0.25)
    run = run_calculator(AssociationDetectionCalculator, feeds, outputs=[0], options=options)
    return run.outputs[0][0].payload


def places(detections):
    return [(one.location_data.relative_bounding_box.xmin, one.detection_id) for one in detections]


def test_a_detection_takes_the_id_of_the_last_one_that_it_removes():
    found = associated([detection(0, 1), detection(1, 2), detection(5)], [detection(0.5, 9)])

    assert places(found) == [(5, 0), (0.5, 2)]
    assert not found[0].HasField("detection_id")


def test_a_detection_without_an_id_gives_none():
    assert places(associated([detection(0)], [detection(0, 9)])) == [(0, 9)]


def test_ids_come_from_the_time_before_whatever_the_detection_has():
    new, before = detection(0, 3), [detection(9, 1), detection(0.25, 4), detection(0), detection(0.5, 5)]

    found = associated([new, detection(20, 6)], previous=before)

    assert places(found) == [(0, 5), (20, 6)]
    assert new.detection_id == 3


@pytest.mark.parametrize("given", [Detection(), detection(0)])
def test_detections_without_a_relative_box_are_refused(given):
    if given.HasField("location_data"):
        given.location_data.format = LocationData.GLOBAL
    with pytest.raises(GraphRunError, match=r"location has format (none|GLOBAL), but for an association"):
        associated([detection(0)], [given])


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------

#: xmin, ymin, width, height of six boxes; each number is the id of a detection too.
BOXES = [
    (0.1, 0.1, 0.2, 0.2),
    (0.3, 0.1, 0.2, 0.2),
    (0.9, 0.2, 0.2, 0.2),
    (0.2, 0.0, 0.3, 0.3),
    (1.0, 0.2, 0.2, 0.2),
    (0.3, -0.1, 0.3, 0.3),
]
TENTH = AssociationCalculatorOptions(min_similarity_threshold=0.1)


def box(number, identity=None):
    made = Detection(detection_id=number if identity is None else identity)
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    place = made.location_data.relative_bounding_box
    place.xmin, place.ymin, place.width, place.height = BOXES[number]
    return made


def centred(number):
    x, y, width, height = BOXES[number]
    return NormalizedRect(x_center=x + width / 2, y_center=y + height / 2, width=width, height=height)


def alone(calculator, feeds):
    """Return the payload of the only packet that lists of one timestamp give."""
    run = run_calculator(calculator, {p: [(1, one)] for p, one in feeds.items()}, outputs=[0], options=TENTH)
    (packet,) = run.outputs[0]
    assert packet.timestamp == 1
    return packet.payload


@pytest.mark.reference(
    "calculators/util/association_calculator_test.cc",
    "AssociationDetectionCalculatorTest.DetectionAssocTest",
    "AssociationDetectionCalculatorTest.DetectionAssocTestWithPrev",
    "AssociationDetectionCalculatorTest.DetectionAssocTestReverse",
)
@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ({0: [0, 1, 2], 1: [3, 4], 2: [5]}, [(4, 2), (5, 1)]),
        ({"PREV": [3, 4], 0: [5]}, [(5, 3)]),
        ({0: [5], 1: [3, 4], 2: [0, 1, 2]}, [(0, 5), (1, 1), (2, 4)]),
    ],
)
def test_detections_hand_their_ids_on_from_list_to_list(lists, expected):
    feeds = {port: [box(number) for number in numbers] for port, numbers in lists.items()}

    assert alone(AssociationDetectionCalculator, feeds) == [box(*one) for one in expected]


@pytest.mark.reference(
    "calculators/util/association_calculator_test.cc",
    "AssociationNormRectCalculatorTest.NormRectAssocTest",
    "AssociationNormRectCalculatorTest.NormRectAssocTestReverse",
    "AssociationNormRectCalculatorTest.NormRectAssocSingleInputStream",
)
@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([[0, 1, 2], [3, 4], [5]], [4, 5]),
        ([[5], [3, 4], [0, 1, 2]], [0, 1, 2]),
        ([[3, 5]], [5]),
    ],
)
def test_of_rects_in_several_lists_the_last_ones_stay(lists, expected):
    feeds = {port: [centred(number) for number in numbers] for port, numbers in enumerate(lists)}

    assert alone(AssociationNormRectCalculator, feeds) == [centred(number) for number in expected]
