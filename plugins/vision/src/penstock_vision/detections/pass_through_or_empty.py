"""PassThroughOrEmptyDetectionVectorCalculator: an empty list where there are no detections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import Detection

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class PassThroughOrEmptyDetectionVectorCalculator(penstock.Calculator):
    """Forwards lists of detections, and sends an empty list at each tick without one.

    Inputs VECTOR (list[Detection]) and TICK (anything); output VECTOR (list[Detection]). A list without a
    tick is forwarded too. Timestamp offset 0.

    Source of the behaviour: MediaPipe
    `calculators/util/pass_through_or_empty_detection_vector_calculator.cc`.

    Config::

        node {
          calculator: "PassThroughOrEmptyDetectionVectorCalculator"
          input_stream: "TICK:frames"
          input_stream: "VECTOR:detections"
          output_stream: "VECTOR:detections_or_none"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the lists, and the ticks."""
        cc.inputs["VECTOR"].set(list[Detection], "detections")
        cc.inputs["TICK"].set_any("says at which timestamps a list is sent")
        cc.outputs["VECTOR"].set(list[Detection], "these, or an empty list")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Forward one list, or send an empty one."""
        port = cc.inputs["VECTOR"]
        if port.is_empty():
            cc.outputs["VECTOR"].add([], cc.stamp)
        else:
            cc.outputs["VECTOR"].add_packet(port.packet)
