"""PassThroughCalculator: forwards every packet unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import NO_PAYLOAD
from penstock.ports import port_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorContext, CalculatorContract, Packet


class PassThroughCalculator(penstock.Calculator):
    """Writes each input packet to the output with the same tag and index, the same object.

    Inputs and outputs must have the same tags and indexes. Headers are forwarded. Output side
    packets, if there are any, must match the input side packets and are copies of them; without output
    side packets, input side packets are ignored. The timestamp offset is 0. Without streams the node does
    nothing. Counts its calls in the counter "PassThrough".

    Source of the behaviour: MediaPipe `calculators/core/pass_through_calculator.cc`.

    Example config::

        node {
          calculator: "PassThroughCalculator"
          input_stream: "frames"
          output_stream: "same_frames"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give every output the type of its input."""
        _check_same(cc.inputs.ids(), cc.outputs.ids(), "inputs and outputs")
        for source, target in zip(cc.inputs, cc.outputs, strict=True):
            source.set_any("anything")
            target.set_same_as(source, "the same packets")
        for side in cc.input_side_packets:
            side.set_any("anything")
        if len(cc.output_side_packets):
            _check_same(
                cc.input_side_packets.ids(),
                cc.output_side_packets.ids(),
                "input side packets and output side packets",
            )
            for source, target in zip(cc.input_side_packets, cc.output_side_packets, strict=True):
                target.set_same_as(source, "the same side packet")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Forward headers and side packets."""
        self._passed = cc.counter("PassThrough")
        # nearly every call has this context: pairing its ports again would cost 0.2 us a call
        self._usual = cc
        self._pairs = tuple(zip(cc.inputs, cc.outputs, strict=True))
        for source, target in zip(cc.inputs, cc.outputs, strict=True):
            if not source.header.is_empty():
                target.set_header(source.header)
        for key, side in zip(cc.output_side_packets.ids(), cc.output_side_packets, strict=True):
            packet: Packet = cc.input_side_packets[key]
            side.set(packet)

    def process(self, cc: CalculatorContext) -> None:
        """Forward the packets."""
        self._passed.increment()
        pairs = self._pairs if cc is self._usual else zip(cc.inputs, cc.outputs, strict=True)
        for source, target in pairs:
            packet = source.packet
            if packet.value is not NO_PAYLOAD:  # is_empty(), without the call
                target.add_packet(packet)


def _check_same(sources: Sequence[tuple[str, int]], targets: Sequence[tuple[str, int]], what: str) -> None:
    if tuple(sources) != tuple(targets):
        raise InvalidArgumentError(
            f"{what} must have the same tags and indexes to pass packets through, but are "
            f"{', '.join(port_name(*one) for one in sources) or 'none'} and "
            f"{', '.join(port_name(*one) for one in targets) or 'none'}"
        )
