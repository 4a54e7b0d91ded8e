"""How long packets take from a source to where they leave the graph, and what they wait for on the way.

A path leads from the packets of one source, or graph input, to those of one output of the graph, or to the
calls of a node without outputs. Of each packet at the end the critical path is followed back: of the packets
that a call took, the one that came last, and that came of the source packet in question. Where packets of
several timestamps come of one source, as in a loop, that is the latest. The time between is divided into

* work: the calls themselves;
* own queue: the node was busy with earlier packets;
* thread: all threads on which the node runs were busy with others;
* other input: what is left: the packet, or the settled timestamp, of another input was not there yet.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock_views.traces.reading import PacketId, ReadRun, ReadStep

_BEGIN, _END = 0, 1


@attrs.frozen
class Leg:
    """One call on a critical path, and the wait before it. All times are in microseconds."""

    #: Its name.
    node: str
    #: `own_queue_us`, `thread_us`, `other_input_us`: what the packet waited for before the call.
    own_queue_us: float
    thread_us: float
    other_input_us: float
    #: How long the call took, up to the packet that it wrote.
    work_us: float

    @property
    def total_us(self) -> float:
        """All of it."""
        return self.own_queue_us + self.thread_us + self.other_input_us + self.work_us


@attrs.frozen
class Journey:
    """One packet at the end of a path."""

    #: The timestamp of the packet.
    timestamp: int
    #: Since the source packet was written.
    latency_us: float
    #: The calls on the way, in order; their times add up to the latency.
    legs: tuple[Leg, ...]


@attrs.frozen
class Path:
    """All journeys from one source to one end, by latency."""

    #: The stream of the source packets.
    source: str
    #: A stream that no node reads, or a node that writes none.
    end: str
    #: The shortest first; at least one.
    journeys: tuple[Journey, ...]

    @property
    def median(self) -> Journey:
        """The journey in the middle."""
        return self.quantile(0.5)

    @property
    def p99(self) -> Journey:
        """The journey that 99 of 100 do not exceed."""
        return self.quantile(0.99)

    @property
    def worst(self) -> Journey:
        """The longest journey."""
        return self.journeys[-1]

    def quantile(self, part: float) -> Journey:
        """Return the shortest journey that at least this part of them does not exceed."""
        return self.journeys[max(math.ceil(len(self.journeys) * part), 1) - 1]

    def mean_legs(self) -> tuple[Leg, ...]:
        """Return the mean of each node over all journeys, in the order in which packets come to the nodes.

        A node that some journeys do not pass counts there with no time, so that the sum is the mean latency.
        """
        sums: dict[str, list[float]] = {}
        places: defaultdict[str, list[int]] = defaultdict(list)
        for journey in self.journeys:
            for place, leg in enumerate(journey.legs):
                total = sums.setdefault(leg.node, [0.0] * 4)
                for i, part in enumerate((leg.own_queue_us, leg.thread_us, leg.other_input_us, leg.work_us)):
                    total[i] += part
                places[leg.node].append(place)
        order = sorted(sums, key=lambda node: sum(places[node]) / len(places[node]))
        return tuple(Leg(node, *(part / len(self.journeys) for part in sums[node])) for node in order)


def paths_of(run: ReadRun) -> tuple[Path, ...]:
    """Return the paths of a run, by source and end; those whose ends no packet reached are left out."""
    return _Walk(run).paths()


class _Root(NamedTuple):
    """The source packet that a call is made of, as far as one source is concerned."""

    timestamp: int
    at_us: float
    packet: PacketId


class _Spans:
    """Spans of time that do not overlap, in order; answers how much of another span they cover."""

    def __init__(self, spans: Sequence[tuple[float, float]]) -> None:
        self._begins: Final = [begin for begin, _ in spans]
        self._spans: Final = spans
        self._before: Final = [0.0]
        for begin, end in spans:
            self._before.append(self._before[-1] + end - begin)

    def covered(self, begin: float, end: float) -> float:
        """Return how much of a span is covered."""
        return max(self._until(end) - self._until(begin), 0.0)

    def last_end(self, at: float) -> float:
        """Return when the last span that began before a time has ended; -inf where there is none."""
        count = bisect_left(self._begins, at)
        return self._spans[count - 1][_END] if count else -math.inf

    def _until(self, at: float) -> float:
        """Return how much is covered before a time."""
        count = bisect_right(self._begins, at)
        if not count:
            return 0.0
        begin, end = self._spans[count - 1]
        return self._before[count - 1] + min(at, end) - begin


def _spans_of(steps: Iterable[tuple[float, float]], least: int) -> _Spans:
    """Return when at least so many of some steps were under way."""
    moments = sorted(
        moment for begin, end in steps if end > begin for moment in ((begin, 1), (end, -1))
    )  # an end before a beginning at the same time
    found: list[tuple[float, float]] = []
    running, since = 0, 0.0
    for at, change in moments:
        if running < least <= running + change:
            since = at
        elif running + change < least <= running:
            if found and found[-1][_END] == since:
                since = found.pop()[_BEGIN]
            found.append((since, at))
        running += change
    return _Spans(found)


class _Walk:
    def __init__(self, run: ReadRun) -> None:
        self._steps: Final = run.steps
        self._written: Final[dict[PacketId, ReadStep]] = {}
        self._roots: Final[dict[ReadStep, dict[str, _Root]]] = {}
        for step in run.steps:
            for packet in step.outputs:
                self._written[packet] = step
        self._read: Final = {stream for step in run.steps for stream, _ in step.inputs}
        #: Nodes that are no sources.
        self._inner: Final = {step.node for step in run.steps if step.inputs}
        self._writers: Final = {step.node for step in run.steps if step.outputs}
        self._of_node: Final = self._busy_nodes()
        self._of_threads: Final = self._busy_threads()

    # --- who was busy when ----------------------------------------------------------------------

    def _busy_nodes(self) -> dict[str, _Spans]:
        """Return when each node had as many calls under way as it ever had."""
        by_node: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for step in self._steps:
            by_node[step.node].append((step.began_us, step.ended_us))
        return {node: _spans_of(steps, _most(steps)) for node, steps in by_node.items()}

    def _busy_threads(self) -> dict[str, _Spans]:
        """Return for each node when all threads of its executor were busy.

        Threads that have run the same node are taken for threads of one executor.
        """
        groups: dict[int, set[int]] = {}
        of_node: dict[str, int] = {}
        for step in self._steps:
            if not step.node:
                continue
            track = of_node.setdefault(step.node, step.track)
            mine, other = groups.setdefault(track, {track}), groups.setdefault(step.track, {step.track})
            if mine is not other:
                mine |= other
                for one in other:
                    groups[one] = mine
        by_group: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        for step in self._steps:
            if step.node:
                by_group[id(groups[step.track])].append((step.began_us, step.ended_us))
        spans = {
            id(group): _spans_of(by_group[id(group)], len(group))
            for group in {id(group): group for group in groups.values()}.values()
        }
        return {node: spans[id(groups[track])] for node, track in of_node.items()}

    # --- the way back ---------------------------------------------------------------------------

    def paths(self) -> tuple[Path, ...]:
        found: defaultdict[tuple[str, str], list[Journey]] = defaultdict(list)
        for step in self._steps:  # what wrote a packet began before what reads it
            self._roots[step] = self._roots_of(step)
            for end, timestamp in self._ends(step):
                for source, root in self._roots[step].items():
                    found[source, end].append(self._journey(step, timestamp, source, root))
        return tuple(
            Path(source, end, tuple(sorted(journeys, key=lambda one: one.latency_us)))
            for (source, end), journeys in sorted(found.items())
        )

    def _roots_of(self, step: ReadStep) -> dict[str, _Root]:
        """Return for each source the latest of its packets that a call is made of."""
        found: dict[str, _Root] = {}
        for packet in step.inputs:
            writer = self._written.get(packet)
            for source, root in () if writer is None else self._roots_through(packet, writer).items():
                if source not in found or root.timestamp > found[source].timestamp:
                    found[source] = root
        return found

    def _roots_through(self, packet: PacketId, writer: ReadStep) -> dict[str, _Root]:
        """Return what `_roots_of` says of the call that wrote a packet; of a source, the packet itself."""
        if writer.node in self._inner:
            return self._roots.get(writer, {})
        stream, timestamp = packet
        return {stream: _Root(timestamp, writer.ended_us, packet)} if isinstance(timestamp, int) else {}

    def _ends(self, step: ReadStep) -> Iterator[tuple[str, int]]:
        """Yield what ends with a call: streams that no node reads, or the node where it writes none."""
        if step.inputs and not step.outputs and step.node not in self._writers and step.method == "process":
            timestamps = [timestamp for _, timestamp in step.inputs if isinstance(timestamp, int)]
            if timestamps:
                yield step.node, max(timestamps)
        for stream, timestamp in step.outputs:
            if stream not in self._read and isinstance(timestamp, int):
                yield stream, timestamp

    def _journey(self, step: ReadStep, timestamp: int, source: str, root: _Root) -> Journey:
        legs: list[Leg] = []
        end = step.ended_us
        while True:
            came = [
                (writer.ended_us, writer)
                for packet in step.inputs
                if (writer := self._written.get(packet)) is not None
                and self._roots_through(packet, writer).get(source) == root
            ]
            if not came:
                break
            at, writer = max(came, key=lambda one: one[0])
            legs.append(self._leg(step, at))
            if writer.node not in self._inner:
                break
            step = writer
        legs.reverse()
        return Journey(timestamp, end - root.at_us, tuple(legs))

    def _leg(self, step: ReadStep, came_us: float) -> Leg:
        """Divide the time from a packet's arrival to the end of the call that takes it."""
        begin = max(step.began_us, came_us)
        others = [self._written[packet].ended_us for packet in step.inputs if packet in self._written]
        ready = min(max(came_us, *others), begin)
        free = min(max(self._of_node[step.node].last_end(begin), ready), begin)
        thread = self._of_threads[step.node].covered(free, begin)
        other = ready - came_us + begin - free - thread
        return Leg(step.node, free - ready, thread, other, step.ended_us - begin)


