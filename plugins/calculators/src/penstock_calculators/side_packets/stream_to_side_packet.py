"""StreamToSidePacketCalculator: makes the only packet of a stream a side packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.lowlevel import UNSET

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class StreamToSidePacketCalculator(penstock.Calculator):
    """Makes the only packet of its input a side packet, for which other nodes wait to open.

    The side packet is available as soon as the packet has arrived, while the run goes on. A second packet
    ends the run with ALREADY_EXISTS. Without any packet there is no side packet: nodes that wait for it
    never open, and asking the graph for it raises UNAVAILABLE; the run itself ends without an error. The
    output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/stream_to_side_packet_calculator.cc`.

    Example config::

        node {
          calculator: "StreamToSidePacketCalculator"
          input_stream: "calibration"
          output_side_packet: "camera_matrix"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give the side packet the type of the stream."""
        cc.inputs[0].set_any("a stream of one packet")
        cc.output_side_packets[0].set_same_as(cc.inputs[0], "the same packet, without its timestamp")
        cc.declare(may_skip=False, stateless=False)

    def process(self, cc: CalculatorContext) -> None:
        """Set the side packet.

        Raises:
            AlreadyExistsError: the packet is the second one.
        """
        cc.output_side_packets[0].set(cc.input.packet.at(UNSET))
