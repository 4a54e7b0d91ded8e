"""AlignmentPointsRectsCalculator: makes a square of two keypoints of a detection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_vision.detections.detections_to_rects import DetectionsToRectsCalculator
from penstock_vision.detections.keypoints import keypoint_in_pixels, square_around

if TYPE_CHECKING:
    from penstock_formats import Detection
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32
    from penstock_vision.messages.detections_to_rects_pb2 import DetectionsToRectsCalculatorOptions


class AlignmentPointsRectsCalculator(DetectionsToRectsCalculator):
    """Makes a rotated square of two keypoints: one is its centre, the other gives its size and rotation.

    Ports, options and timestamps are those of DetectionsToRectsCalculator, but NORM_RECT and NORM_RECTS are
    not made of the box: the start keypoint is the centre, and the half side is the distance of the end
    keypoint in pixels. So `rotation_vector_start_keypoint_index`, `rotation_vector_end_keypoint_index`, an
    angle and IMAGE_SIZE are needed. `conversion_mode` counts for RECT and RECTS only, which stay boxes.

    Raises in `open`: InvalidArgumentError where a keypoint, an angle or IMAGE_SIZE is missing. In `process`:
    the same for a detection without one of the keypoints.

    Source of the behaviour: MediaPipe `calculators/util/alignment_points_to_rects_calculator.cc`.

    Config::

        node {
          calculator: "AlignmentPointsRectsCalculator"
          input_stream: "DETECTION:pose"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_RECT:pose_rect"
          options {
            [penstock.DetectionsToRectsCalculatorOptions.ext] {
              rotation_vector_start_keypoint_index: 0
              rotation_vector_end_keypoint_index: 1
              rotation_vector_target_angle_degrees: 90
            }
          }
        }
    """

    def _open_rotation(self, options: DetectionsToRectsCalculatorOptions) -> None:
        super()._open_rotation(options)
        if not self._rotates:
            raise InvalidArgumentError(
                "rotation_vector_start_keypoint_index is not set, but that point is the centre of the "
                "alignment square; set it, rotation_vector_end_keypoint_index and an angle in the options"
            )

    def place(
        self, detection: Detection, size: ImageSize | None
    ) -> tuple[Float32, Float32, Float32, Float32]:
        """Return x, y of the start keypoint and the sides of the square."""
        assert size is not None  # noqa: S101  # without a size `process` has returned, since rects are rotated
        center = keypoint_in_pixels(detection, self._start, size)
        return square_around(center, keypoint_in_pixels(detection, self._end, size), size)
