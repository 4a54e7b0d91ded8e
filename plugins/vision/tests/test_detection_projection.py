"""DetectionProjectionCalculator: detections of a crop in the image."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphRunError, PenstockError
from penstock_formats import Detection, LocationData, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.detections.detection_projection import DetectionProjectionCalculator
from penstock_vision.geometry.image_size import ImageSize
from penstock_vision.geometry.region_matrix import region_matrix

UNIT = tuple(np.eye(4).ravel().tolist())


def matrix(first, second):
    """Return one that maps x and y by (a, b, c) and (d, e, f); the third column must not count."""
    (a, b, c), (d, e, f) = first, second
    return (a, b, 9.0, c, d, e, 9.0, f, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def detection(x, y, width, height, *keypoints):
    made = Detection(score=[0.5], label=["hand"])
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = x, y, width, height
    for px, py in keypoints:
        made.location_data.relative_keypoints.add(x=px, y=py)
    return made


def project(lists, numbers):
    tags = [("DETECTIONS", i) for i in range(len(lists))]
    inputs = {tag: [] if one is None else [(3, one)] for tag, one in zip(tags, lists, strict=True)}
    inputs["PROJECTION_MATRIX"] = [] if numbers is None else [(3, numbers)]
    outputs = run_calculator(DetectionProjectionCalculator, inputs, outputs=tags).outputs
    return [[packet.payload for packet in outputs[tag]] for tag in tags]


def test_box_and_keypoints_are_scaled_and_moved():
    given = detection(0.25, 0.5, 0.5, 0.25, (0.5, 0.5))

    (((found,),),) = project([[given]], matrix((0.5, 0, 0.125), (0, 2, -0.5)))

    assert found == detection(0.25, 0.5, 0.25, 0.5, (0.375, 0.5))
    assert given == detection(0.25, 0.5, 0.5, 0.25, (0.5, 0.5))


def test_a_turned_box_becomes_the_upright_one_around_it():
    turn = math.sqrt(0.5)

    (((found,),),) = project([[detection(0, 0, 1, 1, (1, 1))]], matrix((turn, -turn, 0), (turn, turn, 0)))

    box = found.location_data.relative_bounding_box
    assert [box.xmin, box.ymin, box.width, box.height] == pytest.approx(
        [-turn, 0, 2 * turn, 2 * turn], abs=1e-7
    )
    point = found.location_data.relative_keypoints[0]
    assert (point.x, point.y) == pytest.approx((0, 2 * turn), abs=1e-7)


def test_a_mirrored_box_has_a_size_above_zero():
    (((found,),),) = project([[detection(0.25, 0, 0.5, 1)]], matrix((-1, 0, 1), (0, 1, 0)))

    assert found == detection(0.25, 0, 0.5, 1)


def test_lists_go_pairwise_and_an_empty_input_is_left_out():
    one = detection(0, 0, 1, 1)

    assert project([[one], None, []], UNIT) == [[[one]], [], [[]]]


def test_without_a_matrix_nothing_is_sent():
    assert project([[detection(0, 0, 1, 1)]], None) == [[]]


def test_a_matrix_of_another_size_is_refused():
    with pytest.raises(GraphRunError, match="16 numbers"):
        project([[]], (1.0, 0.0))


def test_a_box_in_pixels_is_refused():
    given = Detection()
    given.location_data.format = LocationData.BOUNDING_BOX

    with pytest.raises(GraphRunError, match="BOUNDING_BOX, but it must be RELATIVE_BOUNDING_BOX"):
        project([[given]], UNIT)


def test_other_numbers_of_inputs_than_of_outputs_are_refused():
    with pytest.raises(PenstockError, match="2 inputs and 1 outputs DETECTIONS"):
        run_calculator(
            DetectionProjectionCalculator,
            {("DETECTIONS", 0): [], ("DETECTIONS", 1): [], "PROJECTION_MATRIX": []},
            outputs=["DETECTIONS"],
        )


def test_what_else_a_location_says_stays():
    given = detection(0.25, 0.5, 0.5, 0.25, (0.5, 0.5))
    given.location_data.relative_keypoints[0].keypoint_label = "nose"

    (((found,),),) = project([[given]], matrix((0.5, 0, 0.125), (0, 2, -0.5)))

    wanted = detection(0.25, 0.5, 0.25, 0.5, (0.375, 0.5))
    wanted.location_data.relative_keypoints[0].keypoint_label = "nose"
    assert found == wanted


def region(centre, sides, degrees, size):
    """Return the matrix of a region, given by its centre in pixels, in an image of a size."""
    (x, y), (width, height) = ((one[0] / size[0], one[1] / size[1]) for one in (centre, sides))
    roi = NormalizedRect(x_center=x, y_center=y, width=width, height=height, rotation=math.radians(degrees))
    return tuple(float(one) for one in region_matrix(roi, ImageSize(*map(np.float32, size))))


@pytest.mark.reference(
    "calculators/util/detection_projection_calculator_test.cc",
    "DetectionProjectionCalculatorTest.ProjectionFullRoiNoOp",
    "DetectionProjectionCalculatorTest.ProjectionFullRoi90Rotation",
    "DetectionProjectionCalculatorTest.ProjectionSmallerRoi",
    "DetectionProjectionCalculatorTest.ProjectionSmallerRoi30Rotation",
)
@pytest.mark.parametrize(
    ("given", "numbers", "box", "points"),
    [
        (
            detection(0, 0, 0.5, 0.5, (0.25, 0.25)),
            region((50, 50), (100, 100), 0, (100, 100)),
            (0, 0, 0.5, 0.5),
            [(0.25, 0.25)],
        ),
        (
            detection(0, 0, 0.5, 0.5, (0.25, 0.25)),
            region((50, 50), (100, 100), 90, (100, 100)),
            (0.5, 0, 0.5, 0.5),
            [(0.75, 0.25)],
        ),
        (
            detection(0.5, 0, 0.5, 0.5, (0.5, 0.5)),
            region((75, 75), (50, 50), 0, (100, 100)),
            (0.75, 0.5, 0.25, 0.25),
            [(0.75, 0.75)],
        ),
        (
            detection(0, 0, 1, 1, (0, 0), (0.5, 0.5), (1, 0)),
            region((65, 85), (50, 30), 30, (80, 120)),
            (35.849 / 80, 59.510 / 120, 58.301 / 80, 50.981 / 120),
            [(50.85 / 80, 59.52 / 120), (65 / 80, 85 / 120), (94.15 / 80, 84.51 / 120)],
        ),
    ],
)
def test_boxes_and_keypoints_of_a_turned_region_are_those_measured_in_the_image(given, numbers, box, points):
    run = run_calculator(
        DetectionProjectionCalculator,
        {
            "DETECTIONS": [Packet([given], Timestamp.POSTSTREAM)],
            "PROJECTION_MATRIX": [Packet(numbers, Timestamp.POSTSTREAM)],
        },
        outputs=["DETECTIONS"],
    )

    ((found,),) = (packet.payload for packet in run.outputs["DETECTIONS"])
    location = found.location_data
    place = location.relative_bounding_box
    assert location.format == LocationData.RELATIVE_BOUNDING_BOX
    assert (place.xmin, place.ymin, place.width, place.height) == pytest.approx(box, abs=1e-4)
    assert [(one.x, one.y) for one in location.relative_keypoints] == [
        pytest.approx(point, abs=1e-4) for point in points
    ]
