"""FaceToRectCalculator: a square around a face, of the keypoints of its eyes and its mouth."""

from __future__ import annotations

import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphRunError
from penstock_formats import Detection
from penstock_testing import run_calculator
from penstock_vision.messages.face_to_rect_pb2 import FaceToRectCalculatorOptions
from penstock_vision.rects.face_to_rect import FaceToRectCalculator


def face(points, out="NORM_RECT", size=(1280, 720), **options):
    given = Detection(location_data={"relative_keypoints": [{"x": x, "y": y} for x, y in points]})
    feeds = {"DETECTION": [Packet(given, Timestamp.POSTSTREAM)]}
    if size is not None:
        feeds["IMAGE_SIZE"] = [Packet(size, Timestamp.POSTSTREAM)]
    run = run_calculator(
        FaceToRectCalculator, feeds, outputs=[out], options=FaceToRectCalculatorOptions(**options)
    )
    (packet,) = run.outputs[out]
    return packet.payload


EYES_NOSE_MOUTH = [(0.3, 0.5), (0.6, 0.45), (1, 1), (0.5, 0.65)]
EYES_MOUTH_TWICE = [one for one in (EYES_NOSE_MOUTH[0], EYES_NOSE_MOUTH[1], (0.5, 0.65)) for _ in range(2)]
TURNED = [one for one in ((0.6, 0.8), (0.2, 0.4), (0.8, 0.2)) for _ in range(2)]


@pytest.mark.reference(
    "calculators/util/face_to_rect_calculator_test.cc",
    "FaceToRectCalculator.DetectionToNormalizedRect",
    "FaceToRectCalculator.LandmarksToNormalizedRect",
    "FaceToRectCalculator.LandmarksToNormalizedRectObtuseAngle",
)
@pytest.mark.parametrize(
    ("points", "counts", "expected"),
    [
        (EYES_NOSE_MOUTH, (1, 1, 1), (0.454688, 0.493056, 1.20547, 2.14306, -0.193622)),
        (EYES_MOUTH_TWICE, (2, 0, 2), (0.454688, 0.493056, 1.20547, 2.14306, -0.193622)),
        (TURNED, (2, 0, 2), (0.439844, 0.559722, 1.83594, 3.26389, -2.35619)),
    ],
)
def test_a_square_around_a_face_is_turned_as_it_is(points, counts, expected):
    names = ("eye_landmark_size", "nose_landmark_size", "mouth_landmark_size")

    found = face(points, **dict(zip(names, counts, strict=True)))

    numbers = (found.x_center, found.y_center, found.width, found.height, found.rotation)
    assert numbers == pytest.approx(expected, abs=1e-5)


@pytest.mark.reference(
    "calculators/util/face_to_rect_calculator_test.cc", "FaceToRectCalculator.WrongNumberOfKeyPoints"
)
def test_a_face_with_too_few_keypoints_is_refused():
    with pytest.raises(GraphRunError, match="has 4 keypoints, but two eyes, nose and mouth have 5") as caught:
        face(EYES_NOSE_MOUTH, eye_landmark_size=1, nose_landmark_size=1, mouth_landmark_size=2)

    assert caught.value.code.name == "INVALID_ARGUMENT"


def test_a_face_in_pixels_is_the_same_square_and_numbers_that_are_not_set_have_their_defaults():
    found = face(EYES_MOUTH_TWICE, "RECT")

    assert (found.x_center, found.y_center, found.width, found.height) == (582, 355, 1543, 1543)
    assert found.rotation == pytest.approx(-0.193622, abs=1e-5)


def test_the_numbers_of_the_options_move_and_scale_a_face():
    # eyes at (100, 100) and (300, 100), mouth at (200, 300): 200 pixels both
    points = [(0.25, 0.25), (0.75, 0.25), (0.5, 0.75)]
    counts = {"eye_landmark_size": 1, "mouth_landmark_size": 1}

    found = face(points, "RECT", (400, 400), eye_to_mouth_mix=0.5, eye_to_mouth_scale=6, **counts)
    by_eyes = face(points, "RECT", (400, 400), eye_to_eye_scale=5, **counts)

    assert (found.x_center, found.y_center, found.width) == (200, 200, 1200)
    assert (by_eyes.y_center, by_eyes.width) == (120, 1000)


def test_a_face_needs_a_size_and_no_negative_numbers():
    with pytest.raises(GraphRunError, match="there is no input IMAGE_SIZE, but"):
        face(EYES_MOUTH_TWICE, size=None)
    with pytest.raises(GraphRunError, match="nose_landmark_size is -1, but must be 0 or more"):
        face(EYES_MOUTH_TWICE, nose_landmark_size=-1)
