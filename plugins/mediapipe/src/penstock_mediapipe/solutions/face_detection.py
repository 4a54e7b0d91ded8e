"""Face detection: the boxes of the faces in an image, and six points of each."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

from penstock_mediapipe.solution_base import SolutionBase

if TYPE_CHECKING:
    import numpy as np

    from penstock_formats import Detection, LocationData

_GRAPH: Final = "mediapipe/modules/face_detection/face_detection_{}_range_cpu.binarypb"


class FaceKeyPoint(enum.IntEnum):
    """The six points of a face."""

    RIGHT_EYE = 0
    LEFT_EYE = 1
    NOSE_TIP = 2
    MOUTH_CENTER = 3
    RIGHT_EAR_TRAGION = 4
    LEFT_EAR_TRAGION = 5


def get_key_point(
    detection: Detection | None, key_point_enum: FaceKeyPoint
) -> LocationData.RelativeKeypoint | None:
    """Return a point of a face; None without a detection.

    Raises:
        IndexError: the detection does not have this point.
    """
    return detection.location_data.relative_keypoints[key_point_enum] if detection else None


class FaceDetection(SolutionBase):
    """Finds faces in an image; each image is looked at as if it were the first.

    Args:
        min_detection_confidence: without effect, as in the reference, which sets it on a graph that is
            expanded already: faces count from a score of 0.5 on with model 0, and of 0.6 with model 1.
        model_selection: 0 for faces within 2 metres of the camera, 1 for faces within 5 metres.

    Raises:
        Errors are those of `SolutionBase`.
    """

    def __init__(
        self,
        min_detection_confidence: float = 0.5,  # noqa: ARG002  # see above
        model_selection: int = 0,
    ) -> None:
        super().__init__(
            binary_graph_path=_GRAPH.format("full" if model_selection == 1 else "short"),
            outputs=["detections"],
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the faces in an RGB image.

        Returns:
            An object with `detections`: a list of Detection with boxes and points as parts of the image's
            width and height, or None without a face.

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        return super().process({"image": image})
