"""FlowLimiterCalculator: drops packets, so a slow part of a graph does not fall behind live data.

Invariant: each main packet is released or dropped, in order; a packet of an auxiliary input follows the
decision on the main packet that it belongs to.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import penstock
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, PRESTREAM, UNSET, next_allowed
from penstock_calculators.flow_limiter_calculator_pb2 import FlowLimiterCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Output, Packet


class FlowLimiterCalculator(penstock.Calculator):
    """Lets a main packet pass while fewer than `max_in_flight` are in flight, and drops the others.

    A packet is in flight from its release until FINISHED, which comes back from the end of the limited
    part, has settled its timestamp: by a packet, or by a bound alone. With `max_in_queue` 0 a packet that
    arrives while the part is busy is dropped; otherwise up to `max_in_queue` packets wait, and the oldest
    is dropped in favour of the newest. With max_in_flight 1, max_in_queue 0::

        main      10 20 . . 30 40
        FINISHED  .  .  . 10 . .
        out       10 .  . .  30 .     (bounds at 20, 40)
        ALLOW     T  F  . .  T  F

    Further untagged inputs follow the main one, input 0: their packets pass from the timestamp of a main
    packet that passed up to the next main packet, and wait until the decision on that one. Packets before
    the first main packet pass. Output ALLOW has each decision at the main packet's timestamp.

    Which packets pass depends on when they arrive, by design. In every case packets of each stream stay in
    order, and the ledger has every dropped packet, as "over max_in_queue", "main packet dropped", or "not
    released before the end" (packets that still wait when the run fails or is cancelled, or when FINISHED
    ends before the main input; ALLOW has no decision on these).

    Options: `max_in_flight` (default 1), `max_in_queue` (default 0), `in_flight_timeout` (default 0: no
    time-out): a released packet stops counting as in flight when a main packet arrives whose timestamp is
    more than that many microseconds later; no clock is read. Without a time-out, `max_in_flight` frames
    that are lost inside the part close the limiter for the rest of the run. The options may also come as
    side packet OPTIONS, and while the graph runs as packets of input OPTIONS, each a
    FlowLimiterCalculatorOptions or a CalculatorOptions with that extension: fields that are set replace the
    present ones. Side packet MAX_IN_FLIGHT, an int, replaces the option. Headers are forwarded.

    FINISHED is nearly always a back edge, and the graph must say so. The contract asks for
    ImmediateInputStreamHandler, since no input may wait for another here.

    Source of the behaviour: MediaPipe `calculators/core/flow_limiter_calculator.cc`.

    Example config::

        node {
          calculator: "FlowLimiterCalculator"
          input_stream: "frames"
          input_stream: "FINISHED:overlaid_frames"
          input_stream_info { tag_index: "FINISHED" back_edge: true }
          output_stream: "frames_to_work_on"
          options {
            [penstock.FlowLimiterCalculatorOptions.ext] { max_in_flight: 1 max_in_queue: 1 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each untagged output the type of its input.

        Raises:
            InvalidArgumentError: there is no untagged input, or there are more outputs than inputs.
        """
        count = cc.inputs.count("")
        if not count or cc.outputs.count("") > count:
            raise InvalidArgumentError(
                f"there are {count} untagged inputs and {cc.outputs.count('')} untagged outputs; connect at "
                "least one, the main input, and an output for each"
            )
        for i in range(count):
            cc.inputs[i].set_any("packets that follow the main packets" if i else "the packets to limit")
            cc.outputs[i].set_same_as(cc.inputs[i], "the packets that pass")
        cc.inputs["FINISHED"].set_any("settles timestamps that have left the limited part; a back edge")
        options = (FlowLimiterCalculatorOptions, CalculatorOptions)
        cc.inputs["OPTIONS"].set_one_of(*options, description="replaces options from now on").optional()
        sides = cc.input_side_packets
        sides["OPTIONS"].set_one_of(*options, description="replaces options").optional()
        sides["MAX_IN_FLIGHT"].set(int, "replaces the option max_in_flight").optional()
        cc.outputs["ALLOW"].set(bool, "the decision on each main packet").optional()
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Gather the options, and forward headers."""
        self._options = cc.options(FlowLimiterCalculatorOptions)
        sides = cc.input_side_packets
        if "OPTIONS" in sides:
            self._merge(sides["OPTIONS"].payload)
        if "MAX_IN_FLIGHT" in sides:
            self._options.max_in_flight = sides["MAX_IN_FLIGHT"].get(int)
        self._data = range(cc.inputs.count(""))
        self._queues: list[deque[Packet]] = [deque() for _ in self._data]
        self._in_flight: deque[int] = deque()
        self._decisions = _Decisions()
        for i in self._data:
            if not cc.inputs[i].header.is_empty():
                cc.outputs[i].set_header(cc.inputs[i].header)

    def process(self, cc: CalculatorContext) -> None:
        """Queue the packets, decide on main packets, then settle every output up to what is decided."""
        if "OPTIONS" in cc.inputs and not cc.inputs["OPTIONS"].is_empty():
            self._merge(cc.inputs["OPTIONS"].payload)
        finished = cc.inputs["FINISHED"].packet.stamp
        if finished == cc.stamp:
            self._forget(finished)
        for i in self._data:
            if not cc.inputs[i].is_empty():
                self._queues[i].append(cc.inputs[i].packet)
        main = cc.inputs[0].packet.stamp
        timeout = self._options.in_flight_timeout
        if timeout > 0 and main == cc.stamp and main < MAX:
            self._forget(main - timeout - 1)
        self._decide(cc)
        self._settle_main(cc, main)
        settled = _settled_below(self._queues[0], main)
        for i in self._data[1:]:
            self._pass_auxiliary(cc, i, settled)
        if len(self._data) > 1:
            stamps = (cc.inputs[i].packet.stamp for i in self._data)
            self._decisions.forget_below(min(map(_settled_below, self._queues, stamps)))

    def close(self, cc: CalculatorContext) -> None:
        """Count the packets that still wait as dropped."""
        for i in self._data:
            cc.inputs[i].count_dropped("not released before the end", len(self._queues[i]))
            self._queues[i].clear()

    def _merge(self, options: Any) -> None:
        if isinstance(options, CalculatorOptions):
            options = options.Extensions[FlowLimiterCalculatorOptions.ext]
        self._options.MergeFrom(options)

    def _forget(self, stamp: int) -> None:
        """Stop counting packets up to `stamp` as in flight."""
        while self._in_flight and self._in_flight[0] <= stamp:
            self._in_flight.popleft()

    def _decide(self, cc: CalculatorContext) -> None:
        queue = self._queues[0]
        while queue and len(self._in_flight) < self._options.max_in_flight:
            packet = queue.popleft()
            self._in_flight.append(packet.stamp)
            cc.outputs[0].add_packet(packet)
            self._tell(cc, packet.stamp, is_allowed=True)
        while len(queue) > max(self._options.max_in_queue, 0):
            cc.inputs[0].count_dropped("over max_in_queue")
            self._tell(cc, queue.popleft().stamp, is_allowed=False)

    def _tell(self, cc: CalculatorContext, stamp: int, *, is_allowed: bool) -> None:
        if "ALLOW" in cc.outputs:
            cc.outputs["ALLOW"].add(is_allowed, stamp)
        if len(self._data) > 1:
            self._decisions.add(stamp, is_allowed=is_allowed)

    def _settle_main(self, cc: CalculatorContext, main: int) -> None:
        bound = _settled_below(self._queues[0], main)
        _settle(cc.outputs[0], bound)
        if not self._queues[0] and "ALLOW" in cc.outputs:  # there is no decision yet on a queued packet
            _settle(cc.outputs["ALLOW"], bound)

    def _pass_auxiliary(self, cc: CalculatorContext, i: int, settled: int) -> None:
        """Pass or drop the packets of input `i` whose time is decided."""
        queue, port = self._queues[i], cc.inputs[i]
        while queue and queue[0].stamp < settled:
            packet = queue.popleft()
            if self._decisions.holds_at(packet.stamp):
                cc.outputs[i].add_packet(packet)
            else:
                port.count_dropped("main packet dropped")
        _settle(cc.outputs[i], _settled_below(queue, port.packet.stamp))


class _Decisions:
    """The decisions on main packets, each of which holds until the next one's timestamp."""

    def __init__(self) -> None:
        self._made: deque[tuple[int, bool]] = deque([(UNSET, True)])

    def add(self, stamp: int, *, is_allowed: bool) -> None:
        """Add a decision; timestamps ascend."""
        self._made.append((stamp, is_allowed))

    def holds_at(self, stamp: int) -> bool:
        """Return whether packets at `stamp` may pass."""
        return next(is_allowed for since, is_allowed in reversed(self._made) if since <= stamp)

    def forget_below(self, stamp: int) -> None:
        """Forget the decisions that no longer hold at `stamp`."""
        while len(self._made) > 1 and self._made[1][0] <= stamp:
            self._made.popleft()


def _settled_below(queue: deque[Packet], stamp: int) -> int:
    """Return the bound below which an input is decided: queued and further packets are at or above it.

    Args:
        queue: packets of the input that wait here.
        stamp: the timestamp of the input's packet; an empty packet carries the settled timestamp.
    """
    if queue:
        return queue[0].stamp
    # before anything has settled even PRESTREAM may still come
    return PRESTREAM if stamp < PRESTREAM else next_allowed(stamp)


def _settle(output: Output, bound: int) -> None:
    """Set the bound of an output; close it where no packet can follow."""
    if bound > MAX:
        output.close()
    else:
        output.set_next_timestamp_bound(bound)
