"""`Sampler`: follows one timestamp at a time through a graph: when it was on which stream.

A sample watches a stream by which packets enter the graph, and follows one of the next few packets, taken at
random. It watches the streams at which packets leave until they are settled at its timestamp; on demand all
others too, until they have passed it. The very next packet would not do: it follows a long gap oftener than
others, and finds a graph that is less busy, or colder. Measured at edge overlay on two busy cores: ordered by
latency, such frames are on average at 0.47 of all frames, one in eight at 0.49, and 0.5 is fair. Between
two samples nothing is watched, and a packet costs nothing. What a sample has cost is estimated from the
packets that were watched, and the pause after it is 400 times as long: sampling takes at most 0.25 % of the
time of one thread. A timestamp that does not come out again (a limiter has dropped it, or a node writes at
other timestamps) is no latency.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from penstock.errors import FailedPreconditionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from penstock import CalculatorGraph, Packet, Timestamp
    from penstock_monitor.wiring import Wiring

#: A sample is given up after so long.
_PATIENCE_S: Final = 10.0
#: The pause after a sample, times what the sample has cost.
_PAUSES: Final = 400
#: What a packet costs that a watcher sees, and to watch a stream and to leave it again. Source: 2.8 us for an
#: observer in a chain that does nothing, Python 3.11, and twice that for the short cut that is lost.
_CALL_S: Final = 6e-6
_WATCH_S: Final = 10e-6
#: How many packets may enter before the one that is followed, and for how long they may be let through.
_SKIPPED: Final = 8
_SKIPS_S: Final = 0.5
#: Packets that are remembered of each stream while the timestamp is not known.
_REMEMBERED: Final = 256


@attrs.frozen
class SamplePart:
    """What one node did for a sampled timestamp."""

    #: Its name.
    node: str
    #: When the last of its inputs was there, of those that had a packet.
    began_s: float
    #: When the last of its outputs was there.
    ended_s: float


@attrs.frozen
class Sample:
    """One timestamp on its way through a graph. Times are in seconds of the monitor's clock."""

    #: The timestamp of the packets.
    timestamp: Timestamp
    #: When the first of them entered the graph, of the entries that were watched.
    entered_s: float
    #: Stream → when its packet was seen, for each stream that was watched and had one.
    seen_s: dict[str, float]
    _wiring: Wiring = attrs.field(repr=False)

    @property
    def latencies_s(self) -> dict[str, float]:
        """Stream at which packets leave the graph → seconds since the first one entered.

        Without streams at which they also enter it: nothing is done on the way.
        """
        return {
            stream: max(0.0, self.seen_s[stream] - self.entered_s)
            for stream in self._wiring.exits
            if stream in self.seen_s and stream not in self._wiring.entries
        }

    def parts(self) -> Iterator[SamplePart]:
        """Yield what each node did that read and wrote packets of this timestamp."""
        wrote: dict[str, float] = {}
        for stream, seen_s in self.seen_s.items():
            node = self._wiring.streams[stream].writer
            if node:
                wrote[node] = max(seen_s, wrote.get(node, seen_s))
        for node, ended_s in wrote.items():
            inputs = [
                self.seen_s[stream] for stream in self._wiring.reads.get(node, ()) if stream in self.seen_s
            ]
            # an input that came after the output was not waited for
            began_s = max((seen_s for seen_s in inputs if seen_s <= ended_s), default=None)
            if began_s is not None:
                yield SamplePart(node, began_s, ended_s)


class _Seen(NamedTuple):
    """A packet, or a settled timestamp, on a stream."""

    stamp: int
    at_s: float
    is_packet: bool


class _Watched:
    """What a sample sees on one stream."""

    def __init__(self, stream: str) -> None:
        self.stream: Final = stream
        self.seen: Final[deque[_Seen]] = deque(maxlen=_REMEMBERED)
        self.unwatch: Callable[[], None] | None = None


