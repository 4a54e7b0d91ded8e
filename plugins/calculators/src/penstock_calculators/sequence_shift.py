"""SequenceShiftCalculator: gives each packet the timestamp of one that is so many packets away."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.sequence_shift_calculator_pb2 import SequenceShiftCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet


class SequenceShiftCalculator(penstock.Calculator):
    """Hands on packet i at the timestamp of packet i + `packet_offset`.

    A positive offset holds packets back, a negative one brings them forward, so that a packet stands at
    the timestamp of an earlier or later one of its stream::

        in         a b c d e
        offset  2  . . a b c        (d and e are dropped)
        offset -1  b c d e .        (a is dropped)

    Packets without a timestamp to go to stand in the ledger as "no packet so far away": the last ones of
    a positive, the first ones of a negative offset. With offset 0 each packet goes through, and so do
    bounds; otherwise there is no timestamp offset, and a bound comes only with a packet. What comes out
    does not depend on the order of arrival. Headers are not handed on.

    Options: `packet_offset` (default -1); side packet PACKET_OFFSET, an int, goes before it.
    `emit_empty_packets_before_first_packet` is refused with a positive offset, as in the reference.

    Source of the behaviour: MediaPipe `calculators/core/sequence_shift_calculator.cc`.

    Example config::

        node {
          calculator: "SequenceShiftCalculator"
          input_stream: "frames"
          output_stream: "frames_before"
          options {
            [penstock.SequenceShiftCalculatorOptions.ext] { packet_offset: 1 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give the output the type of the input.

        Raises:
            InvalidArgumentError: the options contradict each other.
        """
        cc.inputs[0].set_any("what is shifted")
        cc.outputs[0].set_same_as(cc.inputs[0], "the same packets at timestamps of others")
        cc.input_side_packets["PACKET_OFFSET"].set(int, "goes before the option packet_offset").optional()
        options = cc.options(SequenceShiftCalculatorOptions)
        if "PACKET_OFFSET" not in cc.input_side_packets:
            _check(options, options.packet_offset)

    def open(self, cc: CalculatorContext) -> None:
        """Find the offset.

        Raises:
            InvalidArgumentError: it contradicts the options.
        """
        options = cc.options(SequenceShiftCalculatorOptions)
        self._offset = options.packet_offset
        if "PACKET_OFFSET" in cc.input_side_packets:
            self._offset = cc.input_side_packets["PACKET_OFFSET"].get(int)
        _check(options, self._offset)
        if self._offset == 0:
            cc.set_offset(0)
        #: Packets that wait for a timestamp, or timestamps that wait for a packet.
        self._packets: deque[Packet] = deque()
        self._stamps: deque[int] = deque()

    def process(self, cc: CalculatorContext) -> None:
        """Bring the packet, or an earlier one, together with its timestamp."""
        port, output = cc.inputs[0], cc.outputs[0]
        packet = port.packet
        if packet.is_empty():
            return
        if self._offset >= 0:
            self._packets.append(packet)
            if len(self._packets) > self._offset:
                output.add_packet(self._packets.popleft().at(packet.stamp))
            return
        self._stamps.append(packet.stamp)
        if len(self._stamps) > -self._offset:
            output.add_packet(packet.at(self._stamps.popleft()))
        else:
            port.count_dropped("no packet so far away")

    def close(self, cc: CalculatorContext) -> None:
        """Account for what still waits."""
        cc.inputs[0].count_dropped("no packet so far away", len(self._packets))
        self._packets.clear()


def _check(options: SequenceShiftCalculatorOptions, offset: int) -> None:
    if options.emit_empty_packets_before_first_packet and offset > 0:
        raise InvalidArgumentError(
            f"emit_empty_packets_before_first_packet is not supported with packet_offset {offset}, "
            "which is above 0; remove it"
        )
