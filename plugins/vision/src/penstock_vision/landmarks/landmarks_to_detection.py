"""LandmarksToDetectionCalculator: makes a detection of landmarks: a box and keypoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData, NormalizedLandmarkList
from penstock_vision.geometry.single_precision import GREATEST, SMALLEST
from penstock_vision.landmarks.landmark_table import LandmarkTable
from penstock_vision.messages.landmarks_to_detection_pb2 import LandmarksToDetectionCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

#: A keypoint in a LocationData as protobuf writes it: field 5, 10 bytes, the float x, the float y; both 0.
_KEYPOINT: Final = b"\x2a\x0a\x0d\0\0\0\0\x15\0\0\0\0"
#: Where x stands in it, and how far behind it y does.
_FIRST_NUMBER: Final = 3
_NUMBER: Final = 5


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
                "landmarks, or change selected_landmark_indices of the detection in the options"
            )
        if self._chosen:
            points = points[self._chosen]
        cc.output.add(_detection(points), cc.stamp)


def _detection(points: NDArray[np.float32]) -> Detection:
    # As comparing one after the other does, `fmin` and `fmax` leave out what is not a number.
    left, top = np.fmin.reduce(points, initial=GREATEST)
    right, bottom = np.fmax.reduce(points, initial=SMALLEST)
    detection = Detection()
    location = detection.location_data
    location.format = LocationData.RELATIVE_BOUNDING_BOX
    box = location.relative_bounding_box
    box.xmin, box.ymin = float(left), float(top)
    box.width, box.height = float(right - left), float(bottom - top)
    location.MergeFromString(_keypoints(points))
    return detection


def _keypoints(points: NDArray[np.float32]) -> bytes:
    """Return the bytes of a LocationData that has a keypoint for each point, and nothing else.

    Faces have 468 points, and setting each field of each from Python took a fifth of a face's time.
    """
    laid = bytearray(_KEYPOINT * len(points))
    shape, steps = points.shape, (len(_KEYPOINT), _NUMBER)
    np.ndarray(shape, "<f4", laid, _FIRST_NUMBER, steps)[...] = points
    return bytes(laid)
