"""PacketPresenceCalculator: whether there is a packet, for each settled timestamp."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class PacketPresenceCalculator(penstock.Calculator):
    """Writes true at the timestamp of each packet, and false where a timestamp settles without one.

    How a graph notices that something upstream did not find anything::

        PACKET    a - b - - c       (- a bound)
        PRESENCE  T F T F F T

    Timestamps that settle together without a packet give one false, at the last of them: a stream
    that jumps from 1 to 5 gives true at both and nothing between. So which falses there are depends on
    how bounds come in; the trues do not depend on the order of arrival. The timestamp offset is 0.

    Source of the behaviour: MediaPipe `calculators/core/packet_presence_calculator.cc`.

    Example config::

        node {
          calculator: "PacketPresenceCalculator"
          input_stream: "PACKET:faces"
          output_stream: "PRESENCE:face_is_there"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the two ports."""
        cc.inputs["PACKET"].set_any("what is there or not")
        cc.outputs["PRESENCE"].set(bool, "whether there is a packet")
        cc.set_timestamp_offset(0)
        cc.set_process_timestamp_bounds()

    def process(self, cc: CalculatorContext) -> None:
        """Answer for the input timestamp."""
        cc.outputs["PRESENCE"].add(not cc.inputs["PACKET"].is_empty(), cc.stamp)
