"""CallbackCalculator: calls a function of the application with packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class CallbackCalculator(penstock.Calculator):
    """Calls a function, given as a side packet, with the packets of its inputs.

    Side packet CALLBACK: called with the packet of the only input. Side packet VECTOR_CALLBACK:
    called with a list of all inputs' packets of one timestamp, with an empty packet for an input without
    one. With side packet OBSERVE_TIMESTAMP_BOUNDS (a bool) true, the function is also called for newly
    settled timestamps, with empty packets: once where several are settled together, so how often depends on
    the order of arrival. The calls with packets do not.

    The function runs on a thread of the node's executor; an exception that it raises ends the run with an
    error. For a single stream `graph.observe_output_stream` does the same without a node.

    Source of the behaviour: MediaPipe `framework/tool/sink.cc`.

    Example config::

        node {
          calculator: "CallbackCalculator"
          input_stream: "frames"
          input_side_packet: "CALLBACK:on_frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept anything; exactly one of the two callbacks."""
        for port in cc.inputs:
            port.set_any("anything")
        sides = cc.input_side_packets
        if ("CALLBACK" in sides) == ("VECTOR_CALLBACK" in sides):
            raise InvalidArgumentError(
                "give one of the callback's side packets CALLBACK and VECTOR_CALLBACK, not both"
            )
        if "CALLBACK" in sides and len(cc.inputs) != 1:
            raise InvalidArgumentError(
                f"the callback CALLBACK takes one input, but there are {len(cc.inputs)}; use VECTOR_CALLBACK"
            )
        sides["CALLBACK"].set(Callable, "called with each packet").optional()
        sides["VECTOR_CALLBACK"].set(Callable, "called with a list of packets").optional()
        sides["OBSERVE_TIMESTAMP_BOUNDS"].set(bool, "whether to call for settled timestamps too").optional()
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find the function."""
        sides = cc.input_side_packets
        self._takes_list = "VECTOR_CALLBACK" in sides
        callback: Any = sides["VECTOR_CALLBACK" if self._takes_list else "CALLBACK"].payload
        self._callback: Callable[[Any], object] = callback
        self._takes_bounds = "OBSERVE_TIMESTAMP_BOUNDS" in sides and bool(
            sides["OBSERVE_TIMESTAMP_BOUNDS"].payload
        )
        if self._takes_bounds:
            cc.set_process_timestamp_bounds()

    def process(self, cc: CalculatorContext) -> None:
        """Call the function."""
        if self._takes_list:
            self._callback([port.packet for port in cc.inputs])
        elif self._takes_bounds or not cc.input.is_empty():
            self._callback(cc.input.packet)
