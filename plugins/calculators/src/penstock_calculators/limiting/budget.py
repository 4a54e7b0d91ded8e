"""BudgetCalculator: lets the frames into a part of the graph that it finishes within a goal."""

from __future__ import annotations

import math
from collections import OrderedDict
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock.lowlevel import CLOCK, MAX
from penstock_calculators.limiting.latency_goal import SHARE, Distribution, Frame, LatencyGoal
from penstock_calculators.limiting.limited_streams import LimitedStreams, declare_limited

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_logger = get_logger(__name__)
#: How many times the longest expected latency a frame may be on its way before it counts as lost.
_PATIENCE: Final = 4
#: How long the first frame may be on its way: while it is, models are loaded.
_FIRST_S: Final = 10.0
_DAY_MS: Final = 86_400_000
#: How many lost frames are remembered, in case they come after all.
_REMEMBERED: Final = 64


class Prefer(Enum):
    """What to do with frames that come faster than they can be worked on."""

    #: Drop the older ones.
    FRESH = 0
    #: Drop none: full queues make the source wait.
    COMPLETE = 1


@attrs.frozen(kw_only=True)
class BudgetCalculatorOptions:
    """The goal of a BudgetCalculator.

    Attributes:
        latency_ms: the goal, in milliseconds, above 0: how long after a frame has come to this node its end
            is to be on FINISHED, for 99 of 100 frames.
        prefer: FRESH drops frames that would miss the goal; COMPLETE drops none, and only measures.
        max_in_flight: the largest number of frames in the path at once. How many there are is found out.
        in_flight_timeout_ms: after so many milliseconds a frame in the path counts as lost; 0: after four
            times the goal, or four times what a frame takes, whichever is longer.
    """

    latency_ms: float
    prefer: Prefer = Prefer.FRESH
    max_in_flight: int = 8
    in_flight_timeout_ms: float = 0.0

    def __attrs_post_init__(self) -> None:
        if not 0 < self.latency_ms <= _DAY_MS:
            raise InvalidArgumentError(
                f"the budget's latency_ms is {self.latency_ms:g}, but must be a number of milliseconds above "
                f"0, and at most {_DAY_MS}, a day"
            )
        if self.max_in_flight < 1:
            raise InvalidArgumentError(
                f"the budget's max_in_flight is {self.max_in_flight}, but must be at least 1"
            )
        if not 0 <= self.in_flight_timeout_ms < float("inf"):
            raise InvalidArgumentError(
                f"the budget's in_flight_timeout_ms is {self.in_flight_timeout_ms:g}, but must be a number "
                "of milliseconds above 0, or 0 for a time-out that follows from the goal"
            )


