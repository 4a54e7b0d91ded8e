"""PacketPresenceCalculator: writes for each settled timestamp whether there is a packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class PacketPresenceCalculator(penstock.Calculator):
    """Writes true at the timestamp of each packet, and false where a timestamp settles without one.

    So a graph can react to a node upstream that found nothing::

        PACKET    a - b - - c       (- a bound)
        PRESENCE  T F T F F T

    Timestamps that settle together without a packet give one false, at the last of them: a stream with
    packets at 1 and 5 gives true at both and no false between them. So the falses depend on how bounds
    arrive; the trues do not depend on the order of arrival. The timestamp offset is 0.

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
        cc.inputs["PACKET"].set_any("the packets to detect")
        cc.outputs["PRESENCE"].set(bool, "whether there is a packet")
        cc.set_timestamp_offset(0)
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Write the result for the input timestamp."""
        cc.outputs["PRESENCE"].add(not cc.inputs["PACKET"].is_empty(), cc.stamp)
