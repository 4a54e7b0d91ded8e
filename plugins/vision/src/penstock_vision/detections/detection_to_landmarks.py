"""DetectionToLandmarksCalculator: the keypoints of a detection as landmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import Detection, NormalizedLandmarkList

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class DetectionToLandmarksCalculator(penstock.Calculator):
    """Makes a landmark of each keypoint of a detection.

    Input DETECTION (Detection); output LANDMARKS (NormalizedLandmarkList: x and y of each keypoint, in
    fractions of the image's size; no z). Labels and scores of keypoints are left out. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/util/detection_to_landmarks_calculator.cc`.

    Config::

        node {
          calculator: "DetectionToLandmarksCalculator"
          input_stream: "DETECTION:face"
          output_stream: "LANDMARKS:face_points"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a detection in, landmarks out."""
        cc.inputs["DETECTION"].set(Detection, "a detection with keypoints")
        cc.outputs["LANDMARKS"].set(NormalizedLandmarkList, "a landmark for each keypoint")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Convert the keypoints of one detection."""
        port = cc.inputs["DETECTION"]
        if port.is_empty():
            return
        made = NormalizedLandmarkList()
        for point in port.payload.location_data.relative_keypoints:
            made.landmark.add(x=point.x, y=point.y)
        cc.outputs["LANDMARKS"].add(made, cc.stamp)