class _Watch:
    """One timestamp on its way. Its callbacks never raise, and hold its lock for a moment only."""

    def __init__(self, wiring: Wiring, clock: Callable[[], float], skips: int) -> None:
        self.began_s: Final = clock()
        #: So many packets more are let through before the one that is followed.
        self._skips = skips
        self._wiring: Final = wiring
        self._clock: Final = clock
        self._lock: Final = threading.Lock()
        self._entered: Packet | None = None
        self._leave_entry: Callable[[], None] | None = None
        self._exits: Final[list[_Watched]] = []
        self._others: Final[list[_Watched]] = []
        self._seen_s: Final[dict[str, float]] = {}
        self._calls = 0
        #: When the timestamp was settled last at a stream.
        self.settled_s = self.began_s

    def watch(self, graph: CalculatorGraph, name: str, *, is_exit: bool) -> None:
        """Watch a stream, before the entry: no packet can pass unseen that was seen to enter.

        Raises:
            FailedPreconditionError: it cannot be watched.
        """
        one = _Watched(name)
        unwatch = graph.watch_stream(name, self._passing(one), observe_timestamp_bounds=is_exit)
        with self._lock:
            one.unwatch = unwatch
            (self._exits if is_exit else self._others).append(one)

    def watch_entry(self, graph: CalculatorGraph, name: str) -> None:
        """Watch for the next packet that enters. Raises as `watch`."""
        leave = graph.watch_stream(name, self._enter)
        with self._lock:
            self._leave_entry = leave
            has_entered = self._entered is not None
        if has_entered:
            leave()

    def _enter(self, name: str, packet: Packet) -> None:
        with self._lock:
            self._calls += 1
            if self._entered is not None:
                return
            now_s = self._clock()
            if self._skips and now_s - self.began_s < _SKIPS_S:
                self._skips -= 1
                return
            self._entered = packet
            self._seen_s[name] = now_s
            leave = self._leave_entry
        if leave is not None:
            leave()

    def _passing(self, one: _Watched) -> Callable[[str, Packet], None]:
        def see(_: str, packet: Packet) -> None:
            with self._lock:
                self._calls += 1
                one.seen.append(_Seen(packet.stamp, self._clock(), not packet.is_empty()))
                unwatch = self._judge(one)
            if unwatch is not None:
                unwatch()

        return see

    def _judge(self, one: _Watched) -> Callable[[], None] | None:
        """Take the time if the timestamp has passed a stream; return what ends watching it."""
        if self._entered is None or not one.seen or one.seen[-1].stamp < self._entered.stamp:
            return None
        for seen in one.seen:
            if seen.stamp == self._entered.stamp and seen.is_packet:
                self._seen_s.setdefault(one.stream, seen.at_s)
        self.settled_s = max(self.settled_s, one.seen[-1].at_s)
        unwatch, one.unwatch = one.unwatch, None
        one.seen.clear()
        return unwatch

    def is_done(self) -> bool:
        """Return whether the timestamp is settled at all exits."""
        with self._lock:  # it may have passed a stream before it was known
            leaving = [self._judge(one) for one in (*self._exits, *self._others)]
            is_done = all(one.unwatch is None for one in self._exits)
        for unwatch in leaving:
            if unwatch is not None:
                unwatch()
        return is_done

    def end(self) -> None:
        """Watch nothing any more."""
        with self._lock:
            watched = [*self._exits, *self._others]
            leaving = [self._leave_entry, *(one.unwatch for one in watched)]
            self._leave_entry = None
            for one in watched:
                one.unwatch = None
        for unwatch in leaving:
            if unwatch is not None:
                unwatch()

    @property
    def has_exits(self) -> bool:
        """Whether it watches any stream at which packets leave."""
        return bool(self._exits)

    @property
    def cost_s(self) -> float:
        """What it has cost so far, in seconds of one thread, as estimated."""
        return self._calls * _CALL_S + (1 + len(self._exits) + len(self._others)) * _WATCH_S

    def result(self) -> Sample | None:
        """Return what was seen; None if no timestamp has entered."""
        with self._lock:
            if self._entered is None:
                return None
            seen_s = dict(self._seen_s)
            entered_s = min(seen_s[name] for name in self._wiring.entries if name in seen_s)
            return Sample(self._entered.timestamp, entered_s, seen_s, self._wiring)


def _some() -> int:
    """Return how many packets are skipped."""
    return random.randrange(_SKIPPED)  # noqa: S311  # no secret


class Sampler:
    """Samples the timestamps of one run; called by one thread.

    Args:
        clock: in seconds; read on the threads of the graph too.
        skips: returns how many packets to let through before the one that is followed.
    """

    def __init__(self, clock: Callable[[], float], skips: Callable[[], int] = _some) -> None:
        self._clock: Final = clock
        self._skips: Final = skips
        self._watch: _Watch | None = None
        self._turn = 0
        #: When the next sample may begin.
        self._next_s = -inf
        #: Streams that stay inside other processes.
        self._hidden: Final[set[str]] = set()

    def step(
        self, graph: CalculatorGraph, wiring: Wiring, moving: Collection[str], *, is_whole: bool = False
    ) -> Sample | None:
        """Return what has come of the timestamp under way if it is done, and follow the next one.

        Args:
            graph: whose run is under way.
            wiring: of the run.
            moving: names of streams on which packets have come lately; only between these is a timestamp
                followed.
            is_whole: whether the next timestamp is followed over all streams, not only from end to end.
        """
        watch, sample = self._watch, None
        if watch is not None:
            if not watch.is_done() and self._clock() - watch.began_s <= _PATIENCE_S:
                return None
            sample = self.end()
        if self._clock() >= self._next_s:
            self._begin(graph, wiring, moving, is_whole=is_whole)
        return sample

    def end(self) -> Sample | None:
        """Watch nothing any more; return what was seen of the timestamp under way."""
        watch, self._watch = self._watch, None
        if watch is None:
            return None
        watch.end()
        self._next_s = watch.settled_s + _PAUSES * watch.cost_s
        return watch.result()

    def _begin(
        self, graph: CalculatorGraph, wiring: Wiring, moving: Collection[str], *, is_whole: bool
    ) -> None:
        entries = [name for name in wiring.entries if name in moving and name not in self._hidden]
        if not entries:
            return
        self._turn += 1
        entry = entries[self._turn % len(entries)]
        below = wiring.below(entry)
        exits = {name for name in wiring.exits if name in moving and name in below}
        wanted = wiring.streams if is_whole else exits
        watch = _Watch(wiring, self._clock, self._skips())
        try:
            for name in wanted:
                if name != entry or name in exits:
                    self._add(watch, graph, name, is_exit=name in exits)
            if watch.has_exits:
                watch.watch_entry(graph, entry)
                self._watch = watch
        except FailedPreconditionError as error:  # the run has just ended, or the entry is elsewhere
            self._hide(error)
        finally:
            if self._watch is None:
                watch.end()

    def _add(self, watch: _Watch, graph: CalculatorGraph, name: str, *, is_exit: bool) -> None:
        if name in self._hidden:
            return
        try:
            watch.watch(graph, name, is_exit=is_exit)
        except FailedPreconditionError as error:
            if error.stream is None:  # the run has just ended
                raise
            self._hide(error)

    def _hide(self, error: FailedPreconditionError) -> None:
        if error.stream is not None:
            self._hidden.add(error.stream)
