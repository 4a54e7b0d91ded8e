"""DetectionsToRectsCalculator and calculators like it: boxes, keypoints, rotations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Detection, LocationData, NormalizedRect, Rect
from penstock_testing import run_calculator
from penstock_vision.detections.detections_to_rects import DetectionsToRectsCalculator
from penstock_vision.messages.detections_to_rects_pb2 import DetectionsToRectsCalculatorOptions
from penstock_vision.rects.alignment_points_rects import AlignmentPointsRectsCalculator
from penstock_vision.rects.hand_detections_from_pose_to_rects import HandDetectionsFromPoseToRectsCalculator

SIZE = (640, 480)
UPRIGHT = {
    "rotation_vector_start_keypoint_index": 0,
    "rotation_vector_end_keypoint_index": 1,
    "rotation_vector_target_angle_degrees": 90,
}


def detection(*keypoints, box=(0.25, 0.5, 0.5, 0.25), relative=True):
    """Return a detection with a box (xmin, ymin, width, height) and keypoints (x, y)."""
    xmin, ymin, width, height = box
    place = {"xmin": xmin, "ymin": ymin, "width": width, "height": height}
    kind = "relative_bounding_box" if relative else "bounding_box"
    kinds = LocationData.RELATIVE_BOUNDING_BOX if relative else LocationData.BOUNDING_BOX
    return Detection(
        location_data={
            "format": kinds,
            kind: place,
            "relative_keypoints": [{"x": x, "y": y} for x, y in keypoints],
        }
    )


def rects(payload, *, out="NORM_RECT", calculator=DetectionsToRectsCalculator, size=SIZE, **options):
    """Return the payloads that one packet of DETECTION, or of DETECTIONS for a list, gives."""
    tag = "DETECTIONS" if isinstance(payload, list) else "DETECTION"
    feeds = {tag: [(7, payload)]}
    if size is not None:
        feeds["IMAGE_SIZE"] = [(7, size)]
    options = DetectionsToRectsCalculatorOptions(**options)
    run = run_calculator(calculator, feeds, outputs=[out], options=options)
    assert all(packet.timestamp == 7 for packet in run.outputs[out])
    return [packet.payload for packet in run.outputs[out]]


def test_a_rect_has_the_middle_and_the_size_of_the_box_and_no_rotation():
    assert rects(detection()) == [NormalizedRect(x_center=0.5, y_center=0.625, width=0.5, height=0.25)]


def test_a_rect_in_pixels_halves_its_sides_towards_zero():
    found = rects(detection(box=(10, 20, 5, -3), relative=False), out="RECT", size=None)

    assert found == [Rect(x_center=12, y_center=19, width=5, height=-3)]


def test_of_a_list_one_rect_is_that_of_the_first_detection_and_several_are_those_of_all():
    both = [detection(), detection(box=(0, 0, 0.5, 0.5))]

    assert rects(both)[0].x_center == 0.5
    assert [one.x_center for one in rects(both, out="NORM_RECTS")[0]] == [0.5, 0.25]


def test_a_vector_that_points_to_the_right_is_turned_by_a_quarter_to_stand():
    # a rotation to the right is positive, and the vector turns against it
    (found,) = rects(detection((0.25, 0.5), (0.75, 0.5)), **UPRIGHT)

    assert found.rotation == pytest.approx(math.pi / 2)


def test_a_vector_that_stands_is_not_turned():
    (found,) = rects(detection((0.5, 0.75), (0.5, 0.25)), **UPRIGHT)

    assert found.HasField("rotation")
    assert found.rotation == pytest.approx(0, abs=1e-7)


def test_rotations_are_computed_in_pixels():
    (found,) = rects(detection((0, 0), (0.75, -1)), **UPRIGHT)

    # 480 pixels to the right and 480 up
    assert found.rotation == pytest.approx(math.pi / 4)


def test_an_angle_in_radians_counts_as_it_is():
    options = {**UPRIGHT, "rotation_vector_target_angle": 0.5}
    del options["rotation_vector_target_angle_degrees"]

    (found,) = rects(detection((0, 0), (0.5, 0)), **options)

    assert found.rotation == 0.5


def test_a_rotation_is_between_minus_a_half_turn_and_a_half_turn():
    options = {**UPRIGHT, "rotation_vector_target_angle_degrees": 350}

    (found,) = rects(detection((0, 0), (0.5, 0)), **options)

    assert found.rotation == pytest.approx(math.radians(-10), abs=1e-6)


def test_keypoints_make_a_box_around_all():
    points = detection((0.25, 0.5), (0.5, 0.25), (0.75, 0.375))

    (found,) = rects(points, conversion_mode=DetectionsToRectsCalculatorOptions.USE_KEYPOINTS)

    assert found == NormalizedRect(x_center=0.5, y_center=0.375, width=0.5, height=0.25)


def test_keypoints_in_pixels_are_rounded_and_halves_go_away_from_zero():
    points = detection((-0.75, 0.25), (0.25, 0.5))

    (found,) = rects(
        points, out="RECT", size=(10, 10), conversion_mode=DetectionsToRectsCalculatorOptions.USE_KEYPOINTS
    )

    # -2.5, 3.75, 10, 2.5
    assert found == Rect(x_center=-3, y_center=4, width=10, height=3)


def test_no_detections_give_no_packet():
    assert rects([]) == []


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("NORM_RECT", [NormalizedRect()]),
        ("RECT", [Rect()]),
        ("NORM_RECTS", [[NormalizedRect()]]),
        ("RECTS", []),
    ],
)
def test_no_detections_give_a_rect_without_values_where_that_is_asked_for(out, expected):
    assert rects([], out=out, output_zero_rect_for_empty_detections=True) == expected


def test_without_a_size_there_is_no_rotated_rect():
    run = run_calculator(
        DetectionsToRectsCalculator,
        {"DETECTION": [(1, detection((0, 0), (1, 1)))], "IMAGE_SIZE": []},
        outputs=["NORM_RECT"],
        options=DetectionsToRectsCalculatorOptions(**UPRIGHT),
    )

    assert run.outputs["NORM_RECT"] == []


@pytest.mark.parametrize(
    ("payload", "out", "message"),
    [
        (
            detection(relative=False, box=(1, 2, 3, 4)),
            "NORM_RECT",
            "the format BOUNDING_BOX, but output NORM_RECT",
        ),
        (detection(), "RECT", "the format RELATIVE_BOUNDING_BOX, but output RECT is made of BOUNDING_BOX"),
    ],
)
def test_a_box_of_the_other_format_is_refused(payload, out, message):
    with pytest.raises(GraphRunError, match=message):
        rects(payload, out=out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rotation_vector_start_keypoint_index": 0}, "rotation_vector_end_keypoint_index is not; set both"),
        ({**UPRIGHT, "rotation_vector_target_angle": 1}, "both of rotation_vector_target_angle and"),
        (
            {"rotation_vector_start_keypoint_index": 0, "rotation_vector_end_keypoint_index": 1},
            "neither of rotation_vector_target_angle and",
        ),
    ],
)
def test_half_of_a_rotation_is_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        rects(detection(), **options)


@pytest.mark.parametrize(
    ("calculator", "options"),
    [
        (DetectionsToRectsCalculator, UPRIGHT),
        (AlignmentPointsRectsCalculator, UPRIGHT),
        (HandDetectionsFromPoseToRectsCalculator, {}),
    ],
)
def test_a_rotation_needs_the_size_of_the_image(calculator, options):
    with pytest.raises(GraphRunError, match="there is no input IMAGE_SIZE, but"):
        rects(detection(), calculator=calculator, size=None, **options)


@pytest.mark.parametrize("size", [(0, 480), (640, -1), (640,), ("wide", "high"), (1, 2, 3)])
def test_a_size_that_is_none_is_refused(size):
    feeds = {"DETECTION": [(1, detection((0, 0), (1, 1)))], "IMAGE_SIZE": [(1, size)]}
    with pytest.raises(GraphRunError, match=r"an image's size is \(width, height\), both above 0"):
        run_calculator(
            DetectionsToRectsCalculator,
            feeds,
            outputs=["NORM_RECT"],
            options=DetectionsToRectsCalculatorOptions(**UPRIGHT),
        )


def test_a_missing_keypoint_is_refused():
    with pytest.raises(GraphRunError, match="has 1 keypoints, but keypoint 1 is needed"):
        rects(detection((0, 0)), **UPRIGHT)


def test_a_negative_index_is_no_keypoint_from_the_end():
    with pytest.raises(GraphRunError, match="has 2 keypoints, but keypoint -1 is needed"):
        rects(detection((0, 0), (1, 1)), **{**UPRIGHT, "rotation_vector_end_keypoint_index": -1})


@pytest.mark.parametrize(
    ("feeds", "outputs", "message"),
    [
        (["DETECTION", "DETECTIONS"], ["NORM_RECT"], "there are DETECTION and DETECTIONS of the input"),
        (["IMAGE_SIZE"], ["NORM_RECT"], "there are none of the input ports DETECTION, DETECTIONS"),
        (["DETECTION"], ["NORM_RECT", "RECT"], "there are NORM_RECT and RECT of the output"),
    ],
)
def test_one_input_and_one_output_are_needed(feeds, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(DetectionsToRectsCalculator, {tag: [] for tag in feeds}, outputs=outputs)


def test_a_square_of_two_points_has_twice_their_distance_in_pixels():
    points = detection((0.5, 0.5), (0.5, 0.25))

    (found,) = rects(points, calculator=AlignmentPointsRectsCalculator, **UPRIGHT)

    assert (found.x_center, found.y_center) == (0.5, 0.5)
    assert (found.width * 640, found.height * 480) == (240, 240)
    assert found.rotation == pytest.approx(0, abs=1e-7)


def test_a_square_of_two_points_needs_them():
    with pytest.raises(GraphRunError, match="start_keypoint_index is not set, but that point is the centre"):
        rects(detection(), calculator=AlignmentPointsRectsCalculator)


def test_a_hand_of_a_pose_is_around_its_middle_finger():
    # wrist, pinky, index finger: the middle finger is at a third of the way from index finger to pinky
    hand = detection((0.5, 0.75), (0.25, 0.25), (0.625, 0.25))

    (found,) = rects(hand, calculator=HandDetectionsFromPoseToRectsCalculator, size=(400, 400))

    assert (found.x_center, found.y_center) == (0.5, 0.25)
    assert (found.width, found.height) == (1, 1)
    assert found.rotation == pytest.approx(0, abs=1e-7)


def test_a_hand_of_a_pose_ignores_the_keypoints_of_the_options():
    hand = detection((0.5, 0.75), (0.5, 0.25), (0.5, 0.25))

    found = rects(hand, calculator=HandDetectionsFromPoseToRectsCalculator)

    assert found == rects(hand, calculator=HandDetectionsFromPoseToRectsCalculator, **UPRIGHT)


def test_each_step_is_rounded_to_32_bits():
    box = (0.1, 0.2, 0.3, 0.7)

    (found,) = rects(detection(box=box))

    xmin, _, width, _ = map(np.float32, box)
    assert found.x_center == float(xmin + width * np.float32(0.5))


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------

IN_PIXELS = [
    detection(box=(100, 200, 300, 400), relative=False),
    detection(box=(200, 300, 400, 500), relative=False),
]
IN_FRACTIONS = [detection(box=(0.1, 0.2, 0.3, 0.4)), detection(box=(0.2, 0.3, 0.4, 0.5))]


def at_the_end(payload, out, size=None, **options):
    """Return what one packet at POSTSTREAM gives: x, y, width, height of a rectangle, or of each."""
    feeds = {"DETECTIONS" if isinstance(payload, list) else "DETECTION": payload}
    if size is not None:
        feeds["IMAGE_SIZE"] = size
    run = run_calculator(
        DetectionsToRectsCalculator,
        {tag: [Packet(one, Timestamp.POSTSTREAM)] for tag, one in feeds.items()},
        outputs=[out],
        options=DetectionsToRectsCalculatorOptions(**options),
    )
    (packet,) = run.outputs[out]
    found = packet.payload if out.endswith("S") else [packet.payload]
    numbers = [(one.x_center, one.y_center, one.width, one.height) for one in found]
    return numbers if out.endswith("S") else numbers[0]


@pytest.mark.reference(
    "calculators/util/detections_to_rects_calculator_test.cc",
    "DetectionsToRectsCalculatorTest.DetectionToRect",
    "DetectionsToRectsCalculatorTest.DetectionToNormalizedRect",
    "DetectionsToRectsCalculatorTest.DetectionsToRect",
    "DetectionsToRectsCalculatorTest.DetectionsToNormalizedRect",
    "DetectionsToRectsCalculatorTest.DetectionsToRects",
    "DetectionsToRectsCalculatorTest.DetectionsToNormalizedRects",
    "DetectionsToRectsCalculatorTest.DetectionToRects",
    "DetectionsToRectsCalculatorTest.DetectionToNormalizedRects",
)
@pytest.mark.parametrize(
    ("given", "out", "expected"),
    [
        (IN_PIXELS, "RECT", [(250, 400, 300, 400), (400, 550, 400, 500)]),
        (IN_FRACTIONS, "NORM_RECT", [(0.25, 0.4, 0.3, 0.4), (0.4, 0.55, 0.4, 0.5)]),
    ],
)
def test_boxes_become_rects_for_each_kind_of_input_and_output(given, out, expected):
    wanted = [pytest.approx(one, rel=4 * 2**-23) for one in expected]

    assert at_the_end(given[0], out) == wanted[0]
    assert at_the_end(given, out) == wanted[0]
    assert at_the_end(given, f"{out}S") == wanted
    assert at_the_end(given[0], f"{out}S") == wanted[:1]


@pytest.mark.reference(
    "calculators/util/detections_to_rects_calculator_test.cc",
    "DetectionsToRectsCalculatorTest.DetectionKeyPointsToRect",
)
@pytest.mark.parametrize(
    ("low", "high", "size", "expected"),
    [
        (0, 1, (640, 480), (320, 240, 640, 480)),
        (0.25, 0.75, (640, 480), (320, 240, 320, 240)),
        (0, 0.5, (640, 480), (160, 120, 320, 240)),
        (0.5, 1, (640, 480), (480, 360, 320, 240)),
        (0.25, 0.75, (0, 0), (0, 0, 0, 0)),
    ],
)
def test_keypoints_become_a_rect_in_pixels_of_any_size(low, high, size, expected):
    given = Detection(location_data={"relative_keypoints": [{"x": one, "y": one} for one in (low, high)]})

    found = at_the_end(given, "RECT", size, conversion_mode=DetectionsToRectsCalculatorOptions.USE_KEYPOINTS)

    assert found == expected


@pytest.mark.reference(
    "calculators/util/detections_to_rects_calculator_test.cc",
    "DetectionsToRectsCalculatorTest.DetectionKeyPointsToNormalizedRect",
)
@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(0, 0), (0.5, 0.5), (1, 1)], (0.5, 0.5, 1, 1)),
        ([(0.25, 0.25), (0.75, 0.25), (0.75, 0.75)], (0.5, 0.5, 0.5, 0.5)),
        ([(0, 0), (0.5, 0.5)], (0.25, 0.25, 0.5, 0.5)),
        ([(0.5, 0.5), (1, 1)], (0.75, 0.75, 0.5, 0.5)),
    ],
)
def test_keypoints_become_a_rect_in_fractions_without_a_size(points, expected):
    given = Detection(location_data={"relative_keypoints": [{"x": x, "y": y} for x, y in points]})

    found = at_the_end(given, "NORM_RECT", conversion_mode=DetectionsToRectsCalculatorOptions.USE_KEYPOINTS)

    assert found == expected


@pytest.mark.reference(
    "calculators/util/detections_to_rects_calculator_test.cc",
    "DetectionsToRectsCalculatorTest.WrongInputToRect",
    "DetectionsToRectsCalculatorTest.WrongInputToNormalizedRect",
)
@pytest.mark.parametrize(
    ("given", "out", "wanted"),
    [(IN_FRACTIONS, "RECT", "BOUNDING_BOX"), (IN_PIXELS, "NORM_RECT", "RELATIVE_BOUNDING_BOX")],
)
def test_a_list_of_boxes_of_the_other_format_is_refused(given, out, wanted):
    with pytest.raises(GraphRunError, match=f"output {out} is made of {wanted};"):
        at_the_end(given[:1], out)


@pytest.mark.parametrize("place", [float("inf"), 1e30])
def test_a_rect_of_keypoints_that_has_no_pixels_is_refused(place):
    with pytest.raises(GraphRunError, match="in pixels, but it must fit into 32 bits"):
        at_the_end(
            detection((0, 0), (place, 1)),
            "RECT",
            SIZE,
            conversion_mode=DetectionsToRectsCalculatorOptions.USE_KEYPOINTS,
        )
