"""MergeCalculator: forwards, at each timestamp, the packet of the first input that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class MergeCalculator(penstock.Calculator):
    """Forwards, of the packets of one timestamp, the one of the input with the lowest index.

    For streams that take turns: the results of one branch or the other become one stream.
    The inputs may carry different types::

        0     a . b . .
        1     . c d . e
        out   a c b . e

    The packets of the other inputs appear in the ledger as "an input before it had one". The timestamp
    offset is 0, headers are not forwarded.

    The output does not depend on the order of arrival. With ImmediateInputStreamHandler it does, and a
    packet that arrives after one of a later timestamp was forwarded fails the run.

    Source of the behaviour: MediaPipe `calculators/core/merge_calculator.cc`.

    Example config::

        node {
          calculator: "MergeCalculator"
          input_stream: "faces_found"
          input_stream: "faces_tracked"
          output_stream: "faces"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept one or more inputs.

        Raises:
            InvalidArgumentError: no untagged input is connected.
        """
        count = cc.inputs.count("")
        if not count:
            raise InvalidArgumentError("there are 0 untagged inputs to merge; connect at least one")
        if count == 1:
            get_logger(__name__).warning(
                "merges only one input, which changes nothing", extra=place(node=cc.node_name)
            )
        for i in range(count):
            cc.inputs[i].set_any("wins over the others" if not i else "used where no input before has one")
        cc.outputs[0].set_any("the packets of all inputs")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Forward the first packet, drop the others."""
        is_taken = False
        for port in cc.inputs:
            if port.is_empty():
                continue
            if is_taken:
                port.count_dropped("an input before it had one")
            else:
                cc.outputs[0].add_packet(port.packet)
                is_taken = True
