"""Holistic: pose, face and both hands of one person in an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_mediapipe.solution_base import SolutionBase
from penstock_mediapipe.solutions.face_mesh_connections import FACEMESH_CONTOURS, FACEMESH_TESSELATION
from penstock_mediapipe.solutions.hands import HandLandmark
from penstock_mediapipe.solutions.hands_connections import HAND_CONNECTIONS
from penstock_mediapipe.solutions.pose import PoseLandmark
from penstock_mediapipe.solutions.pose_connections import POSE_CONNECTIONS
from penstock_mediapipe.solutions.pose_parts import check_pose_model, without_presence

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "FACEMESH_CONTOURS",
    "FACEMESH_TESSELATION",
    "HAND_CONNECTIONS",
    "POSE_CONNECTIONS",
    "HandLandmark",
    "Holistic",
    "PoseLandmark",
]


_GRAPH: Final = "mediapipe/modules/holistic_landmark/holistic_landmark_cpu.binarypb"
_DETECTION: Final = "poselandmarkcpu__posedetectioncpu"
_LANDMARKS: Final = "poselandmarkcpu__poselandmarkbyroicpu__tensorstoposelandmarksandsegmentation"


class Holistic(SolutionBase):
    """Finds the most prominent person in an image and follows that person's pose, face and hands.

    Args:
        static_image_mode: look for a person in each image as if it were the first, and smooth nothing.
        model_complexity: the model of the pose: 0, 1 or 2; MediaPipe's wheel has 1 only.
        smooth_landmarks: filter the landmarks of the pose over time.
        enable_segmentation: give a mask of the person's pixels too.
        smooth_segmentation: filter the mask over time.
        refine_face_landmarks: landmarks of eyes and lips are more exact, and those of the irises are added.
        min_detection_confidence: from which score on a person who was looked for counts, 0 to 1.
        min_tracking_confidence: from which score on a person who is followed counts, 0 to 1.

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
        refine_face_landmarks: bool = False,  # noqa: FBT001, FBT002
        min_detection_confidence: float | None = 0.5,
        min_tracking_confidence: float | None = 0.5,
    ) -> None:
        check_pose_model(model_complexity)
        super().__init__(
            binary_graph_path=_GRAPH,
            side_inputs={
                "model_complexity": model_complexity,
                "smooth_landmarks": smooth_landmarks and not static_image_mode,
                "enable_segmentation": enable_segmentation,
                "smooth_segmentation": smooth_segmentation and not static_image_mode,
                "refine_face_landmarks": refine_face_landmarks,
                "use_prev_landmarks": not static_image_mode,
            },
            calculator_params={
                f"{_DETECTION}__TensorsToDetectionsCalculator.min_score_thresh": min_detection_confidence,
                f"{_LANDMARKS}__ThresholdingCalculator.threshold": min_tracking_confidence,
            },
            outputs=[
                "pose_landmarks",
                "pose_world_landmarks",
                "left_hand_landmarks",
                "right_hand_landmarks",
                "face_landmarks",
                "segmentation_mask",
            ],
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the landmarks of a person in an RGB image.

        Returns:
            An object with `pose_landmarks`, `left_hand_landmarks`, `right_hand_landmarks`, `face_landmarks`
            (NormalizedLandmarkList each), `pose_world_landmarks` (LandmarkList, in metres from the middle of
            the hips) and `segmentation_mask` (float32, (height, width), 0 to 1); each is None where nothing
            was found.

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        return without_presence(super().process({"image": image}))
