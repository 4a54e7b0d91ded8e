"""RealTimePaceCalculator: packets at the pace of their timestamps, as a camera gives them."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

import penstock

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: A packet waits no longer than so many seconds.
_LONGEST_S: Final = 10.0


class RealTimePaceCalculator(penstock.Calculator):
    """Forward each packet when its time has come, as if a camera had taken it then.

    Input 0 (any) to output 0 (the same packets). The first packet is forwarded at once; another one as long
    after it as their timestamps say, in microseconds, or at once if that time is over. After a gap of
    more than ten seconds the packet is forwarded at once, and the pace starts again. Timestamp offset 0.

    Meanwhile the call of `process` waits, on a thread of the graph: it is meant for one node behind a
    source of a file, to try what a graph does with a camera.

    Config::

        node {
          calculator: "RealTimePaceCalculator"
          input_stream: "decoded"
          output_stream: "frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Forward one stream of any type."""
        cc.outputs[0].set_same_as(cc.inputs[0].set_any("packets"), "the same packets, later")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the stream header."""
        self._zero_s: float | None = None
        if not cc.inputs[0].header.is_empty():
            cc.outputs[0].set_header(cc.inputs[0].header)

    def process(self, cc: CalculatorContext) -> None:
        """Wait until the packet's time has come."""
        if cc.inputs[0].is_empty():
            return
        at_s = cc.stamp / 1e6
        if self._zero_s is None:
            self._zero_s = monotonic() - at_s
        early = self._zero_s + at_s - monotonic()
        if early > _LONGEST_S:
            self._zero_s -= early
            early = 0.0
        sleep(max(early, 0))
        cc.outputs[0].add_packet(cc.inputs[0].packet)
