"""`Telemetry`: graphs as instruments and spans of OpenTelemetry; `export_otlp` sends them by OTLP over HTTP.

The numbers are those that Prometheus gets, under names after OpenTelemetry's conventions. The spans are those
of sampled timestamps: one for the graph, and below it one for each node that wrote a packet of that time,
from when its last input was there until its output was: waiting for a thread, and work.
"""

from __future__ import annotations

import os
from importlib import import_module
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

import penstock
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.log import get_logger
from penstock_metrics.measures import LATENCY_EDGES_S, LATENCY_TEXT, MEASURES, Kind
from penstock_metrics.watched_graphs import WatchedGraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
    from opentelemetry.trace import TracerProvider

    from penstock import CalculatorGraph
    from penstock_metrics.measures import Measure, Series
    from penstock_monitor import Sample

_LOG: Final = get_logger("metrics")
_SCOPE: Final = "penstock_metrics"
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_HTTP: Final = "http/protobuf"
_SIGNALS: Final = ("metrics", "traces")


class Telemetry:
    """Graphs for OpenTelemetry. Leaving a `with` block closes it.

    Args:
        graph: the first graph, or None; not kept alive. May be running, not started, or over.
        name: value of the attribute `penstock.graph`; None for the graph's `type`, or "graph" if it has none.
        meter_provider: gets the instruments; None for the global one of the program.
        tracer_provider: gets the spans; None for the global one.
        graphs: shared with a `Metrics`, so that each graph is looked at once; None for graphs of its own.

    Raises:
        UnavailableError: OpenTelemetry is not installed; says how to get it.
    """

    def __init__(
        self,
        graph: CalculatorGraph | None = None,
        name: str | None = None,
        *,
        meter_provider: MeterProvider | None = None,
        tracer_provider: TracerProvider | None = None,
        graphs: WatchedGraphs | None = None,
    ) -> None:
        self._api: Final = otel("metrics")
        trace = otel("trace")
        meter = self._api.get_meter(_SCOPE, penstock.__version__, meter_provider)
        self._tracer: Final = trace.get_tracer(_SCOPE, penstock.__version__, tracer_provider)
        #: May be added and left out at any time.
        self.graphs: Final = WatchedGraphs() if graphs is None else graphs
        self._numbers: list[tuple[str, dict[Series, float]]] = []
        self._closing: list[Callable[[], object]] = []
        self._is_closed = False
        for measure in MEASURES:
            make = (
                meter.create_observable_counter
                if measure.kind is Kind.COUNTER
                else meter.create_observable_gauge
            )
            make(f"penstock.{measure.otel}", [self._observer(measure)], measure.unit, measure.text)
        self._latency: Final = meter.create_histogram(
            "penstock.latency",
            "s",
            LATENCY_TEXT,
            explicit_bucket_boundaries_advisory=list(LATENCY_EDGES_S),
        )
        self._spans_of: Final = trace.set_span_in_context
        self.graphs.listeners.append(self._tell)
        if graph is not None:
            self.add(graph, name)

    def add(self, graph: CalculatorGraph, name: str | None = None) -> str:
        """Add a graph; return its name.

        Raises:
            AlreadyExistsError: another graph, which still exists, has that name; give another one.
        """
        return self.graphs.add(graph, name)

    def close(self) -> None:
        """Send what is left, if it was made by `export_otlp`, and leave out all graphs. Again: nothing."""
        if self._is_closed:
            return
        try:
            for close in self._closing:
                close()
        finally:
            self._is_closed = True
            self.graphs.listeners.remove(self._tell)
            self.graphs.close()

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def closes(self, close: Callable[[], object]) -> None:
        """Call this when the telemetry is closed, while the graphs can still be looked at."""
        self._closing.append(close)

    def _observer(self, measure: Measure) -> Callable[[CallbackOptions], Iterator[Observation]]:
        names = ("graph", *measure.labels)

        def observe(_: CallbackOptions) -> Iterator[Observation]:
            if self._is_closed:
                return
            if measure is MEASURES[0]:  # instruments are asked in their order: one look is for all of them
                self._numbers = [(watched.name, watched.look()) for watched in self.graphs.alive()]
            for graph, found in self._numbers:
                for (one, labels), value in found.items():
                    if one is measure:
                        yield self._api.Observation(value, _attributes(names, (graph, *labels)))

        return observe

    def _tell(self, name: str, sample: Sample) -> None:
        try:
            self._tell_of(name, sample)
        except Exception:  # noqa: BLE001  # of a tracer or an exporter: it must not end the sampler
            _LOG.exception("a sample of graph %r could not be given to OpenTelemetry", name)

    def _tell_of(self, name: str, sample: Sample) -> None:
        for stream, latency_s in sample.latencies_s.items():
            self._latency.record(latency_s, _attributes(("graph", "stream"), (name, stream)))
        to_epoch_ns = time_ns() - monotonic_ns()

        def epoch_ns(seconds: float) -> int:
            return round(seconds * 1e9) + to_epoch_ns

        timestamp = {"penstock.timestamp": str(sample.timestamp)}
        root = self._tracer.start_span(
            name,
            start_time=epoch_ns(sample.entered_s),
            attributes={**_attributes(("graph",), (name,)), **timestamp},
        )
        context = self._spans_of(root)
        for part in sample.parts():
            span = self._tracer.start_span(
                part.node,
                context,
                start_time=epoch_ns(part.began_s),
                attributes={**_attributes(("graph", "node"), (name, part.node)), **timestamp},
            )
            span.end(epoch_ns(part.ended_s))
        root.end(epoch_ns(max(sample.seen_s.values())))


