"""FlowLimiterCalculator: drops packets, so a slow part of a graph does not fall behind live data."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import penstock
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.lowlevel import MAX
from penstock_calculators.limiting.limited_streams import LimitedStreams, declare_limited
from penstock_calculators.messages.flow_limiter_pb2 import FlowLimiterCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


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
    order, and the ledger has every dropped packet, as "limiter full (max_in_queue)", "main packet dropped",
    or "not released before the end" (packets that still wait when the run fails or is cancelled, or when
    FINISHED ends before the main input; ALLOW has no decision on these).

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
        declare_limited(cc)
        cc.declare(may_skip=True, stateless=False)
        options = (FlowLimiterCalculatorOptions, CalculatorOptions)
        cc.inputs["OPTIONS"].set_one_of(*options, description="replaces options from now on").optional()
        sides = cc.input_side_packets
        sides["OPTIONS"].set_one_of(*options, description="replaces options").optional()
        sides["MAX_IN_FLIGHT"].set(int, "replaces the option max_in_flight").optional()

    def open(self, cc: CalculatorContext) -> None:
        """Gather the options, and forward headers."""
        self._options = cc.options(FlowLimiterCalculatorOptions)
        sides = cc.input_side_packets
        if "OPTIONS" in sides:
            self._merge(sides["OPTIONS"].payload)
        if "MAX_IN_FLIGHT" in sides:
            self._options.max_in_flight = sides["MAX_IN_FLIGHT"].get(int)
        self._in_flight: deque[int] = deque()
        self._streams = LimitedStreams(cc)

    def process(self, cc: CalculatorContext) -> None:
        """Queue the packets, decide on main packets, then settle every output up to what is decided."""
        if "OPTIONS" in cc.inputs and not cc.inputs["OPTIONS"].is_empty():
            self._merge(cc.inputs["OPTIONS"].payload)
        finished = cc.inputs["FINISHED"].packet.stamp
        if finished == cc.stamp:
            self._forget(finished)
        self._streams.take(cc)
        main = cc.inputs[0].packet.stamp
        timeout = self._options.in_flight_timeout
        if timeout > 0 and main == cc.stamp and main < MAX:
            self._forget(main - timeout - 1)
        self._decide(cc)
        self._streams.settle(cc)

    def close(self, cc: CalculatorContext) -> None:
        """Count the packets that still wait as dropped."""
        self._streams.drop_rest(cc)

    def _merge(self, options: Any) -> None:
        if isinstance(options, CalculatorOptions):
            options = options.Extensions[FlowLimiterCalculatorOptions.ext]
        self._options.MergeFrom(options)

    def _forget(self, stamp: int) -> None:
        """Stop counting packets up to `stamp` as in flight."""
        while self._in_flight and self._in_flight[0] <= stamp:
            self._in_flight.popleft()

    def _decide(self, cc: CalculatorContext) -> None:
        queue = self._streams.main
        while queue and len(self._in_flight) < self._options.max_in_flight:
            self._in_flight.append(self._streams.release(cc))
        while len(queue) > max(self._options.max_in_queue, 0):
            self._streams.drop(cc, "limiter full (max_in_queue)")
