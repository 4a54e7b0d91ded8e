"""Hands: the landmarks of each hand in an image, and which hand it is."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

from penstock_mediapipe.solution_base import SolutionBase
from penstock_mediapipe.solutions.hands_connections import HAND_CONNECTIONS

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "HAND_CONNECTIONS",
    "HandLandmark",
    "Hands",
]


_GRAPH: Final = "mediapipe/modules/hand_landmark/hand_landmark_tracking_cpu.binarypb"


class HandLandmark(enum.IntEnum):
    """The 21 landmarks of a hand."""

    WRIST = 0
    THUMB_CMC = 1
    THUMB_MCP = 2
    THUMB_IP = 3
    THUMB_TIP = 4
    INDEX_FINGER_MCP = 5
    INDEX_FINGER_PIP = 6
    INDEX_FINGER_DIP = 7
    INDEX_FINGER_TIP = 8
    MIDDLE_FINGER_MCP = 9
    MIDDLE_FINGER_PIP = 10
    MIDDLE_FINGER_DIP = 11
    MIDDLE_FINGER_TIP = 12
    RING_FINGER_MCP = 13
    RING_FINGER_PIP = 14
    RING_FINGER_DIP = 15
    RING_FINGER_TIP = 16
    PINKY_MCP = 17
    PINKY_PIP = 18
    PINKY_DIP = 19
    PINKY_TIP = 20


class Hands(SolutionBase):
    """Finds hands in an image and follows them in the next ones.

    Left and right are named as in a mirrored image, as a front camera gives it; flip other images first:
    `cv2.flip(image, 1)`.

    Args:
        static_image_mode: look for hands in each image as if it were the first, and follow none.
        max_num_hands: how many hands are looked for, from 1 on.
        model_complexity: the model of the landmarks: 0 is faster, 1 more exact.
        min_detection_confidence: from which score on a hand that was looked for counts, 0 to 1.
        min_tracking_confidence: from which score on a hand that is followed counts, 0 to 1.

    Raises:
        Errors are those of `SolutionBase`.
    """

    def __init__(  # the reference's signature
        self,
        static_image_mode: bool = False,  # noqa: FBT001, FBT002
        max_num_hands: int = 2,
        model_complexity: int = 1,
        min_detection_confidence: float | None = 0.5,
        min_tracking_confidence: float | None = 0.5,
    ) -> None:
        super().__init__(
            binary_graph_path=_GRAPH,
            side_inputs={
                "model_complexity": model_complexity,
                "num_hands": max_num_hands,
                "use_prev_landmarks": not static_image_mode,
            },
            calculator_params={
                "palmdetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": min_detection_confidence,
                "handlandmarkcpu__ThresholdingCalculator.threshold": min_tracking_confidence,
            },
            outputs=["multi_hand_landmarks", "multi_hand_world_landmarks", "multi_handedness"],
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the hands in an RGB image.

        Returns:
            An object with lists that have one element for each hand, or None without a hand:
            `multi_hand_landmarks` (NormalizedLandmarkList: x and y are parts of the image's width and
            height), `multi_hand_world_landmarks` (LandmarkList, in metres from the hand's centre),
            `multi_handedness` (ClassificationList: "Left" or "Right", and the score).

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        return super().process({"image": image})
