"""`PrometheusMetrics`: graphs as a collector of prometheus-client.

Numbers are read when they are asked for: of all graphs first, then written, so that one scrape has the
numbers of one moment.
"""

from __future__ import annotations

import platform
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import UnavailableError
from penstock_metrics.measures import LATENCY_TEXT, MEASURES, Kind
from penstock_metrics.watched_graphs import WatchedGraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prometheus_client import Metric
    from prometheus_client.registry import Collector

    from penstock import CalculatorGraph
    from penstock_metrics.latencies import Histogram
    from penstock_metrics.measures import Measure
else:
    Collector = object  # the registry asks for the methods, not for the class

_INFO_TEXT: Final = "What runs the graph."


def client(module: str) -> Any:
    """Return a module of prometheus-client; "" for the package.

    Raises:
        UnavailableError: it is not installed; says how to get it.
    """
    try:
        return import_module(f"prometheus_client.{module}" if module else "prometheus_client")
    except ImportError as error:
        raise UnavailableError(
            f"metrics for Prometheus need prometheus-client, which is not there ({error}); "
            'pip install "penstock-monitor[prometheus]"'
        ) from error


class PrometheusMetrics(Collector):
    """The numbers of one or more graphs, for a registry of prometheus-client.

    `prometheus_client.REGISTRY.register(PrometheusMetrics(graph))` adds them to what a program has already.
    A registry takes one such collector; further graphs are added to it. Any thread may call the methods.

    Args:
        graph: the first graph, or None; not kept alive. May be running, not started, or over.
        name: value of the label "graph"; None for the graph's `type`, or "graph" if it has none.
        graphs: shared with a `Telemetry`, so that each graph is looked at once; None for graphs of its own.
    """

    def __init__(
        self,
        graph: CalculatorGraph | None = None,
        name: str | None = None,
        *,
        graphs: WatchedGraphs | None = None,
    ) -> None:
        #: May be added and left out at any time.
        self.graphs: Final = WatchedGraphs() if graphs is None else graphs
        if graph is not None:
            self.graphs.add(graph, name)

    def add(self, graph: CalculatorGraph, name: str | None = None) -> str:
        """Add a graph; return its name.

        Raises:
            AlreadyExistsError: another graph, which still exists, has that name; give another one.
        """
        return self.graphs.add(graph, name)

    def remove(self, name: str) -> None:
        """Leave out a graph from now on.

        Raises:
            NotFoundError: there is no graph of this name.
        """
        self.graphs.remove(name)

    def close(self) -> None:
        """Leave out all graphs, and end the threads that look at them. Graphs may be added again."""
        self.graphs.close()

    def describe(self) -> list[Metric]:
        """Return all metrics without samples; a registry asks, to find names that are taken."""
        return [*(_family(measure) for measure in MEASURES), _latency_family(), _info_family()]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of this moment. A graph that has been freed is left out."""
        graphs = self.graphs.alive()
        numbers = [(watched, watched.look()) for watched in graphs]
        families = {measure: _family(measure) for measure in MEASURES}
        for watched, found in numbers:
            for (measure, labels), value in found.items():
                families[measure].add_metric([watched.name, *labels], value)
        yield from families.values()
        yield _latencies((watched.name, watched.latencies()) for watched in graphs)
        info = _info_family()
        for watched in graphs:
            info.add_metric(
                [watched.name], {"version": penstock.__version__, "python": platform.python_version()}
            )
        yield info


def _family(measure: Measure) -> Any:
    core = client("core")
    kind = core.CounterMetricFamily if measure.kind is Kind.COUNTER else core.GaugeMetricFamily
    return kind(f"penstock_{measure.name}", measure.text, labels=["graph", *measure.labels])


def _info_family() -> Any:
    return client("core").InfoMetricFamily("penstock_run", _INFO_TEXT, labels=["graph"])


def _latency_family() -> Any:
    return client("core").HistogramMetricFamily(
        "penstock_latency_seconds", LATENCY_TEXT, labels=["graph", "stream"]
    )


def _latencies(graphs: Iterable[tuple[str, Sequence[Histogram]]]) -> Any:
    family = _latency_family()
    for name, histograms in graphs:
        for histogram in histograms:
            family.add_metric([name, histogram.stream], histogram.cumulative(), histogram.sum_s)
    return family
