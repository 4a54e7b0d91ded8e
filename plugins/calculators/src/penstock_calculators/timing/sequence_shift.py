"""SequenceShiftCalculator: gives each packet the timestamp of one a fixed number of packets away."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.messages.sequence_shift_pb2 import SequenceShiftCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet


class SequenceShiftCalculator(penstock.Calculator):
    """Forwards packet i at the timestamp of packet i + `packet_offset`.

    A positive offset gives packets the timestamps of later packets of the stream, a negative one those of
    earlier packets::

        in         a b c d e
        offset  2  . . a b c        (d and e are dropped)
        offset -1  b c d e .        (a is dropped)

    Packets without a new timestamp appear in the ledger as "no packet so far away": the last ones with a
    positive offset, the first ones with a negative. With offset 0 packets and bounds are forwarded as they
    are; otherwise there is no timestamp offset, and a bound comes only with a packet. The output does not
    depend on the order of arrival. Headers are not forwarded.

    Options: `packet_offset` (default -1); side packet PACKET_OFFSET, an int, replaces it.
    `emit_empty_packets_before_first_packet` is an error with a positive offset, as in the reference.

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
        cc.inputs[0].set_any("packets to shift")
        cc.outputs[0].set_same_as(cc.inputs[0], "the same packets at timestamps of others")
        cc.input_side_packets["PACKET_OFFSET"].set(int, "replaces the option packet_offset").optional()
        options = cc.options(SequenceShiftCalculatorOptions)
        if "PACKET_OFFSET" not in cc.input_side_packets:
            _check(options, options.packet_offset)
        cc.declare(may_skip=False, stateless=False)  # only at the ends of the stream timestamps stay empty

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
        """Write the packet, or an earlier one, at its new timestamp."""
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
        """Count the packets that still wait as dropped."""
        cc.inputs[0].count_dropped("no packet so far away", len(self._packets))
        self._packets.clear()


def _check(options: SequenceShiftCalculatorOptions, offset: int) -> None:
    if options.emit_empty_packets_before_first_packet and offset > 0:
        raise InvalidArgumentError(
            f"emit_empty_packets_before_first_packet cannot go with a shift by packet_offset {offset}, which "
            "is above 0; remove it"
        )
