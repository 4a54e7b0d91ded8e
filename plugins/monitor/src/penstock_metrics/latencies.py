"""Histograms of latencies, which are exact for what was sampled and can be added over graphs and machines."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

import attrs

from penstock_metrics.measures import LATENCY_EDGES_S


@attrs.define
class Histogram:
    """The latencies of the sampled packets of one stream, over all runs of its graph."""

    #: Where the packets leave the graph.
    stream: str
    #: How many are at most as long as each edge of `LATENCY_EDGES_S` and longer than the one before; last,
    #: those longer than all edges.
    counts: list[int] = attrs.field(factory=lambda: [0] * (len(LATENCY_EDGES_S) + 1))
    #: The sum of all, in seconds.
    sum_s: float = 0.0

    def add(self, latency_s: float) -> None:
        """Count one latency, in seconds."""
        self.counts[bisect_left(LATENCY_EDGES_S, latency_s)] += 1
        self.sum_s += latency_s

    def copy(self) -> Histogram:
        """Return one with the same numbers, which do not change."""
        return Histogram(self.stream, list(self.counts), self.sum_s)

    def cumulative(self) -> list[tuple[str, int]]:
        """Return for each edge, as text, how many are not longer; "+Inf" for all."""
        edges = [*map(str, LATENCY_EDGES_S), "+Inf"]
        return list(zip(edges, accumulate(self.counts), strict=True))
