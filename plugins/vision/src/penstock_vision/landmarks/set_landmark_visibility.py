"""SetLandmarkVisibilityCalculator: gives a landmark a visibility."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class SetLandmarkVisibilityCalculator(penstock.Calculator):
    """Gives a landmark the visibility that comes as a number.

    Inputs NORM_LANDMARKS (NormalizedLandmarkList with exactly one landmark) and VISIBILITY (float); output
    NORM_LANDMARKS (a new list). Where one of them has no packet, nothing is sent. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for a list of none or several.

    Source of the behaviour: MediaPipe `calculators/util/set_landmark_visibility_calculator.cc`.

    Config::

        node {
          calculator: "SetLandmarkVisibilityCalculator"
          input_stream: "NORM_LANDMARKS:wrist"
          input_stream: "VISIBILITY:hand_visibility"
          output_stream: "NORM_LANDMARKS:wrist_of_the_hand"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a landmark and a number in, a landmark out."""
        cc.inputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "one landmark")
        cc.inputs["VISIBILITY"].set(float, "how visible it is")
        cc.outputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "the landmark with that visibility")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Change one landmark."""
        port, visibility = cc.inputs["NORM_LANDMARKS"], cc.inputs["VISIBILITY"]
        if port.is_empty() or visibility.is_empty():
            return
        count = len(port.payload.landmark)
        if count != 1:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {count} landmarks, but the visibility of exactly one is set; put "
                "a SplitNormalizedLandmarkListCalculator before"
            )
        made = NormalizedLandmarkList()
        made.CopyFrom(port.payload)
        made.landmark[0].visibility = visibility.payload
        cc.outputs["NORM_LANDMARKS"].add(made, cc.stamp)