def export_otlp(
    graph: CalculatorGraph | None = None,
    name: str | None = None,
    *,
    graphs: WatchedGraphs | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Telemetry:
    """Send metrics and spans of graphs by OTLP over HTTP, as OpenTelemetry's environment variables say.

    `OTEL_EXPORTER_OTLP_ENDPOINT` (by default http://localhost:4318), `OTEL_EXPORTER_OTLP_HEADERS`,
    `OTEL_METRIC_EXPORT_INTERVAL` and the others mean what they mean for every program;
    `OTEL_METRICS_EXPORTER` and `OTEL_TRACES_EXPORTER` may be "none". That a collector cannot be reached is
    logged by OpenTelemetry, and does no harm to the run. `close` of the result sends what is left, and waits
    for each of the two signals at most as long as `OTEL_EXPORTER_OTLP_TIMEOUT` says, by default 10 s.

    Args:
        graph: as for `Telemetry`.
        name: as for `Telemetry`.
        graphs: as for `Telemetry`.
        environ: where the variables that are looked at here are; the exporters read those of the process.

    Raises:
        InvalidArgumentError: the variables ask for another protocol than http/protobuf, or another exporter.
        UnavailableError: OpenTelemetry is not installed; says how to get it.
    """
    wanted = Wanted.of(environ)
    resource = otel("sdk.resources").Resource.create(_resource(environ))
    readers = []
    if "metrics" in wanted.signals:
        exporter = otel("exporter.otlp.proto.http.metric_exporter").OTLPMetricExporter()
        readers.append(otel("sdk.metrics.export").PeriodicExportingMetricReader(exporter))
    meters = otel("sdk.metrics").MeterProvider(readers, resource, shutdown_on_exit=False)
    tracers = otel("sdk.trace").TracerProvider(resource=resource, shutdown_on_exit=False)
    if "traces" in wanted.signals:
        spans = otel("exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter()
        tracers.add_span_processor(otel("sdk.trace.export").BatchSpanProcessor(spans))
    telemetry = Telemetry(meter_provider=meters, tracer_provider=tracers, graphs=graphs)
    telemetry.closes(meters.shutdown)
    telemetry.closes(tracers.shutdown)
    if graph is not None:
        telemetry.add(graph, name)
    return telemetry


@attrs.frozen
class Wanted:
    """What the environment asks for."""

    #: Among "metrics" and "traces".
    signals: tuple[str, ...]
    #: Whether it names an endpoint, so that a command exports without being told to.
    is_asked: bool

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Wanted:
        """Return that of OpenTelemetry's environment variables.

        Raises:
            InvalidArgumentError: as `export_otlp`.
        """
        if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            return cls((), is_asked=False)
        signals = tuple(signal for signal in _SIGNALS if _is_sent(signal, environ))
        asked = tuple(signal for signal in signals if environ.get(_ENDPOINT) or environ.get(_of(signal)))
        for signal in asked or signals:
            _check_protocol(signal, environ)
        return cls(asked or signals, is_asked=bool(asked))


def otel(module: str) -> Any:
    """Return a module of OpenTelemetry.

    Raises:
        UnavailableError: it is not installed; says how to get it.
    """
    try:
        return import_module(f"opentelemetry.{module}")
    except ImportError as error:
        raise UnavailableError(
            f'this needs OpenTelemetry, which is not there ({error}); pip install "penstock-monitor[otel]"'
        ) from error


def _of(signal: str, what: str = "ENDPOINT") -> str:
    return f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}"


def _is_sent(signal: str, environ: Mapping[str, str]) -> bool:
    variable = f"OTEL_{signal.upper()}_EXPORTER"
    said = environ.get(variable, "").strip() or "otlp"
    if said not in {"otlp", "none"}:
        raise InvalidArgumentError(f"OpenTelemetry's {variable} {said!r}: must be 'otlp' or 'none'")
    return said == "otlp"


def _check_protocol(signal: str, environ: Mapping[str, str]) -> None:
    for variable in (_of(signal, "PROTOCOL"), "OTEL_EXPORTER_OTLP_PROTOCOL"):
        said = environ.get(variable, "").strip()
        if said and said != _HTTP:
            raise InvalidArgumentError(
                f"OpenTelemetry's {variable} {said!r}: must be {_HTTP!r}, which collectors take on port 4318"
            )
        if said:
            return


def _resource(environ: Mapping[str, str]) -> dict[str, str]:
    named = environ.get("OTEL_SERVICE_NAME") or "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return {} if named else {"service.name": "penstock"}


def _attributes(names: tuple[str, ...], values: tuple[str, ...]) -> dict[str, str]:
    return {f"penstock.{name}": value for name, value in zip(names, values, strict=True)}