def _most(steps: Iterable[tuple[float, float]]) -> int:
    """Return how many of some steps were under way at once, at most; at least 1."""
    running = most = 0
    for _, change in sorted(
        moment for begin, end in steps if end > begin for moment in ((begin, 1), (end, -1))
    ):
        running += change
        most = max(most, running)
    return max(most, 1)


def critical_path_data(path: Path) -> dict[str, Any]:
    """Return a path as JSON has it; times are in milliseconds."""
    return {
        "source": path.source,
        "end": path.end,
        "packets": len(path.journeys),
        "median_ms": _ms(path.median.latency_us),
        "p99_ms": _ms(path.p99.latency_us),
        "worst_ms": _ms(path.worst.latency_us),
        "mean": [_leg_data(leg) for leg in path.mean_legs()],
        "worst": {
            "timestamp": path.worst.timestamp,
            "legs": [_leg_data(leg) for leg in path.worst.legs],
        },
    }


def _leg_data(leg: Leg) -> dict[str, Any]:
    return {
        "node": leg.node,
        "work_ms": _ms(leg.work_us),
        "own_queue_ms": _ms(leg.own_queue_us),
        "thread_ms": _ms(leg.thread_us),
        "other_input_ms": _ms(leg.other_input_us),
    }


def _ms(us: float) -> float:
    return round(us / 1000, 3)
