"""RoundRobinDemuxCalculator: distributes the packets of one stream to several, in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class RoundRobinDemuxCalculator(penstock.Calculator):
    """Writes each packet to the next of its outputs, and begins again after the last.

    For work in several branches at the same time. A MuxCalculator with this SELECT joins the results
    in order::

        in        a b c d e
        OUTPUT:0  a . c . e
        OUTPUT:1  . b . d .
        SELECT    0 1 0 1 0

    The outputs whose turn it is not get a bound. The timestamp offset is 0, headers are not forwarded,
    and the output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/round_robin_demux_calculator.cc`.

    Example config::

        node {
          calculator: "RoundRobinDemuxCalculator"
          input_stream: "frames"
          output_stream: "OUTPUT:0:frames_of_worker_0"
          output_stream: "OUTPUT:1:frames_of_worker_1"
          output_stream: "SELECT:worker"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give every output the type of the input.

        Raises:
            InvalidArgumentError: there is no OUTPUT.
        """
        if "OUTPUT" not in cc.outputs:
            raise InvalidArgumentError("the round-robin demux has no output OUTPUT; connect at least one")
        cc.inputs[0].set_any("packets to distribute")
        for i in range(cc.outputs.count("OUTPUT")):
            cc.outputs["OUTPUT", i].set_same_as(cc.inputs[0], f"packet {i}, and so on in turn")
        cc.outputs["SELECT"].set(int, "the index of the output of each packet").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin with the first output."""
        self._count = cc.outputs.count("OUTPUT")
        self._next = 0

    def process(self, cc: CalculatorContext) -> None:
        """Write the packet to the output whose turn it is."""
        packet = cc.inputs[0].packet
        if packet.is_empty():
            return
        cc.outputs["OUTPUT", self._next].add_packet(packet)
        if "SELECT" in cc.outputs:
            cc.outputs["SELECT"].add(self._next, packet.stamp)
        self._next = (self._next + 1) % self._count
