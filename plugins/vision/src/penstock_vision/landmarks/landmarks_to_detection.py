"""LandmarksToDetectionCalculator: makes a detection of landmarks: a box and keypoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData, NormalizedLandmarkList
from penstock_vision.geometry.single_precision import GREATEST, SMALLEST, f32
from penstock_vision.landmarks.landmark_table import LandmarkTable
from penstock_vision.messages.landmarks_to_detection_pb2 import LandmarksToDetectionCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class LandmarksToDetectionCalculator(penstock.Calculator):
    """Makes a detection of landmarks: they become its keypoints, and the box around them its place.

    Input NORM_LANDMARKS (NormalizedLandmarkList); output DETECTION (Detection, without score and label, of
    the format RELATIVE_BOUNDING_BOX). Timestamp offset 0. No packet gives no packet.

    As in the reference, the search for the right and the lower edge starts just above 0, so the box of
    landmarks that are all left of or above the image reaches to its edge.

    Options `LandmarksToDetectionCalculatorOptions`: `selected_landmark_indices`, which landmarks count, in
    this order; none given: all.

    Raises in `open`: InvalidArgumentError for a negative index. In `process`: the same for an empty list, and
    for an index that it does not have.

    Source of the behaviour: MediaPipe `calculators/util/landmarks_to_detection_calculator.cc`.

    Config::

        node {
          calculator: "LandmarksToDetectionCalculator"
          input_stream: "NORM_LANDMARKS:face_landmarks"
          output_stream: "DETECTION:face"
          options {
            [penstock.LandmarksToDetectionCalculatorOptions.ext] { selected_landmark_indices: [ 33, 263 ] }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in, a detection out."""
        cc.inputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "landmarks of one thing")
        cc.outputs["DETECTION"].set(Detection, "its place, with the landmarks as keypoints")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the indices.

        Raises:
            InvalidArgumentError: one is negative.
        """
        self._chosen = list(cc.options(LandmarksToDetectionCalculatorOptions).selected_landmark_indices)
        least = min(self._chosen, default=0)
        if least < 0:
            raise InvalidArgumentError(
                f"selected_landmark_indices holds {least}, but indices are 0 or more; change it in the "
                "options"
            )
        self._needed = max(self._chosen, default=0) + 1

    def process(self, cc: CalculatorContext) -> None:
        """Make the detection of one list."""
        port = cc.input
        if port.is_empty():
            return
        points = LandmarkTable.of(port.payload).values[:, :2]
        if len(points) < self._needed:
            what = f"{self._needed} or more" if self._chosen else "at least one"
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(points)} landmarks, but {what} are needed; connect other "
                "landmarks, or change selected_landmark_indices in the options"
            )
        if self._chosen:
            points = points[self._chosen]
        cc.output.add(_detection(points.tolist()), cc.stamp)


def _detection(points: list[list[float]]) -> Detection:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top = f32(min(GREATEST, *xs)), f32(min(GREATEST, *ys))
    right, bottom = f32(max(SMALLEST, *xs)), f32(max(SMALLEST, *ys))
    detection = Detection()
    location = detection.location_data
    location.format = LocationData.RELATIVE_BOUNDING_BOX
    box = location.relative_bounding_box
    box.xmin, box.ymin = float(left), float(top)
    box.width, box.height = float(right - left), float(bottom - top)
    location.relative_keypoints.extend(LocationData.RelativeKeypoint(x=x, y=y) for x, y in points)
    return detection
