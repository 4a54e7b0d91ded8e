"""One timestamp at a time, followed through a graph: when it was on which stream.

About once a second a `Sampler` watches streams of the run under way, chooses the next timestamp that enters
the graph, and watches each stream no longer when that timestamp has passed it. For latencies the streams at
which packets enter and leave are enough. Between samples nothing is watched, and a packet costs nothing. What
a sample has cost is estimated, from the packets that passed meanwhile, and the pause after it is 400 times as
long: so sampling takes at most 0.25 % of the time of one thread.

Times are those of `time.perf_counter_ns()`.
"""

from __future__ import annotations

import threading
import weakref
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import FailedPreconditionError
from penstock_metrics.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock import CalculatorGraph, Packet, Timestamp
    from penstock_monitor.wiring import StreamWiring

#: A timestamp that is not settled at all ends by then is followed no longer.
_LONGEST_S: Final = 10.0
#: The pause after a sample, times what the sample has cost.
_PAUSES: Final = 400
#: What a packet costs that a watcher sees, and to watch a stream and to leave it again. Source: 2.8 us for an
#: observer in a chain that does nothing, Python 3.11, and twice that for the short cut that is lost.
_CALL_S: Final = 6e-6
_WATCH_S: Final = 10e-6


@attrs.frozen
class Part:
    """What one node did for a sampled timestamp.

    Attributes:
        node: its name.
        began_ns: when the last of its inputs was there, of those that had a packet.
        ended_ns: when the last of its outputs was there.
    """

    node: str
    began_ns: int
    ended_ns: int


@attrs.frozen
class Sample:
    """One timestamp on its way through a graph.

    Attributes:
        timestamp: of the packets.
        entered_ns: when the first of them entered the graph.
        seen_ns: stream → when its packet was seen, for each stream that was watched and had one.
        topology: of the graph in this run.
    """

    timestamp: Timestamp
    entered_ns: int
    seen_ns: dict[str, int]
    topology: Topology

    @property
    def latencies_s(self) -> dict[str, float]:
        """Stream at which packets leave the graph → seconds since the first one entered."""
        return {
            stream: (self.seen_ns[stream] - self.entered_ns) / 1e9
            for stream in self.topology.exits
            if stream in self.seen_ns
        }

    def parts(self) -> Iterator[Part]:
        """Yield what each node did that read and wrote packets of this timestamp."""
        wrote: dict[str, int] = {}
        for stream, seen in self.seen_ns.items():
            node = self.topology.writers.get(stream)
            if node is not None:
                wrote[node] = max(seen, wrote.get(node, seen))
        for node, ended in wrote.items():
            inputs = [self.seen_ns[s] for s in self.topology.reads.get(node, ()) if s in self.seen_ns]
            # an input that came after the output was not waited for
            began = max((seen for seen in inputs if seen <= ended), default=None)
            if began is not None:
                yield Part(node, began, ended)


class _Watch:
    """The watchers of one sample. Their callbacks run on the threads of the graph, and never raise."""

    def __init__(
        self, run: int, topology: Topology, late: frozenset[str], done: threading.Event, *, is_whole: bool
    ) -> None:
        self.run: Final = run
        self.topology: Final = topology
        self._is_whole: Final = is_whole
        self._calls = 0
        self._done: Final = done
        self._lock: Final = threading.Lock()
        #: Whether all streams are watched, so that the next timestamp that enters can be chosen.
        self._is_armed = False
        self._chosen: Timestamp | None = None
        #: Timestamp → when it entered, until one is chosen.
        self._entered: Final[dict[Timestamp, int]] = {}
        self._seen: Final[dict[str, int]] = {}
        #: Ends at which the timestamp is to be settled.
        self._open: Final = set(topology.exits - late) or set(topology.exits)
        self._unwatch: Final[dict[str, Callable[[], None]]] = {}
        self._streams = 0

    def attach(self, graph: CalculatorGraph) -> None:
        """Watch all streams, or those at which packets enter and leave; those at which they enter last.

        Raises:
            FailedPreconditionError: the run has ended; nothing is watched.
        """
        ends = self.topology.entries | self.topology.exits
        wanted = [name for name in self.topology.streams if self._is_whole or name in ends]
        try:
            for name in sorted(wanted, key=lambda name: name in self.topology.entries):
                self._attach(graph, name)
        except BaseException:
            self.detach()
            raise
        self._is_armed = True

    def _attach(self, graph: CalculatorGraph, name: str) -> None:
        is_exit = name in self.topology.exits
        if name in self.topology.entries:
            callback = self._enter_and_leave if is_exit else self._enter
        else:
            callback = self._leave if is_exit else self._pass
        try:
            self._unwatch[name] = graph.watch_stream(name, callback, observe_timestamp_bounds=is_exit)
            self._streams += 1
        except FailedPreconditionError:
            if not graph.is_running:
                raise
            self._open.discard(name)  # the stream stays inside another process

    def detach(self) -> None:
        """Watch no longer."""
        for name in list(self._unwatch):
            self._leave_alone(name)

    def _leave_alone(self, name: str) -> None:
        """Watch one stream no longer."""
        unwatch = self._unwatch.pop(name, None)
        if unwatch is not None:
            unwatch()

    @property
    def cost_s(self) -> float:
        """What it has cost so far, in seconds of one thread, as estimated."""
        return self._calls * _CALL_S + self._streams * _WATCH_S

    @property
    def followed_s(self) -> float:
        """For how many seconds a timestamp has been followed; 0.0 while none has entered."""
        chosen = self._chosen
        return 0.0 if chosen is None else (perf_counter_ns() - self._entered[chosen]) / 1e9

    @property
    def unsettled(self) -> frozenset[str]:
        """The ends at which the timestamp is still to be settled."""
        with self._lock:
            return frozenset(self._open)

    def result(self) -> Sample | None:
        """Return what was seen; None if no timestamp has entered."""
        with self._lock:
            if self._chosen is None:
                return None
            return Sample(self._chosen, self._entered[self._chosen], dict(self._seen), self.topology)

    def _enter(self, name: str, packet: Packet) -> None:
        now = perf_counter_ns()
        self._calls += 1
        if packet.is_empty():
            return
        with self._lock:
            if self._chosen is None:
                self._entered.setdefault(packet.timestamp, now)
                if self._is_armed:
                    self._chosen = packet.timestamp
            chosen = self._chosen
            if packet.timestamp == chosen:
                self._seen.setdefault(name, now)
        if chosen is not None and packet.timestamp >= chosen and name not in self.topology.exits:
            self._leave_alone(name)

    def _pass(self, name: str, packet: Packet) -> None:
        self._calls += 1
        chosen = self._chosen
        if chosen is None or packet.timestamp < chosen:
            return
        if packet.timestamp == chosen:
            now = perf_counter_ns()
            with self._lock:
                self._seen.setdefault(name, now)
        self._leave_alone(name)

    def _leave(self, name: str, packet: Packet) -> None:
        self._calls += 1
        chosen = self._chosen
        if chosen is None or packet.timestamp < chosen:
            return
        now = perf_counter_ns()
        with self._lock:
            if packet.timestamp == chosen and not packet.is_empty():
                self._seen.setdefault(name, now)
            self._open.discard(name)
            is_done = not self._open
        self._leave_alone(name)
        if is_done:
            self._done.set()

    def _enter_and_leave(self, name: str, packet: Packet) -> None:
        self._enter(name, packet)
        self._leave(name, packet)


