"""ClockTimestampCalculator and ClockLatencyCalculator: when packets passed a place in the graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import CLOCK

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

    Clock: TypeAlias = Callable[[], float]


def declare_clock(cc: CalculatorContract) -> None:
    """Let the application give a clock as the side packet CLOCK; else ask for that of the graph."""
    cc.input_side_packets["CLOCK"].set(Callable, "returns the time in seconds").optional()
    if "CLOCK" not in cc.input_side_packets:
        cc.use_service(CLOCK)


def clock_of(cc: CalculatorContext) -> Clock:
    """Return a clock of seconds since 1970 that never goes back.

    It is the side packet CLOCK, which may count from another moment, or the system's time when the node is
    opened and what has passed since by the clock of the graph.
    """
    if "CLOCK" in cc.input_side_packets:
        given: Any = cc.input_side_packets["CLOCK"].payload
        return cast("Clock", given)
    elapsed = cc.service(CLOCK)
    start = time.time() - elapsed()
    return lambda: start + elapsed()


class ClockTimestampCalculator(penstock.Calculator):
    """Writes for each packet what time it is when the packet comes.

    Input 0 (anything); output 0 (float: seconds since 1970, UTC, at the packet's timestamp). Side packet
    CLOCK (optional: a function that returns seconds) replaces the clock. The timestamp offset is 0. The
    numbers depend on how fast the graph is, by design.

    Two of these nodes and a ClockLatencyCalculator tell how long packets take from one place to another.

    Raises in the contract: InvalidArgumentError unless there are exactly one input and one output.

    Source of the behaviour: MediaPipe `calculators/util/clock_timestamp_calculator.cc`.

    Example config::

        node {
          calculator: "ClockTimestampCalculator"
          input_stream: "frames"
          output_stream: "frame_times"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare anything in, a time out.

        Raises:
            InvalidArgumentError: there is another number of ports.
        """
        if len(cc.inputs) != 1 or len(cc.outputs) != 1:
            raise InvalidArgumentError(
                f"the clock has {len(cc.inputs)} inputs and {len(cc.outputs)} outputs, but there must be one "
                "of each; use a node for each stream"
            )
        cc.inputs[0].set_any("anything")
        cc.outputs[0].set(float, "when its packet came, in seconds since 1970")
        declare_clock(cc)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the clock once."""
        self._clock = clock_of(cc)

    def process(self, cc: CalculatorContext) -> None:
        """Write the time."""
        if not cc.input.is_empty():
            cc.output.add(float(self._clock()), cc.stamp)


class ClockLatencyCalculator(penstock.Calculator):
    """Writes how much later times are than a time of reference.

    Inputs 0, 1, ... (float: seconds, of ClockTimestampCalculators) and REFERENCE (float: seconds, at each
    timestamp of the others); outputs 0, 1, ... (float: the input minus the reference, in seconds). An input
    without a packet gives none. The timestamp offset is 0::

        0           0 5.0   10 6.5
        REFERENCE   0 4.5   10 6.0
        output 0    0 0.5   10 0.5

    Raises in the contract: InvalidArgumentError if there is no untagged input, or not an output for each. In
    `process`: the same where REFERENCE has no packet.

    Source of the behaviour: MediaPipe `calculators/util/clock_latency_calculator.cc`.

    Example config::

        node {
          calculator: "ClockLatencyCalculator"
          input_stream: "times_of_hands"
          input_stream: "REFERENCE:times_of_frames"
          output_stream: "latencies_of_hands"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare times in, differences out.

        Raises:
            InvalidArgumentError: the numbers of inputs and outputs do not fit.
        """
        count = cc.inputs.count("")
        if not count or cc.outputs.count("") != count:
            raise InvalidArgumentError(
                f"the clock has {count} untagged inputs and {cc.outputs.count('')} untagged outputs, but "
                "each input needs an output, and one at least is needed; connect as many"
            )
        for i in range(count):
            cc.inputs[i].set(float, "a time in seconds")
            cc.outputs[i].set(float, "how much later it is than the reference, in seconds")
        cc.inputs["REFERENCE"].set(float, "the time to compare with, in seconds")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Compare the times of one timestamp."""
        reference = cc.inputs["REFERENCE"]
        if reference.is_empty():
            raise InvalidArgumentError(
                f"the clock's input {reference.name!r} has no packet at timestamp {cc.stamp}, but others "
                "have one; send the reference at each timestamp"
            )
        for i, output in enumerate(cc.outputs):
            port = cc.inputs[i]
            if not port.is_empty():
                output.add(port.payload - reference.payload, cc.stamp)
