"""LandmarksToDetectionCalculator: keypoints and the box around them."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import LocationData, NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.landmarks.landmarks_to_detection import LandmarksToDetectionCalculator
from penstock_vision.messages.landmarks_to_detection_pb2 import LandmarksToDetectionCalculatorOptions


def detection(*points, chosen=()):
    run = run_calculator(
        LandmarksToDetectionCalculator,
        {"NORM_LANDMARKS": [(2, NormalizedLandmarkList(landmark=[{"x": x, "y": y} for x, y in points]))]},
        outputs=["DETECTION"],
        options=LandmarksToDetectionCalculatorOptions(selected_landmark_indices=chosen),
    )
    (packet,) = run.outputs["DETECTION"]
    assert packet.timestamp == 2
    return packet.payload


def box(found):
    place = found.location_data.relative_bounding_box
    return place.xmin, place.ymin, place.width, place.height


def keypoints(found):
    return [(one.x, one.y) for one in found.location_data.relative_keypoints]


def test_landmarks_become_keypoints_and_the_box_is_around_them():
    found = detection((0.25, 0.75), (0.5, 0.25))

    assert keypoints(found) == [(0.25, 0.75), (0.5, 0.25)]
    assert box(found) == (0.25, 0.25, 0.25, 0.5)
    assert found.location_data.format == LocationData.RELATIVE_BOUNDING_BOX
    assert not found.score
    assert not found.label


def test_only_chosen_landmarks_count_in_their_order():
    found = detection((0.25, 0.75), (0.5, 0.25), (1, 1), chosen=[2, 0])

    assert keypoints(found) == [(1, 1), (0.25, 0.75)]
    assert box(found) == (0.25, 0.75, 0.75, 0.25)


def test_the_greatest_values_are_searched_from_the_smallest_number_above_zero():
    left, top, width, height = box(detection((-1, -2), (-0.5, -0.25)))

    assert (left, top) == (-1, -2)
    # -0.5 - (-1) is 0.5; the search from above 0 gives 1
    assert (width, height) == (1, 2)


@pytest.mark.parametrize(
    ("points", "chosen", "message"),
    [
        ((), (), "holds 0 landmarks, but at least one are needed|but at least one"),
        (((0, 0),), (1,), "holds 1 landmarks, but 2 or more are needed"),
        (((0, 0),), (-1,), "selected_landmark_indices holds -1, but indices are 0 or more"),
    ],
)
def test_landmarks_that_are_not_there_are_refused(points, chosen, message):
    with pytest.raises(GraphRunError, match=message):
        detection(*points, chosen=chosen)


def test_hundreds_of_landmarks_become_the_message_that_fields_set_one_by_one_make():
    random = np.random.default_rng(7)
    points = random.normal(0.5, 1, (468, 2)).astype(np.float32)
    points[3], points[5, 0], points[7, 1] = np.nan, np.inf, -np.inf

    found = detection(*points.tolist())

    wanted = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX)
    wanted.relative_keypoints.extend(LocationData.RelativeKeypoint(x=x, y=y) for x, y in points.tolist())
    wanted.relative_bounding_box.CopyFrom(found.location_data.relative_bounding_box)
    assert found.location_data.SerializeToString(deterministic=True) == wanted.SerializeToString(
        deterministic=True
    )
    left, top = np.nanmin(points, axis=0)
    assert box(found)[:2] == (left, top)
    assert box(found)[2:] == (np.inf, np.inf)
