"""StreamToSidePacketCalculator: the only packet of a stream, as a side packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.lowlevel import UNSET

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class StreamToSidePacketCalculator(penstock.Calculator):
    """Makes the one packet of its input the side packet that other nodes wait for to open.

    The side packet is there as soon as the packet has come, while the run goes on. A second packet is an
    error of the run, ALREADY_EXISTS. Without any packet there is no side packet: nodes that wait for it
    never open, and to ask the graph for it is UNAVAILABLE; the run itself ends well. What comes out does
    not depend on the order of arrival.

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
        cc.output_side_packets[0].set_same_as(cc.inputs[0], "the same, without its timestamp")

    def process(self, cc: CalculatorContext) -> None:
        """Hand it out.

        Raises:
            AlreadyExistsError: it is the second packet.
        """
        cc.output_side_packets[0].set(cc.input.packet.at(UNSET))
