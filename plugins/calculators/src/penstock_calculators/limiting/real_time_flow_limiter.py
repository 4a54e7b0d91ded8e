"""RealTimeFlowLimiterCalculator: the older limiter, which counts FINISHED packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.lowlevel import MAX, MIN, PRESTREAM, UNSTARTED, next_allowed

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input


class RealTimeFlowLimiterCalculator(penstock.Calculator):
    """Lets timestamps pass while fewer than MAX_IN_FLIGHT of them are unfinished, and drops the others.

    For existing graphs; use FlowLimiterCalculator in new ones. It has no queue, no time-out and no
    handling of lost packets: each timestamp that it lets pass must come back as exactly one packet of
    FINISHED. The untagged input that has a timestamp first decides for all of them; once a timestamp was
    dropped, no earlier one can pass. With MAX_IN_FLIGHT 1::

        a         1 2 . .  . . . 3
        b         . . 1 .  2 3 4 .
        FINISHED  . . . 1  . . . .
        pass      a . b .  . b . a
        ALLOW     F . . T  . F . .

    Output ALLOW has a bool, whether the next timestamp would pass, each time that this changes; its
    timestamps are 1, 2, 3, ..., not those of the data. Which packets pass depends on when they arrive, by
    design; packets of each stream stay in order, and dropped ones appear in the ledger as "over
    max_in_flight". Side packet MAX_IN_FLIGHT is an int of at least 1 (default 1). Headers are forwarded.

    Source of the behaviour: MediaPipe `calculators/core/real_time_flow_limiter_calculator.cc`.

    Example config::

        node {
          calculator: "RealTimeFlowLimiterCalculator"
          input_stream: "frames"
          input_stream: "FINISHED:overlaid_frames"
          input_stream_info { tag_index: "FINISHED" back_edge: true }
          output_stream: "frames_to_work_on"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each untagged output the type of its input.

        Raises:
            InvalidArgumentError: there is no untagged input, or not one output for each.
        """
        count = cc.inputs.count("")
        if not count or cc.outputs.count("") != count:
            raise InvalidArgumentError(
                f"the real-time flow limiter has {count} untagged inputs and {cc.outputs.count('')} "
                "untagged outputs; connect at least one, and an output for each"
            )
        for i in range(count):
            cc.inputs[i].set_any("packets to limit")
            cc.outputs[i].set_same_as(cc.inputs[i], "the packets that pass")
        cc.inputs["FINISHED"].set_any("one packet for each timestamp that has left; a back edge")
        cc.input_side_packets["MAX_IN_FLIGHT"].set(int, "how many may be unfinished").optional()
        cc.outputs["ALLOW"].set(bool, "whether the next timestamp would pass").optional()
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the limit, and forward headers.

        Raises:
            InvalidArgumentError: MAX_IN_FLIGHT is below 1.
        """
        sides = cc.input_side_packets
        self._limit = sides["MAX_IN_FLIGHT"].get(int) if "MAX_IN_FLIGHT" in sides else 1
        if self._limit < 1:
            raise InvalidArgumentError(
                f"the real-time flow limiter's side packet MAX_IN_FLIGHT is {self._limit}, but must be at "
                "least 1"
            )
        self._data = range(cc.inputs.count(""))
        self._unfinished = 0
        #: Timestamps that were let pass and that some data input has not reached yet.
        self._passing: set[int] = set()
        self._last_dropped = UNSTARTED
        self._bounds = [PRESTREAM for _ in self._data]
        self._changes = 0
        for i in self._data:
            if not cc.inputs[i].header.is_empty():
                cc.outputs[i].set_header(cc.inputs[i].header)

    def process(self, cc: CalculatorContext) -> None:
        """Count finished timestamps, then let packets pass or drop them.

        Raises:
            FailedPreconditionError: FINISHED has a packet while nothing is unfinished.
        """
        had_room = self._unfinished < self._limit
        if not cc.inputs["FINISHED"].is_empty():
            if not self._unfinished:
                raise FailedPreconditionError(
                    f"the flow limiter's input 'FINISHED' has a packet at {cc.input_timestamp}, but nothing "
                    "is in flight; it must have exactly one packet for each timestamp that passed"
                )
            self._unfinished -= 1
        for i in self._data:
            self._serve(cc, i)
        least = min(self._bounds)
        self._passing = {stamp for stamp in self._passing if stamp >= least}
        has_room = self._unfinished < self._limit
        if has_room != had_room and "ALLOW" in cc.outputs:
            self._changes += 1
            cc.outputs["ALLOW"].add(has_room, self._changes)

    def _serve(self, cc: CalculatorContext, i: int) -> None:
        port, output = cc.inputs[i], cc.outputs[i]
        if not port.is_empty():
            if self._passes(port):
                output.add_packet(port.packet)
            else:
                port.count_dropped("over max_in_flight")
        elif port.is_done():
            output.close()
            return
        stamp = port.packet.stamp
        if MIN <= stamp <= MAX and self._bounds[i] <= stamp:
            self._bounds[i] = next_allowed(stamp)
            output.set_next_timestamp_bound(self._bounds[i])

    def _passes(self, port: Input) -> bool:
        """Decide on a packet; a timestamp that another input had before keeps its decision."""
        stamp = port.packet.stamp
        if stamp in self._passing:
            return True
        if self._unfinished < self._limit and stamp > self._last_dropped:
            self._passing.add(stamp)
            self._unfinished += 1
            return True
        self._last_dropped = max(self._last_dropped, stamp)
        return False
