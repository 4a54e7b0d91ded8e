"""PacketInnerJoinCalculator: forwards packets of timestamps at which every input has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class PacketInnerJoinCalculator(penstock.Calculator):
    """Forwards the packets of a timestamp if every input has one, and drops them otherwise.

    Input i goes to output i::

        0      a b c d e . g
        1      A . C . E F G
        out 0  a . c . e . g
        out 1  A . C . E . G

    Packets without partners appear in the ledger as "not in every input". The timestamp offset is 0,
    headers are not forwarded. The output does not depend on the order of arrival, unless the node's policy
    drops packets first: the reference intends this calculator for FixedSizeInputStreamHandler, which drops
    packets that queue up while streams are out of step.

    Source of the behaviour: MediaPipe `calculators/core/packet_inner_join_calculator.cc`.

    Example config::

        node {
          calculator: "PacketInnerJoinCalculator"
          input_stream: "frames_left"
          input_stream: "frames_right"
          output_stream: "paired_left"
          output_stream: "paired_right"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each output the type of its input.

        Raises:
            InvalidArgumentError: there are no inputs, or not as many outputs as inputs.
        """
        count = cc.inputs.count("")
        if not count or cc.outputs.count("") != count:
            raise InvalidArgumentError(
                f"the inner join has {count} untagged inputs and {cc.outputs.count('')} untagged outputs; "
                "connect at least one input, and an output for each"
            )
        for i in range(count):
            cc.inputs[i].set_any("packets to join")
            cc.outputs[i].set_same_as(cc.inputs[i], "the packets that have a partner in every input")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Forward a complete set, drop an incomplete one."""
        has_all = not any(port.is_empty() for port in cc.inputs)
        for port, output in zip(cc.inputs, cc.outputs, strict=True):
            if has_all:
                output.add_packet(port.packet)
            elif not port.is_empty():
                port.count_dropped("not in every input")
