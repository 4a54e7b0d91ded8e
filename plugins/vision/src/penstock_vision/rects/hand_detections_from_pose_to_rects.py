"""HandDetectionsFromPoseToRectsCalculator: makes a square of the wrist and two fingers of a pose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_vision.detections.detections_to_rects import DetectionsToRectsCalculator
from penstock_vision.detections.keypoints import keypoint_in_pixels, rotation_between, square_around
from penstock_vision.geometry.single_precision import TWO, f32

if TYPE_CHECKING:
    from penstock_formats import Detection
    from penstock_vision.detections.keypoints import Point
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32
    from penstock_vision.messages.detections_to_rects_pb2 import DetectionsToRectsCalculatorOptions

_WRIST: Final = 0
_PINKY: Final = 1
_INDEX: Final = 2
_THREE: Final = f32(3)
_UPRIGHT: Final = f32(math.pi * 0.5)


class HandDetectionsFromPoseToRectsCalculator(DetectionsToRectsCalculator):
    """Makes a rotated square around a hand of which a pose model knows wrist, pinky and index finger.

    Ports and timestamps are those of DetectionsToRectsCalculator; IMAGE_SIZE is needed. Each
    detection has the keypoints 0 wrist, 1 pinky, 2 index finger. For NORM_RECT and NORM_RECTS the centre is
    the middle finger, guessed at a third of the way from index finger to pinky; the half side is its
    distance from the wrist in pixels; the rotation turns the vector from the wrist to it upright. RECT
    and RECTS stay boxes with that rotation.

    Options `DetectionsToRectsCalculatorOptions`: `output_zero_rect_for_empty_detections` (false) and
    `conversion_mode` (for RECT and RECTS) as there; all others are ignored.

    Raises in `open`: InvalidArgumentError without IMAGE_SIZE. In `process`: the same for a detection with
    fewer than three keypoints.

    Source of the behaviour: MediaPipe
    `modules/holistic_landmark/calculators/hand_detections_from_pose_to_rects_calculator.cc`.

    Config::

        node {
          calculator: "HandDetectionsFromPoseToRectsCalculator"
          input_stream: "DETECTION:hand_of_pose"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_RECT:hand_rect"
        }
    """

    def _open_rotation(self, options: DetectionsToRectsCalculatorOptions) -> None:  # noqa: ARG002  # as there
        if not self._has_size:
            raise InvalidArgumentError(
                "there is no input IMAGE_SIZE, but the hand's square is computed from the pose in pixels; "
                "connect the SIZE of an ImagePropertiesCalculator"
            )
        self._rotates = True

    def place(
        self, detection: Detection, size: ImageSize | None
    ) -> tuple[Float32, Float32, Float32, Float32]:
        """Return x, y of the middle finger and the sides of the square."""
        assert size is not None  # noqa: S101  # without a size `process` has returned, since rects are rotated
        return square_around(
            _middle_finger(detection, size), keypoint_in_pixels(detection, _WRIST, size), size
        )

    def rotation(self, detection: Detection, size: ImageSize) -> Float32:
        """Return the rotation that turns wrist to middle finger upright."""
        wrist = keypoint_in_pixels(detection, _WRIST, size)
        return rotation_between(wrist, _middle_finger(detection, size), _UPRIGHT)


def _middle_finger(detection: Detection, size: ImageSize) -> Point:
    pinky = keypoint_in_pixels(detection, _PINKY, size)
    index = keypoint_in_pixels(detection, _INDEX, size)
    return (TWO * index[0] + pinky[0]) / _THREE, (TWO * index[1] + pinky[1]) / _THREE
