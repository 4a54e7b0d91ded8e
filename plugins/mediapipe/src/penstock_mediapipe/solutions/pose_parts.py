"""What the solutions pose and holistic share."""

from __future__ import annotations

from typing import Any, Final

from penstock_mediapipe.model_places import check_separate_model
from penstock_mediapipe.resource_util import finder

#: Complexity → the model that MediaPipe's wheel does not have.
_SEPARATE: Final = {
    0: "mediapipe/modules/pose_landmark/pose_landmark_lite.tflite",
    2: "mediapipe/modules/pose_landmark/pose_landmark_heavy.tflite",
}


def check_pose_model(model_complexity: int) -> None:
    """Refuse to begin without the model of this complexity.

    Raises:
        FileNotFoundError: no place has it; the message says from where it comes.
    """
    if model_complexity in _SEPARATE:
        check_separate_model(_SEPARATE[model_complexity], finder())


def without_presence(results: Any) -> Any:
    """Clear `presence` of the landmarks of a pose: programs get their visibility only."""
    for landmarks in (results.pose_landmarks, results.pose_world_landmarks):
        for landmark in landmarks.landmark if landmarks is not None else ():
            landmark.ClearField("presence")
    return results
