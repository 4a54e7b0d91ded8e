"""MergeCalculator: at each timestamp, the packet of the first input that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class MergeCalculator(penstock.Calculator):
    """Hands on, of the packets of one timestamp, the one of the input with the lowest index.

    For streams that take turns: what a graph does in one branch or the other comes out as one stream.
    The inputs may carry different types::

        0     a . b . .
        1     . c d . e
        out   a c b . e

    The packets that another one went before stand in the ledger as "an input before it had one". The
    timestamp offset is 0, headers are not handed on.

    What comes out does not depend on the order of arrival. With ImmediateInputStreamHandler it does, and
    an input whose packet comes after a later timestamp went out fails the run.

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
        """Accept any number of inputs but none.

        Raises:
            InvalidArgumentError: nothing is connected to merge.
        """
        count = cc.inputs.count("")
        if not count:
            raise InvalidArgumentError("there are 0 untagged inputs; connect at least one")
        if count == 1:
            get_logger(__name__).warning(
                "merges one input only, and so changes nothing", extra=place(node=cc.node_name)
            )
        for i in range(count):
            cc.inputs[i].set_any("goes first" if not i else "goes on where no input before it has a packet")
        cc.outputs[0].set_any("the packets of all inputs")
        cc.set_timestamp_offset(0)

    def process(self, cc: CalculatorContext) -> None:
        """Hand on the first packet, drop the others."""
        is_taken = False
        for port in cc.inputs:
            if port.is_empty():
                continue
            if is_taken:
                port.count_dropped("an input before it had one")
            else:
                cc.outputs[0].add_packet(port.packet)
                is_taken = True
