"""`Follower`: takes readings of a graph, from run to run. Called by one thread at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import FailedPreconditionError
from penstock_monitor.latencies import Latencies
from penstock_monitor.meter import Meter
from penstock_monitor.reading import NodeReading, Reading, StallReading, StreamReading
from penstock_monitor.sampling import Sampler
from penstock_monitor.stalls import stall_of
from penstock_monitor.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock import CalculatorGraph
    from penstock.explain import Snapshot
    from penstock_monitor.sampling import Sample

#: A run that has not moved for so long is stalled.
STALLED_S: Final = 1.0
#: The story of a stall is logged again after so long.
_STORY_S: Final = 5.0


class Follower:
    """Makes readings.

    Args:
        graph: the first one that `read` will be called with; it is not kept.
        clock: in seconds.
        samples: whether timestamps are sampled.
        on_sample: gets each sample.
        over_all: returns whether the next sample is to go over all streams.
        new_sampler: makes the sampler of a run, given the clock.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        graph: CalculatorGraph,
        clock: Callable[[], float],
        *,
        samples: bool = True,
        on_sample: Callable[[Sample], object] = lambda _: None,
        over_all: Callable[[], bool] = lambda: False,
        new_sampler: Callable[[Callable[[], float]], Sampler] = Sampler,
    ) -> None:
        self._clock: Final = clock
        self._new_sampler: Final = new_sampler
        self._samples: Final = samples
        self._on_sample: Final = on_sample
        self._over_all: Final = over_all
        self._of_graph: Final = Wiring.of_graph(graph)
        #: The wiring of the graph, or of the run that was read last.
        self.wiring = self._of_graph
        #: The names of all streams.
        self.names: Final = tuple(self._of_graph.streams)
        self._number = 0
        self._meter: Meter | None = None
        self._sampler = new_sampler(clock)
        self._latencies = Latencies()
        #: Which one was read last, as `graph.run_count` counts them.
        self._run = 0
        self._has_ended = False
        #: The stall, and when its story was logged.
        self._told: tuple[StallReading, float] | None = None
        #: In how many seconds the run is stalled if nothing moves; None where something moved since the
        #: reading before, and where it is stalled already.
        self.stalls_in_s: float | None = None

    def read(self, graph: CalculatorGraph) -> Reading:
        """Return one more reading."""
        self._number += 1
        self.stalls_in_s = None
        run, snapshot = _snapshot_of(graph)
        if snapshot is None:
            self._forget_run()
            return self._before_a_run()
        now_s = self._clock()
        meter = self._meter
        if meter is None or run != self._run:
            self._forget_run()
            self._run = run
            meter = self._meter = Meter(now_s)
        if self.wiring is self._of_graph or not self.wiring.is_complete():
            kinds = {node.name: node.calculator for node in snapshot.nodes}
            self.wiring = Wiring.of_run(graph, graph.ledger(), kinds)
        meter.take(snapshot, now_s, graph.counters)
        streams = meter.streams(snapshot, self.wiring)
        self._take_sample(graph, snapshot, streams)
        return Reading(
            number=self._number,
            state=snapshot.state,
            elapsed_s=(now_s if meter.over_s is None else meter.over_s) - meter.began_s,
            nodes=meter.nodes(snapshot, self._of_graph.calls),
            streams=streams,
            latencies=self._latencies.figures(self.wiring),
            throttled=snapshot.throttled,
            errors=snapshot.errors,
            stall=self._stall(graph, snapshot, now_s - meter.moved_s, now_s),
        )

    def end(self) -> None:
        """Watch nothing any more."""
        self._has_ended = True
        self._sampler.end()

    def _forget_run(self) -> None:
        self._sampler.end()
        if self._meter is not None:
            self._sampler, self._latencies = self._new_sampler(self._clock), Latencies()
        self._meter = None
        self._told = None
        self.wiring = self._of_graph

    def _before_a_run(self) -> Reading:
        nodes = tuple(
            NodeReading(name, calculator, "unopened", 0, 0.0, None, 0, 0)
            for name, calculator in self.wiring.nodes.items()
        )
        streams = tuple(
            StreamReading(
                one.name, one.writer, one.readers, 0, 0.0, 0, None, 0, 0, {}, "", None,
                one.is_input, one.is_output,
            )
            for one in self.wiring.streams.values()
        )  # fmt: skip
        return Reading(self._number, "not started", 0.0, nodes, streams)

    def _take_sample(
        self, graph: CalculatorGraph, snapshot: Snapshot, streams: Sequence[StreamReading]
    ) -> None:
        sample = None
        if snapshot.state == "over":
            sample = self._sampler.end()
        elif snapshot.state == "running" and self._samples and not self._has_ended:
            moving = {stream.name for stream in streams if stream.per_s}
            sample = self._sampler.step(graph, self.wiring, moving, is_whole=self._over_all())
        if sample is not None:
            self._latencies.add(sample)
            self._on_sample(sample)

    def _stall(
        self, graph: CalculatorGraph, snapshot: Snapshot, since_s: float, now_s: float
    ) -> StallReading | None:
        if snapshot.state != "running" or since_s < STALLED_S:
            self._told = None
            if snapshot.state == "running" and since_s > 0:
                self.stalls_in_s = STALLED_S - since_s
            return None
        if self._told is None or now_s - self._told[1] >= _STORY_S:
            self._told = stall_of(graph.why(), since_s), now_s
        return attrs.evolve(self._told[0], since_s=since_s)


def _snapshot_of(graph: CalculatorGraph) -> tuple[int, Snapshot | None]:
    """Return which run is under way or over, and where it stands; None where none has begun."""
    while True:
        run = graph.run_count
        try:
            snapshot = graph.snapshot()
        except FailedPreconditionError:
            return run, None
        if graph.run_count == run:  # else another run has begun in between
            return run, snapshot
