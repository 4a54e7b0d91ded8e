"""AlignHandToPoseInWorldCalculator: puts the hand of a hand model to the wrist of a pose model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList
from penstock_vision.landmarks.landmark_table import LandmarkTable, X, Y, Z
from penstock_vision.messages.align_hand_to_pose_in_world_pb2 import AlignHandToPoseInWorldCalculatorOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class AlignHandToPoseInWorldCalculator(penstock.Calculator):
    """Moves the landmarks of a hand so that its wrist is where the wrist of the pose is, in metres.

    Inputs HAND_LANDMARKS and POSE_LANDMARKS (LandmarkList); output HAND_LANDMARKS (LandmarkList, new: x, y
    and z minus those of the hand's wrist, plus those of the pose's). Without a hand nothing is sent.
    Timestamp offset 0.

    Options `AlignHandToPoseInWorldCalculatorOptions`: `hand_wrist_idx`, `pose_wrist_idx` (0): which landmarks
    the wrists are.

    Raises in `process`: InvalidArgumentError for a hand without a pose, and where a list does not have its
    wrist.

    Source of the behaviour: MediaPipe `calculators/util/align_hand_to_pose_in_world_calculator.cc`; computed
    in 32 bits.

    Config::

        node {
          calculator: "AlignHandToPoseInWorldCalculator"
          input_stream: "HAND_LANDMARKS:left_hand_in_world"
          input_stream: "POSE_LANDMARKS:pose_in_world"
          output_stream: "HAND_LANDMARKS:left_hand_of_the_pose"
          options {
            [penstock.AlignHandToPoseInWorldCalculatorOptions.ext] { hand_wrist_idx: 0 pose_wrist_idx: 15 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a hand and a pose in, a hand out."""
        cc.inputs["HAND_LANDMARKS"].set(LandmarkList, "a hand, in metres")
        cc.inputs["POSE_LANDMARKS"].set(LandmarkList, "a pose, in metres")
        cc.outputs["HAND_LANDMARKS"].set(LandmarkList, "the hand at the wrist of the pose")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read which landmarks are the wrists."""
        options = cc.options(AlignHandToPoseInWorldCalculatorOptions)
        self._hand_wrist, self._pose_wrist = options.hand_wrist_idx, options.pose_wrist_idx

    def process(self, cc: CalculatorContext) -> None:
        """Move one hand."""
        hand, pose = cc.inputs["HAND_LANDMARKS"], cc.inputs["POSE_LANDMARKS"]
        if hand.is_empty():
            return
        if pose.is_empty():
            raise InvalidArgumentError(
                f"input {pose.name!r} has no packet at timestamp {cc.stamp}, but {hand.name!r} has a hand; "
                "send a pose with each hand"
            )
        table, body = LandmarkTable.of(hand.payload), LandmarkTable.of(pose.payload)
        start = _point(table, self._hand_wrist, hand.name, "hand_wrist_idx")
        end = _point(body, self._pose_wrist, pose.name, "pose_wrist_idx")
        points = table.values[:, :3]
        table.values[:, :3] = points - start + end
        table.have(X, Y, Z)
        cc.outputs["HAND_LANDMARKS"].add(table.make(LandmarkList), cc.stamp)


def _point(table: LandmarkTable, index: int, stream: str, option: str) -> NDArray[np.float32]:
    if not 0 <= index < len(table.values):
        raise InvalidArgumentError(
            f"hand and pose: {option} is {index}, but input {stream!r} holds {len(table.values)} landmarks; "
            "change it in the options"
        )
    return table.values[index, :3].copy()