class BudgetCalculator(penstock.Calculator):
    """Lets frames into a path so that 99 of 100 are done within `latency_ms`, as many as the path can take.

    The path leads from output 0 to the stream at FINISHED, a back edge. A frame's latency is the time from
    its arrival here until FINISHED has settled its timestamp with a packet. The newest frame waits here, and
    goes in the moment that the path needs it; an older one that waits is dropped. So a camera of 30 frames a
    second and a path that takes 36 ms give 27 frames a second, where a FlowLimiterCalculator without queue
    waits for the next frame and gives 15. With 36 ms of work, and a frame each 33 ms::

        main      0  33 67 100 133
        FINISHED  .  .  0  33  67   100      each 36 ms later than the one before
        out       0  33 67 100 133

    How many frames are in flight is found by measurement: one where the path is a single stage on one
    thread; more where stages work at the same time, since the next frame then enters before the last one is
    done. The node learns how long a frame takes in the empty path, how far apart frames leave the full path,
    and how much longer than predicted they take (the 99th percentile of the last 300). A frame goes in only
    if its age and these make no more than the goal. Nothing is learnt from the first frame, which waits for
    models to be loaded.

    If one frame alone takes longer than the goal, the goal cannot be held: then one frame is in flight at a
    time, the newest that waits, and a warning says so once in a run.

    `prefer: COMPLETE` is for files. Each frame goes in at once, none is dropped, and full queues make the
    source wait; the node only measures.

    Further untagged inputs follow the main one, input 0: their packets pass from the timestamp of a main
    packet that passed up to the next main packet, and wait until the decision on that one. Output ALLOW has
    each decision at the main packet's timestamp. Headers are forwarded.

    Dropped packets are in the ledger as "a newer packet came", "too late for the goal" (it would have been),
    "main packet dropped" (auxiliary packets), or "not released before the end". The last main packet never
    waits. A frame that is dropped inside the path frees its place as soon as FINISHED has settled its
    timestamp. If nothing settles it the frame counts as lost after `in_flight_timeout_ms`, which is looked at
    when a main packet comes, and at 10 s for the first; if it comes after all its latency counts.

    Counters: `goal_us`, `latency_us` (99th percentile of the last 300 frames, from arrival to FINISHED),
    `work_us` (what one frame takes alone), `interval_us` (how far apart frames leave the full path; both
    with FRESH only) and `in_flight` have the latest value. `late` (done after the goal), `lost` and
    `goal_not_held` (one more with each warning, so once in a run) go on counting.

    Time is read from the service CLOCK (`graph.set_clock`); with a clock that a test moves, the same calls
    give the same decisions. Which packets pass depends on when they arrive, by design; packets of each
    stream stay in order. A frame arrives when this node is called with it, so work that occupies all
    threads of an executor belongs on another executor than this node.

    Options: `latency_ms` (required), `prefer` (FRESH), `max_in_flight` (8), `in_flight_timeout_ms` (0: four
    times the goal, or what a frame takes if that is longer).

    FINISHED is nearly always a back edge, and the graph must say so. The contract asks for
    ImmediateInputStreamHandler, since no input may wait for another here. It is a calculator of Penstock's
    own; the model of the path is in `penstock_calculators/limiting/latency_goal.py`.

    Example config::

        node {
          calculator: "BudgetCalculator"
          input_stream: "frames"
          input_stream: "FINISHED:overlaid_frames"
          input_stream_info { tag_index: "FINISHED" back_edge: true }
          output_stream: "frames_to_work_on"
          node_options {
            [type.googleapis.com/penstock_calculators.BudgetCalculatorOptions] { latency_ms: 80 }
          }
        }
    """

    Options = BudgetCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each untagged output the type of its input.

        Raises:
            InvalidArgumentError: there is no untagged input, there are more outputs than inputs, or an
                option is out of range.
        """
        declare_limited(cc)
        cc.declare(may_skip=True, stateless=False)
        cc.options(BudgetCalculatorOptions)
        cc.use_service(CLOCK)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options, and forward headers."""
        options = cc.options(BudgetCalculatorOptions)
        self._clock = cc.service(CLOCK)
        self._is_fresh = options.prefer is Prefer.FRESH
        self._timeout_s = options.in_flight_timeout_ms / 1000
        self._goal = LatencyGoal(options.latency_ms / 1000, options.max_in_flight)
        self._latencies = Distribution()
        self._streams = LimitedStreams(cc)
        self._arrived_s = 0.0
        self._has_come_back = False
        self._has_warned = False
        #: Frames that count as lost, by timestamp.
        self._lost: OrderedDict[int, Frame] = OrderedDict()
        names = ("goal_us", "latency_us", "work_us", "interval_us", "in_flight", "late", "lost")
        self._counters = {name: cc.counter(name) for name in (*names, "goal_not_held")}
        self._show("goal_us", options.latency_ms / 1000)

    def process(self, cc: CalculatorContext) -> None:
        """Measure what is done, decide on the newest main packet, and settle the outputs."""
        now_s = self._clock()
        self._take_finished(cc, now_s)
        main = cc.inputs[0]
        if not main.is_empty():
            self._arrive(cc, now_s)
        self._streams.take(cc)
        is_last = main.is_done() or main.packet.stamp >= MAX
        self._decide(cc, now_s, is_last=is_last)
        self._streams.settle(cc)
        self._show_count("in_flight", len(self._goal.in_flight))

    def close(self, cc: CalculatorContext) -> None:
        """Count the packets that still wait as dropped."""
        self._streams.drop_rest(cc)

    # --- what is done -------------------------------------------------------------------------

    def _take_finished(self, cc: CalculatorContext, now_s: float) -> None:
        """Take the frames out of flight that FINISHED has settled."""
        finished = cc.inputs["FINISHED"]
        in_flight = self._goal.in_flight
        while in_flight and in_flight[0].stamp <= finished.packet.stamp:
            frame = in_flight.popleft()
            if frame.stamp == finished.packet.stamp and not finished.is_empty():
                self._measure(cc, frame, now_s)
            else:
                self._goal.lose(now_s)
        if not finished.is_empty():
            late = self._lost.pop(finished.packet.stamp, None)
            if late is not None:
                self._measure(cc, late, now_s)

    def _measure(self, cc: CalculatorContext, frame: Frame, now_s: float) -> None:
        self._has_come_back = True
        goal, latency_s = self._goal, now_s - frame.arrived_s
        self._latencies.add(latency_s)
        if latency_s > goal.goal_s:
            self._counters["late"].increment()
        self._show("latency_us", self._latencies.bound_of(SHARE))
        if not self._is_fresh:
            return
        goal.finish(frame, now_s)
        self._show("work_us", goal.work_s)
        self._show("interval_us", goal.interval_s)
        if not goal.is_held and not self._has_warned:
            self._has_warned = True
            self._counters["goal_not_held"].increment()
            _logger.warning(
                "one frame takes up to %.1f ms from %r to %r, more than the goal of %.1f ms (latency_ms), "
                "which cannot be held; one frame is worked on at a time; make the path faster, or the goal "
                "longer",
                goal.expected_s * 1000, cc.outputs[0].name, cc.inputs["FINISHED"].name, goal.goal_s * 1000,
                extra=place(node=cc.node_name),
            )  # fmt: skip

    # --- what goes in -------------------------------------------------------------------------

    def _arrive(self, cc: CalculatorContext, now_s: float) -> None:
        """Make room for a new main packet: only the newest waits."""
        self._goal.arrive(now_s)
        self._arrived_s = now_s
        while self._streams.main:
            self._streams.drop(cc, "a newer packet came")
        in_flight = self._goal.in_flight
        while in_flight and now_s - in_flight[0].released_s > self._patience_s():
            frame = in_flight.popleft()
            self._goal.lose(now_s)
            self._counters["lost"].increment()
            self._lost[frame.stamp] = frame
            if len(self._lost) > _REMEMBERED:
                self._lost.popitem(last=False)

    def _patience_s(self) -> float:
        """Return how long a frame may be in flight before it counts as lost."""
        if self._timeout_s:
            return self._timeout_s
        if not self._is_fresh:  # it holds up nothing
            return math.inf
        patience_s = _PATIENCE * max(self._goal.goal_s, self._goal.longest_s)
        return patience_s if self._has_come_back else max(patience_s, _FIRST_S)

    def _decide(self, cc: CalculatorContext, now_s: float, *, is_last: bool) -> None:
        """Let the main packet in that waits, drop it, or let it wait; the last one does not wait.

        Nothing comes behind the last packet that would surely call this node again.
        """
        waiting, goal = self._streams.main, self._goal
        if not waiting:
            return
        if not self._is_fresh:
            goal.in_flight.append(Frame(self._streams.release(cc), self._arrived_s, now_s, now_s))
        elif goal.is_too_late(self._arrived_s, now_s):
            self._streams.drop(cc, "too late for the goal")
        elif goal.may_enter(self._arrived_s, now_s) or is_last:
            goal.release(self._streams.release(cc), self._arrived_s, now_s)

    # --- counters -----------------------------------------------------------------------------

    def _show(self, name: str, seconds: float) -> None:
        self._show_count(name, round(seconds * 1_000_000))

    def _show_count(self, name: str, value: int) -> None:
        counter: Any = self._counters[name]
        counter.increment_by(value - counter.get())