class Sampler:
    """Takes samples of a graph in a thread of its own, in whichever run is under way.

    An end that settled nothing while others did is not waited for in later samples of the run.

    Args:
        graph: not kept alive; the thread ends with it.
        wiring: returns the streams of the run under way.
        take: gets each sample, on the sampler's thread; must not raise.
        is_whole: returns whether the next sample goes over all streams, or only from end to end.
        interval_s: the shortest time between two samples.
    """

    def __init__(
        self,
        graph: CalculatorGraph,
        wiring: Callable[[], Iterable[StreamWiring]],
        take: Callable[[Sample], object],
        is_whole: Callable[[], bool],
        interval_s: float = 1.0,
    ) -> None:
        self._wake: Final = threading.Event()
        wake = self._wake
        self._graph: Final = weakref.ref(graph, lambda _: wake.set())
        self._wiring: Final = wiring
        self._take: Final = take
        self._is_whole: Final = is_whole
        self._interval_s: Final = interval_s
        self._is_closed = False
        self._watch: _Watch | None = None
        self._next = monotonic()
        #: A run, and the ends that are not waited for in it.
        self._late: tuple[int, frozenset[str]] = (0, frozenset())
        self._thread: Final = threading.Thread(
            target=self._work, name="penstock-metrics-sampler", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the thread, and wait for it; what is being sampled is given up."""
        self._is_closed = True
        self._wake.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while not self._is_closed and self._graph() is not None:
            self._wake.wait(self._step())
            self._wake.clear()
        if self._watch is not None:
            self._watch.detach()
            self._watch = None

    def _step(self) -> float:
        """Begin a sample, or end the one that is under way; return the seconds until the next look."""
        graph = self._graph()
        if graph is None:
            return 0.0
        if self._watch is None:
            left = self._next - monotonic()
            if left > 0:
                return left
            self._watch = self._begun(graph)
            return self._interval_s
        if self._goes_on(self._watch, graph):
            return self._interval_s
        self._end(self._watch)
        return max(0.0, self._next - monotonic())

    def _begun(self, graph: CalculatorGraph) -> _Watch | None:
        """Return a watch of the run under way; None if there is none."""
        run = graph.run_count
        late = self._late[1] if self._late[0] == run else frozenset()
        try:
            watch = _Watch(run, Topology.of(self._wiring()), late, self._wake, is_whole=self._is_whole())
            watch.attach(graph)
        except FailedPreconditionError:
            return None
        return watch

    @staticmethod
    def _goes_on(watch: _Watch, graph: CalculatorGraph) -> bool:
        is_under_way = graph.is_running and graph.run_count == watch.run
        return is_under_way and bool(watch.unsettled) and watch.followed_s < _LONGEST_S

    def _end(self, watch: _Watch) -> None:
        self._watch = None
        watch.detach()
        took_s = watch.followed_s
        self._next = monotonic() + max(self._interval_s, _PAUSES * watch.cost_s)
        sample = watch.result()
        if sample is None:
            return
        if took_s >= _LONGEST_S:
            self._late = (watch.run, watch.unsettled)
        self._take(sample)
