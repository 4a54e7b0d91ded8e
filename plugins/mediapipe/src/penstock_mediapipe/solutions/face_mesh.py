"""Face mesh: 468 landmarks of each face in an image, and ten more of the irises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_mediapipe.solution_base import SolutionBase
from penstock_mediapipe.solutions.face_mesh_connections import (
    FACEMESH_CONTOURS,
    FACEMESH_FACE_OVAL,
    FACEMESH_IRISES,
    FACEMESH_LEFT_EYE,
    FACEMESH_LEFT_EYEBROW,
    FACEMESH_LEFT_IRIS,
    FACEMESH_LIPS,
    FACEMESH_NOSE,
    FACEMESH_RIGHT_EYE,
    FACEMESH_RIGHT_EYEBROW,
    FACEMESH_RIGHT_IRIS,
    FACEMESH_TESSELATION,
)

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "FACEMESH_CONTOURS",
    "FACEMESH_FACE_OVAL",
    "FACEMESH_IRISES",
    "FACEMESH_LEFT_EYE",
    "FACEMESH_LEFT_EYEBROW",
    "FACEMESH_LEFT_IRIS",
    "FACEMESH_LIPS",
    "FACEMESH_NOSE",
    "FACEMESH_NUM_LANDMARKS",
    "FACEMESH_NUM_LANDMARKS_WITH_IRISES",
    "FACEMESH_RIGHT_EYE",
    "FACEMESH_RIGHT_EYEBROW",
    "FACEMESH_RIGHT_IRIS",
    "FACEMESH_TESSELATION",
    "FaceMesh",
]


FACEMESH_NUM_LANDMARKS: Final = 468
FACEMESH_NUM_LANDMARKS_WITH_IRISES: Final = 478
_GRAPH: Final = "mediapipe/modules/face_landmark/face_landmark_front_cpu.binarypb"
_DETECTION: Final = "facedetectionshortrangecpu__facedetectionshortrange__facedetection"


class FaceMesh(SolutionBase):
    """Finds faces in an image and follows them in the next ones.

    Args:
        static_image_mode: look for faces in each image as if it were the first, and follow none.
        max_num_faces: how many faces are looked for, from 1 on.
        refine_landmarks: landmarks of eyes and lips are more exact, and those of the irises are added.
        min_detection_confidence: from which score on a face that was looked for counts, 0 to 1.
        min_tracking_confidence: from which score on a face that is followed counts, 0 to 1.

    Raises:
        Errors are those of `SolutionBase`.
    """

    def __init__(  # the reference's signature
        self,
        static_image_mode: bool = False,  # noqa: FBT001, FBT002
        max_num_faces: int = 1,
        refine_landmarks: bool = False,  # noqa: FBT001, FBT002
        min_detection_confidence: float | None = 0.5,
        min_tracking_confidence: float | None = 0.5,
    ) -> None:
        super().__init__(
            binary_graph_path=_GRAPH,
            side_inputs={
                "num_faces": max_num_faces,
                "with_attention": refine_landmarks,
                "use_prev_landmarks": not static_image_mode,
            },
            calculator_params={
                f"{_DETECTION}__TensorsToDetectionsCalculator.min_score_thresh": min_detection_confidence,
                "facelandmarkcpu__ThresholdingCalculator.threshold": min_tracking_confidence,
            },
            outputs=["multi_face_landmarks"],
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the landmarks of the faces in an RGB image.

        Returns:
            An object with `multi_face_landmarks`: a NormalizedLandmarkList for each face, or None without a
            face.

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        return super().process({"image": image})
