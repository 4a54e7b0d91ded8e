"""Pose: 33 landmarks of one person in an image, and on request the pixels of that person."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

from penstock_mediapipe.solution_base import ExtraSettings, SolutionBase
from penstock_mediapipe.solutions.pose_connections import POSE_CONNECTIONS
from penstock_mediapipe.solutions.pose_parts import check_pose_model, without_presence

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "POSE_CONNECTIONS",
    "ExtraSettings",
    "Pose",
    "PoseLandmark",
]


_GRAPH: Final = "mediapipe/modules/pose_landmark/pose_landmark_cpu.binarypb"
_LANDMARKS: Final = "poselandmarkbyroicpu__tensorstoposelandmarksandsegmentation"


class PoseLandmark(enum.IntEnum):
    """The 33 landmarks of a pose. Left and right are the person's."""

    NOSE = 0
    LEFT_EYE_INNER = 1
    LEFT_EYE = 2
    LEFT_EYE_OUTER = 3
    RIGHT_EYE_INNER = 4
    RIGHT_EYE = 5
    RIGHT_EYE_OUTER = 6
    LEFT_EAR = 7
    RIGHT_EAR = 8
    MOUTH_LEFT = 9
    MOUTH_RIGHT = 10
    LEFT_SHOULDER = 11
    RIGHT_SHOULDER = 12
    LEFT_ELBOW = 13
    RIGHT_ELBOW = 14
    LEFT_WRIST = 15
    RIGHT_WRIST = 16
    LEFT_PINKY = 17
    RIGHT_PINKY = 18
    LEFT_INDEX = 19
    RIGHT_INDEX = 20
    LEFT_THUMB = 21
    RIGHT_THUMB = 22
    LEFT_HIP = 23
    RIGHT_HIP = 24
    LEFT_KNEE = 25
    RIGHT_KNEE = 26
    LEFT_ANKLE = 27
    RIGHT_ANKLE = 28
    LEFT_HEEL = 29
    RIGHT_HEEL = 30
    LEFT_FOOT_INDEX = 31
    RIGHT_FOOT_INDEX = 32


class Pose(SolutionBase):
    """Finds the most prominent person in an image and follows that person in the next ones.

    Args:
        static_image_mode: look for a person in each image as if it were the first, and smooth nothing.
        model_complexity: the model of the landmarks: 0, 1 or 2, the last one the slowest and most exact.
            MediaPipe's wheel has 1 only.
        smooth_landmarks: filter the landmarks over time.
        enable_segmentation: give a mask of the person's pixels too.
        smooth_segmentation: filter the mask over time.
        min_detection_confidence: from which score on a person who was looked for counts, 0 to 1.
        min_tracking_confidence: from which score on a person who is followed counts, 0 to 1.
        extra_settings: see `SolutionBase`.

    Raises:
        Errors are those of `SolutionBase`.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the reference's signature
        self,
        static_image_mode: bool = False,  # noqa: FBT001, FBT002
        model_complexity: int = 1,
        smooth_landmarks: bool = True,  # noqa: FBT001, FBT002
        enable_segmentation: bool = False,  # noqa: FBT001, FBT002
        smooth_segmentation: bool = True,  # noqa: FBT001, FBT002
        min_detection_confidence: float | None = 0.5,
        min_tracking_confidence: float | None = 0.5,
        extra_settings: ExtraSettings | None = None,
    ) -> None:
        check_pose_model(model_complexity)
        super().__init__(
            binary_graph_path=_GRAPH,
            side_inputs={
                "model_complexity": model_complexity,
                "smooth_landmarks": smooth_landmarks and not static_image_mode,
                "enable_segmentation": enable_segmentation,
                "smooth_segmentation": smooth_segmentation and not static_image_mode,
                "use_prev_landmarks": not static_image_mode,
            },
            calculator_params={
                "posedetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": min_detection_confidence,
                f"{_LANDMARKS}__ThresholdingCalculator.threshold": min_tracking_confidence,
            },
            outputs=["pose_landmarks", "pose_world_landmarks", "segmentation_mask"],
            extra_settings=extra_settings,
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the landmarks of a person in an RGB image.

        Returns:
            An object with `pose_landmarks` (NormalizedLandmarkList), `pose_world_landmarks` (LandmarkList, in
            metres from the middle of the hips) and `segmentation_mask` (float32, (height, width), 0 to 1);
            each is None where nothing was found.

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        return without_presence(super().process({"image": image}))
