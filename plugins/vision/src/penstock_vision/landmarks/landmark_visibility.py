"""LandmarkVisibilityCalculator: sends how visible a landmark is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class LandmarkVisibilityCalculator(penstock.Calculator):
    """Sends the visibility of a landmark as a number.

    Input NORM_LANDMARKS (NormalizedLandmarkList with exactly one landmark, as
    SplitNormalizedLandmarkListCalculator sends it); output VISIBILITY (float, usually 0 to 1; 0 where the
    landmark has none). Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for a list of none or several.

    Source of the behaviour: MediaPipe `calculators/util/landmark_visibility_calculator.cc`.

    Config::

        node {
          calculator: "LandmarkVisibilityCalculator"
          input_stream: "NORM_LANDMARKS:wrist"
          output_stream: "VISIBILITY:wrist_visibility"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a list of one landmark in, a number out."""
        cc.inputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "one landmark")
        cc.outputs["VISIBILITY"].set(float, "how visible it is")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Send the visibility of one landmark."""
        port = cc.input
        if port.is_empty():
            return
        landmarks = port.payload.landmark
        if len(landmarks) != 1:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(landmarks)} landmarks, but exactly one landmark's "
                "visibility is needed; put a SplitNormalizedLandmarkListCalculator before"
            )
        cc.output.add(landmarks[0].visibility, cc.stamp)
