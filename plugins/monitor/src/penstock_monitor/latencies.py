"""`Latencies`: how long packets take through a running graph, measured at a few of them.

A sample takes one timestamp: it watches a stream by which packets enter the graph for one packet, and the
streams at which packets leave until they are settled there. So a sample costs a few watched packets, and
between two samples nothing is watched. The exits of a graph with long queues are watched for long, so the
pause after such a sample is long too. A timestamp that does not come out again (a limiter has dropped it,
or a node writes at other timestamps) counts for nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.errors import FailedPreconditionError
from penstock_monitor.reading import Latency

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from penstock import CalculatorGraph, Packet
    from penstock_monitor.wiring import Wiring

#: A sample is given up after so long.
_PATIENCE_S: Final = 10.0
#: The pause after a sample is so many times as long as its timestamp took.
_REST: Final = 3
#: Figures are of so many samples, the last ones.
_KEPT: Final = 500
#: Packets that an exit remembers while the entry has not been seen.
_REMEMBERED: Final = 256


class _Seen(NamedTuple):
    """A packet, or a settled timestamp, at one end of the graph."""

    stamp: int
    at_s: float
    is_packet: bool


class _Exit:
    """The packets of a sample at one stream where they leave."""

    def __init__(self, stream: str) -> None:
        self.stream: Final = stream
        self.seen: Final[deque[_Seen]] = deque(maxlen=_REMEMBERED)
        self.unwatch: Callable[[], None] | None = None


class _Sample:
    """One timestamp on its way. Its callbacks never raise, and hold its lock for a moment only."""

    def __init__(self, began_s: float, clock: Callable[[], float]) -> None:
        self.began_s: Final = began_s
        self._clock: Final = clock
        self._lock: Final = threading.Lock()
        self._entered: _Seen | None = None
        self._leave_entry: Callable[[], None] | None = None
        self._exits: Final[list[_Exit]] = []
        #: Stream → seconds from the entry to there.
        self.took_s: Final[dict[str, float]] = {}
        #: How long it was on its way until the last exit was settled, and when that was.
        self.under_way_s = 0.0
        self.ended_s = began_s

    def begin(self, graph: CalculatorGraph, entry: str, exits: Collection[str]) -> None:
        """Watch the exits, then the entry: no packet can leave unseen that was seen to enter.

        Raises:
            FailedPreconditionError: the entry cannot be watched. Then nothing is watched any more.
        """
        try:
            for name in exits:
                one = _Exit(name)
                unwatch = graph.watch_stream(name, self._leaving(one), observe_timestamp_bounds=True)
                with self._lock:
                    one.unwatch = unwatch
                    self._exits.append(one)
            leave = graph.watch_stream(entry, self._enter)
        except FailedPreconditionError:
            self.end()
            raise
        with self._lock:
            self._leave_entry = leave
            has_entered = self._entered is not None
        if has_entered:
            leave()

    def _enter(self, _: str, packet: Packet) -> None:
        with self._lock:
            if self._entered is not None:
                return
            self._entered = _Seen(packet.stamp, self._clock(), is_packet=True)
            leave = self._leave_entry
        if leave is not None:
            leave()

    def _leaving(self, one: _Exit) -> Callable[[str, Packet], None]:
        def leave(_: str, packet: Packet) -> None:
            with self._lock:
                one.seen.append(_Seen(packet.stamp, self._clock(), not packet.is_empty()))
                unwatch = self._judge(one)
            if unwatch is not None:
                unwatch()

        return leave

    def _judge(self, one: _Exit) -> Callable[[], None] | None:
        """Take the time if an exit is settled at the timestamp; return what ends watching it."""
        entered = self._entered
        if entered is None or one.unwatch is None or one.seen[-1].stamp < entered.stamp:
            return None
        for seen in one.seen:
            if seen.stamp == entered.stamp and seen.is_packet:
                self.took_s[one.stream] = max(0.0, seen.at_s - entered.at_s)
        self.ended_s = max(self.ended_s, one.seen[-1].at_s)
        self.under_way_s = self.ended_s - entered.at_s
        unwatch, one.unwatch = one.unwatch, None
        one.seen.clear()
        return unwatch

    def is_done(self) -> bool:
        """Return whether nothing more can come of it."""
        with self._lock:  # an exit may have been settled before the timestamp was known
            leaving = [self._judge(one) for one in self._exits if one.seen]
            is_done = all(one.unwatch is None for one in self._exits)
        for unwatch in leaving:
            if unwatch is not None:
                unwatch()
        return is_done

    def end(self) -> None:
        """Watch nothing any more."""
        with self._lock:
            leaving = [self._leave_entry, *(one.unwatch for one in self._exits)]
            self._leave_entry = None
            for one in self._exits:
                one.unwatch = None
        for unwatch in leaving:
            if unwatch is not None:
                unwatch()


class _Figures:
    """The samples at one exit."""

    def __init__(self) -> None:
        self.count = 0
        self._worst_s = 0.0
        self._last_s: Final[deque[float]] = deque(maxlen=_KEPT)
        self._made: Latency | None = None

    def add(self, seconds: float) -> None:
        """Take one more."""
        self.count += 1
        self._worst_s = max(self._worst_s, seconds)
        self._last_s.append(seconds)
        self._made = None

    def latency(self, stream: str) -> Latency:
        """Return them as data."""
        if self._made is None:
            ordered = sorted(self._last_s)
            self._made = Latency(
                stream,
                self.count,
                1e3 * self._last_s[-1],
                1e3 * _quantile(ordered, 0.5),
                1e3 * _quantile(ordered, 0.99),
                1e3 * self._worst_s,
            )
        return self._made


class Latencies:
    """Samples the latencies of one run.

    Args:
        clock: in seconds; read on the threads of the graph too.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock: Final = clock
        self._sample: _Sample | None = None
        self._turn = 0
        #: When the next sample may begin.
        self._next_s = -inf
        #: Streams that stay inside other processes.
        self._hidden: Final[set[str]] = set()
        self._figures: Final[dict[str, _Figures]] = {}

    def follow(self, graph: CalculatorGraph, wiring: Wiring, moving: Collection[str]) -> None:
        """Take what has come of the sample under way, and begin the next one if it is done.

        Args:
            graph: whose run is under way.
            wiring: of the run.
            moving: names of streams on which packets have come lately; only these are watched.
        """
        if self._sample is not None:
            is_done = self._sample.is_done()
            is_late = not is_done and self._clock() - self._sample.began_s > _PATIENCE_S
            if not (is_done or is_late):
                return
            if is_late:
                self._next_s = self._clock() + _REST * _PATIENCE_S
            else:
                self._next_s = self._sample.ended_s + _REST * self._sample.under_way_s
            self.end()
        if self._clock() < self._next_s:
            return
        entries = [name for name in wiring.entries if name in moving and name not in self._hidden]
        if not entries:
            return
        self._turn += 1
        entry = entries[self._turn % len(entries)]
        below = wiring.below(entry)
        exits = [name for name in wiring.exits if name in below and name in moving]
        self._begin(graph, entry, [name for name in exits if name not in self._hidden])

    def _begin(self, graph: CalculatorGraph, entry: str, exits: Sequence[str]) -> None:
        if not exits:
            return
        sample = _Sample(self._clock(), self._clock)
        try:
            sample.begin(graph, entry, exits)
        except FailedPreconditionError as error:  # the run has just ended, or the stream is elsewhere
            if error.stream is not None:
                self._hidden.add(error.stream)
            return
        self._sample = sample

    def end(self) -> None:
        """Watch nothing any more; keep what has been measured."""
        sample, self._sample = self._sample, None
        if sample is None:
            return
        sample.end()
        for stream, seconds in sample.took_s.items():
            self._figures.setdefault(stream, _Figures()).add(seconds)

    def figures(self, wiring: Wiring) -> tuple[Latency, ...]:
        """Return the latencies at the exits that have a sample, in the order of the plan."""
        return tuple(self._figures[name].latency(name) for name in wiring.exits if name in self._figures)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    place = -int(-share * len(ordered) // 1) - 1
    return ordered[max(0, min(place, len(ordered) - 1))]
