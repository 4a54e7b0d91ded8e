"""One graph, followed from run to run: numbers that count on where the engine's begin again.

The engine's counts begin at zero in each run. A counter of Prometheus must not fall while its process lives,
so what the ended runs have counted is kept and added. The counts of a run are read when someone asks, and
once more when it ends (`run_has_ended`, called by the plugin's hook): so none is missed, however short the
run was. The hook is not called for a graph that has a registry of its own; there what a run counted after the
last look at it is missing when the next one has begun.

Nothing here waits for a node: a look takes the lock of the run for as long as a snapshot and a ledger take.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Final

from penstock.config import CalculatorGraphConfig
from penstock.errors import FailedPreconditionError
from penstock.readers import numbered_nodes
from penstock_metrics import measures as m

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import CalculatorGraph
    from penstock.explain import Ledger, Snapshot
    from penstock_metrics.measures import Series

#: Counters that failure policies keep for their nodes: suffix of the name → measure.
_POLICY_COUNTERS: Final = {"-failures": m.FAILURES, "-skipped": m.SKIPPED, "-restarts": m.RESTARTS}


class FollowedGraph:
    """A graph whose numbers are read from time to time, by any thread.

    Args:
        graph: is not kept alive. Runs that have ended before do not count.
        name: the value of the label "graph".
    """

    def __init__(self, graph: CalculatorGraph, name: str) -> None:
        self.name: Final = name
        self._graph: Final = weakref.ref(graph)
        self._lock: Final = threading.Lock()
        #: What the runs before the present one have counted.
        self._before: dict[Series, float] = {}
        #: The present or last run: its number, and what it had counted at the last look.
        self._run = graph.run_count
        self._counted: dict[Series, float] = {}
        #: Nodes with a failure policy.
        self._guarded: Final = _guarded(graph)
        _keep(graph, self)

    @property
    def is_alive(self) -> bool:
        """Whether the graph still exists."""
        return self._graph() is not None

    def is_of(self, graph: CalculatorGraph) -> bool:
        """Return whether it is this graph that is followed."""
        return self._graph() is graph

    def look(self) -> dict[Series, float]:
        """Return the numbers of this moment; {} where the graph is gone. Counters never fall."""
        graph = self._graph()
        if graph is None:
            return {}
        with self._lock:
            number, snapshot, ledger = _consistent(graph)
            if number != self._run:
                self._begin(number)
            found: dict[Series, float] = {}
            if snapshot is not None and ledger is not None:
                for series, value in _counts(snapshot, ledger):
                    # a reader that is gone may take the packets that it dropped out of the ledger
                    self._counted[series] = max(value, self._counted.get(series, 0))
                found.update(_gauges(snapshot))
            found.update(self._totals())
            found.update(self._of_counters(graph))
            found[m.RUNNING, ()] = int(graph.is_running)
            found[m.RUNS, ()] = number
            return found

    def _begin(self, number: int) -> None:
        self._before = dict(self._totals())
        self._counted = {}
        self._run = number

    def _totals(self) -> Iterator[tuple[Series, float]]:
        for series in self._before | self._counted:
            yield series, self._before.get(series, 0) + self._counted.get(series, 0)

    def _of_counters(self, graph: CalculatorGraph) -> Iterator[tuple[Series, float]]:
        """Yield the graph's counters, which go on from run to run by themselves."""
        counters = graph.counters
        for node in self._guarded:
            for suffix, measure in _POLICY_COUNTERS.items():
                yield (measure, (node,)), counters.pop(f"{node}{suffix}", 0)
        for name, value in counters.items():
            yield (m.COUNTER, (name,)), value


#: Graph → those who follow it, for the hook.
_FOLLOWERS: Final[weakref.WeakKeyDictionary[CalculatorGraph, weakref.WeakSet[FollowedGraph]]] = (
    weakref.WeakKeyDictionary()
)
_LOCK: Final = threading.Lock()


def _keep(graph: CalculatorGraph, follower: FollowedGraph) -> None:
    with _LOCK:
        _FOLLOWERS.setdefault(graph, weakref.WeakSet()).add(follower)


def run_has_ended(graph: CalculatorGraph) -> None:
    """Read the last numbers of a run, before another one can begin."""
    with _LOCK:
        followers = list(_FOLLOWERS.get(graph, ()))
    for follower in followers:
        follower.look()


def _consistent(graph: CalculatorGraph) -> tuple[int, Snapshot | None, Ledger | None]:
    """Return the number of a run and its numbers, all of the same run; None where there is none to read."""
    while True:
        number = graph.run_count
        try:
            snapshot, ledger = graph.snapshot(), graph.ledger()
        except FailedPreconditionError:  # before the first run, or within the start of one
            return number, None, None
        if graph.run_count == number:
            return number, snapshot, ledger


def _counts(snapshot: Snapshot, ledger: Ledger) -> Iterator[tuple[Series, float]]:
    dropped: dict[Series, float] = {}
    for account in ledger.streams:
        yield (m.PACKETS, (account.name,)), account.added
        for drop in account.drops:
            series = m.DROPPED, (account.name, drop.reason)
            dropped[series] = dropped.get(series, 0) + drop.count
    yield from dropped.items()
    is_timed = any(node.busy_s for node in snapshot.nodes)
    for node in snapshot.nodes:
        yield (m.STEPS, (node.name,)), node.steps
        if is_timed:
            yield (m.BUSY, (node.name,)), node.busy_s
    yield (m.ERRORS, ()), len(snapshot.errors)


def _gauges(snapshot: Snapshot) -> Iterator[tuple[Series, float]]:
    for stream in snapshot.streams:
        yield (m.QUEUE_PACKETS, (stream.name,)), stream.queued
        yield (m.QUEUE_BYTES, (stream.name,)), stream.queued_bytes
        if stream.limit is not None:
            yield (m.QUEUE_LIMIT, (stream.name,)), stream.limit


def _guarded(graph: CalculatorGraph) -> frozenset[str]:
    """Return the names of the nodes with a failure policy."""
    nodes = CalculatorGraphConfig.FromString(graph.binary_config).node
    names = numbered_nodes([node.name or node.calculator for node in nodes])
    return frozenset(name for name, node in zip(names, nodes, strict=True) if node.HasField("failure"))
