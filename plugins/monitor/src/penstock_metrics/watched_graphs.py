"""`WatchedGraph`: one graph, with all that is known of it: counts, what moves, and sampled timestamps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from penstock.config import CalculatorGraphConfig
from penstock.errors import AlreadyExistsError, NotFoundError, PenstockError
from penstock_metrics import measures as m
from penstock_metrics.followed import FollowedGraph
from penstock_metrics.latencies import Histogram
from penstock_monitor import Budget, Monitor, Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorGraph
    from penstock_metrics.measures import Series

#: Gets the name of a graph, and a sample of it.
Listener: TypeAlias = Callable[[str, Sample], object]

#: How often it is looked at whether the run moves, and a timestamp is sampled.
LOOKS_S: Final = 0.5
#: Of one processor, that this takes at most: of a graph of 500 nodes it is done every six seconds.
_SHARE: Final = 0.002


class WatchedGraph:
    """A graph whose numbers are read from time to time, and which a monitor looks at meanwhile.

    Args:
        graph: not kept alive; what looks at it ends with it.
        name: the value of the label "graph".
        told: those that get each sample too, with the graph's name, on the monitor's thread; they must
            not raise. Where there are any, samples follow a timestamp over all streams.
    """

    def __init__(self, graph: CalculatorGraph, name: str, told: Sequence[Listener] = ()) -> None:
        self.name: Final = name
        self._followed: Final = FollowedGraph(graph, name)
        self._lock: Final = threading.Lock()
        self._histograms: Final[dict[str, Histogram]] = {}
        self._told: Final = told
        self._monitor: Final = Monitor(
            graph, LOOKS_S, on_sample=self._take, over_all=lambda: bool(told), budget=Budget(_SHARE)
        )

    @property
    def is_alive(self) -> bool:
        """Whether the graph still exists."""
        return self._followed.is_alive

    def is_of(self, graph: CalculatorGraph) -> bool:
        """Return whether it is this graph that is watched."""
        return self._followed.is_of(graph)

    def look(self) -> dict[Series, float]:
        """Return the numbers of this moment; {} where the graph is gone."""
        found = self._followed.look()
        if found:
            # else the graph has just gone; or the monitor has failed, and has logged that
            with suppress(PenstockError):
                stall = self._monitor.reading().stall
                found[m.STALLED, ()] = 0.0 if stall is None else stall.since_s
        return found

    def fault(self, longest_s: float) -> str:
        """Return why the graph is not well; "" where it is: it runs, and something has moved lately.

        Args:
            longest_s: for how many seconds nothing may move. A graph that waits for its inputs alone is idle.
        """
        try:
            reading = self._monitor.reading()
        except PenstockError:  # the graph has just gone; or the monitor has failed, and has logged that
            return "it is not known how the graph is"
        stall = reading.stall
        if reading.state == "not started":
            return "the graph has not begun to run"
        if reading.state == "over":
            return "the graph has ended"
        if stall is None or stall.since_s < longest_s or not any(culprit.node for culprit in stall.culprits):
            return ""
        return f"nothing has moved for {stall.since_s:.0f} s"

    def latencies(self) -> list[Histogram]:
        """Return a copy of the latencies so far, for each stream at which sampled packets have left."""
        with self._lock:
            return [histogram.copy() for histogram in self._histograms.values()]

    def close(self) -> None:
        """End what looks at the graph. Closing it again does nothing."""
        self._monitor.close()

    def _take(self, sample: Sample) -> None:
        with self._lock:
            for stream, latency_s in sample.latencies_s.items():
                self._histograms.setdefault(stream, Histogram(stream)).add(latency_s)
        for told in self._told:
            told(self.name, sample)


class WatchedGraphs:
    """Graphs by name, which any thread may add, leave out and look at."""

    def __init__(self) -> None:
        #: Get the name of a graph and a sample of it, for each sample, on the thread of the graph's monitor.
        #: They must not raise.
        self.listeners: Final[list[Listener]] = []
        self._lock: Final = threading.Lock()
        self._graphs: Final[dict[str, WatchedGraph]] = {}

    def add(self, graph: CalculatorGraph, name: str | None = None) -> str:
        """Add a graph; return its name: the one given, or its `type`, or "graph" if it has none.

        To add a graph again under its name does nothing.

        Raises:
            AlreadyExistsError: another graph, which still exists, has that name; give another one.
        """
        known = (type_of(graph) or "graph") if name is None else name
        with self._lock:
            before = self._graphs.get(known)
            if before is not None and before.is_of(graph):
                return known
            if before is not None and before.is_alive:
                raise AlreadyExistsError(
                    f"the watched graphs have a {known!r} already; give this one another name"
                )
            self._graphs[known] = WatchedGraph(graph, known, self.listeners)
        if before is not None:
            before.close()
        return known

    def remove(self, name: str) -> None:
        """Leave out a graph from now on.

        Raises:
            NotFoundError: there is no graph of this name.
        """
        with self._lock:
            watched = self._graphs.pop(name, None)
            known = ", ".join(map(repr, self._graphs)) or "none"
        if watched is None:
            raise NotFoundError(f"the watched graphs have no {name!r}; there are: {known}")
        watched.close()

    def alive(self) -> list[WatchedGraph]:
        """Return those that still exist, in the order in which they were added; the others are left out."""
        with self._lock:
            gone = [watched for watched in self._graphs.values() if not watched.is_alive]
            for watched in gone:
                del self._graphs[watched.name]
            found = list(self._graphs.values())
        for watched in gone:
            watched.close()
        return found

    def close(self) -> None:
        """Leave out all graphs, and end the threads that look at them. Graphs may be added again."""
        with self._lock:
            graphs = list(self._graphs.values())
            self._graphs.clear()
        for watched in graphs:
            watched.close()


def type_of(graph: CalculatorGraph) -> str:
    """Return a graph's `type`; "" if it has none."""
    kind: str = CalculatorGraphConfig.FromString(graph.binary_config).type
    return kind
