"""`Meter`: makes readings of the snapshots of one run; measures rates from their differences."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from penstock_monitor.reading import NodeReading, StreamReading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.explain import NodeState, Snapshot, StreamState
    from penstock_monitor.wiring import Wiring

#: What the name of the counter ends in by which a node says that it has lost its source.
_LOST: Final = "-source_lost"
#: How an error names its node.
_OF_NODE: Final = re.compile(r"\bnode '([^']+)'")
#: Rates are those since the newest snapshot that is at least so old.
_WINDOW_S: Final = 1.0


class _Counts(NamedTuple):
    """What one snapshot has counted, in its order."""

    at_s: float
    steps: list[int]
    busy_s: list[float]
    added: list[int]
    bounds: list[str]
    states: list[str]


class Meter:
    """Takes the snapshots of one run, one after the other.

    Args:
        now_s: when the run was seen for the first time.
    """

    def __init__(self, now_s: float) -> None:
        #: The same.
        self.began_s: Final = now_s
        #: When something was last seen to have moved: a packet, a bound, a step, the state of a node.
        self.moved_s = now_s
        #: From the snapshot that rates are taken from to the newest one.
        self._history: Final[deque[_Counts]] = deque()
        self._newest_s: Final[dict[int, float]] = {}
        #: Number of a node with a call under way → when that was first seen.
        self._called_s: Final[dict[int, float]] = {}
        #: Name of a node that has lost something → when that was first seen.
        self._lost_s: dict[str, float] = {}
        #: When the run was first seen to be over; None before.
        self.over_s: float | None = None

    def take(self, snapshot: Snapshot, now_s: float, counters: Mapping[str, int] | None = None) -> None:
        """Take one more snapshot, and the counters of the graph at about the same time."""
        counts = _Counts(
            now_s,
            [node.steps for node in snapshot.nodes],
            [node.busy_s for node in snapshot.nodes],
            [stream.added for stream in snapshot.streams],
            [stream.bound for stream in snapshot.streams],
            [node.state for node in snapshot.nodes],
        )
        history = self._history
        last = history[-1] if history else None
        if last is None or last[1:] != counts[1:] or snapshot.state == "paused":
            self.moved_s = now_s
        for number, added in enumerate(counts.added):
            if added > (0 if last is None else last.added[number]):
                self._newest_s[number] = now_s
        for number, node in enumerate(snapshot.nodes):
            if not node.running:
                self._called_s.pop(number, None)
            elif number not in self._called_s or (last and last.steps[number] != node.steps):
                self._called_s[number] = now_s
        is_over = snapshot.state == "over"
        if is_over and self.over_s is None:
            self.over_s = now_s
        lost = (
            []
            if is_over or not counters
            else [one.name for one in snapshot.nodes if counters.get(f"{one.name}{_LOST}")]
        )
        self._lost_s = {name: self._lost_s.get(name, now_s) for name in lost}
        history.append(counts)
        while len(history) > 2 and history[1].at_s <= now_s - _WINDOW_S:  # noqa: PLR2004  # the two ends
            history.popleft()

    def nodes(self, snapshot: Snapshot, calls: Mapping[str, int]) -> tuple[NodeReading, ...]:
        """Return the nodes of the newest snapshot; `calls` says how many calls of a node may overlap."""
        is_timed = any(node.busy_s and not node.place for node in snapshot.nodes)
        failed = {found[1] for error in snapshot.errors if (found := _OF_NODE.search(error))}
        nodes = [
            self._node(number, node, calls.get(node.name), is_timed=is_timed)
            for number, node in enumerate(snapshot.nodes)
        ]
        return tuple(
            [
                attrs.evolve(one, state="failed") if one.name in failed and one.state == "closed" else one
                for one in nodes
            ]
        )

    def streams(self, snapshot: Snapshot, wiring: Wiring) -> tuple[StreamReading, ...]:
        """Return the streams of the newest snapshot."""
        return tuple([self._stream(number, one, wiring) for number, one in enumerate(snapshot.streams)])

    def _node(self, number: int, node: NodeState, most: int | None, *, is_timed: bool) -> NodeReading:
        first, last = self._history[0], self._history[-1]
        seconds = last.at_s - first.at_s
        called_s = self._called_s.get(number)
        busy = last.busy_s[number] - first.busy_s[number]
        measured = is_timed or (node.place and node.busy_s)  # another process always measures
        return NodeReading(
            name=node.name,
            calculator=node.calculator,
            state=node.state,
            steps=node.steps,
            steps_per_s=(last.steps[number] - first.steps[number]) / seconds if seconds else 0.0,
            busy=_share(busy, seconds, most) if measured else None,
            running=node.running,
            ready=node.ready,
            running_s=0.0 if called_s is None else last.at_s - called_s,
            executor=node.executor,
            place=node.place,
            waits_for=node.waits_for,
            lost_s=last.at_s - self._lost_s[node.name] if node.name in self._lost_s else None,
        )

    def _stream(self, number: int, stream: StreamState, wiring: Wiring) -> StreamReading:
        first, last = self._history[0], self._history[-1]
        seconds = last.at_s - first.at_s
        newest_s = self._newest_s.get(number)
        of = wiring.streams[stream.name]
        return StreamReading(
            name=stream.name,
            writer=of.writer,
            readers=of.readers,
            packets=stream.added,
            per_s=(last.added[number] - first.added[number]) / seconds if seconds else 0.0,
            queued=stream.queued,
            limit=stream.limit,
            queued_bytes=stream.queued_bytes,
            dropped=stream.dropped,
            drops=dict(stream.drops),
            bound=stream.bound,
            age_s=None
            if newest_s is None
            else (last.at_s if self.over_s is None else self.over_s) - newest_s,
            is_input=of.is_input,
            is_output=of.is_output,
            dropped_at={node: dict(reasons) for node, reasons in stream.dropped_at.items()},
        )


def _share(busy_s: float, seconds: float, most: int | None) -> float:
    """Return the share of some seconds that calls took.

    A call counts when it has come back, so one that began before these seconds may seem to take more of them
    than there are: the share is at most the number of calls that may overlap, where that is known.
    """
    share = busy_s / seconds if seconds else 0.0
    return share if most is None else min(share, float(most))
