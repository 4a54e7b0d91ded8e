"""What OpenTelemetry gets: instruments, spans, and OTLP over HTTP."""

from __future__ import annotations

import gzip
import http.server
import os
import socket
import sys
import threading
import time
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scraping import PATIENCE_S, feed, run_once

import penstock
import penstock_metrics
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_metrics import PrometheusMetrics, Telemetry
from penstock_metrics.telemetry import Wanted
from penstock_testing import calculator, testing_registry

DIAMOND = """
input_stream: "in" output_stream: "out"
node { calculator: "Work" name: "left" input_stream: "in" output_stream: "a" }
node { calculator: "Pass" name: "right" input_stream: "in" output_stream: "b" }
node { calculator: "Join" name: "join" input_stream: "a" input_stream: "b" output_stream: "out" }
"""


def work(cc):
    began = time.perf_counter()
    while time.perf_counter() < began + 0.005:  # work: nobody else would be waited for
        pass
    cc.outputs[0].add_packet(cc.inputs[0].packet)


def forward(cc):
    cc.outputs[0].add_packet(cc.inputs[0].packet)


@pytest.fixture
def diamond():
    parts = {"Work": work, "Pass": forward, "Join": forward}
    registry = testing_registry(*(calculator(call, name=name, offset=0) for name, call in parts.items()))
    graph = penstock.CalculatorGraph(DIAMOND, registry=registry)
    yield graph
    if graph.is_running:
        graph.close(PATIENCE_S)


@pytest.fixture
def reader():
    return InMemoryMetricReader()


@pytest.fixture
def providers(reader):
    spans = InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    meters = MeterProvider([reader], shutdown_on_exit=False)
    yield meters, tracers, spans
    meters.shutdown()
    tracers.shutdown()


def points(reader):
    """Return name → its metric, and (name, attributes' values in order of their names) → value."""
    data = reader.get_metrics_data()
    metrics = [] if data is None else data.resource_metrics[0].scope_metrics[0].metrics
    values = {
        (metric.name, *(value for _, value in sorted(point.attributes.items()))): getattr(
            point, "value", point
        )
        for metric in metrics
        for point in metric.data.data_points
    }
    return {metric.name: metric for metric in metrics}, values


def until_sampled(graph, sampled, *, stream="in"):
    """Feed a running graph until a sample of it has been taken; return how many packets it got."""
    count, deadline = 0, time.monotonic() + PATIENCE_S
    while not sampled.is_set():
        assert time.monotonic() < deadline, "no sample was taken"
        feed(graph, [count], stream)
        graph.wait_until_idle(PATIENCE_S)
        count += 1
    return count


# --- instruments ----------------------------------------------------------------------------------


def test_the_instruments_have_the_counts_of_the_ledger_and_the_conventions_names_and_units(
    chain, reader, providers
) -> None:
    with Telemetry(chain, meter_provider=providers[0], tracer_provider=providers[1]):
        chain.set_late_packet_mode("in", "DROP")
        chain.start_run()
        feed(chain, [*range(100), 0, 1])
        chain.wait_until_idle(PATIENCE_S)
        metrics, values = points(reader)
        ledger = chain.ledger()

    for account in ledger.streams:
        assert values["penstock.packets", "chain", account.name] == account.added
    assert values["penstock.packets.dropped", "chain", "late", "in"] == 2
    assert values["penstock.node.steps", "chain", "second"] == 100
    assert values["penstock.running", "chain"] == 1
    assert metrics["penstock.packets"].unit == "{packet}"
    assert metrics["penstock.queue.size"].unit == "By"
    assert metrics["penstock.stalled"].unit == "s"
    assert metrics["penstock.packets"].data.is_monotonic
    assert not hasattr(metrics["penstock.queue.size"].data, "is_monotonic")
    assert [name for name in metrics if name.endswith("_total") or not name.startswith("penstock.")] == []


def test_each_reading_is_of_one_moment_and_the_sums_go_on_from_run_to_run(chain, reader, providers) -> None:
    with Telemetry(chain, meter_provider=providers[0], tracer_provider=providers[1]):
        run_once(chain, 7)
        run_once(chain, 5)
        _, values = points(reader)
        _, again = points(reader)

    assert values["penstock.packets", "chain", "out"] == values["penstock.node.steps", "chain", "first"] == 12
    assert again == values
    assert points(reader)[1] == {}, "it is closed"


# --- spans ----------------------------------------------------------------------------------------


def test_a_sampled_timestamp_has_a_span_and_one_below_it_for_each_node(diamond, reader, providers) -> None:
    sampled = threading.Event()
    with Telemetry(meter_provider=providers[0], tracer_provider=providers[1]) as telemetry:
        telemetry.graphs.listeners.append(lambda *_: sampled.set())  # behind the telemetry's own
        telemetry.add(diamond, "diamond")
        began_ns = time.time_ns()
        diamond.start_run()
        until_sampled(diamond, sampled)
        diamond.close(PATIENCE_S)
        ended_ns = time.time_ns()
        spans = providers[2].get_finished_spans()
        metrics, values = points(reader)
    roots = [span for span in spans if span.parent is None]
    root = roots[0]
    below = {span.name: span for span in spans if span.parent and span.parent.span_id == root.context.span_id}

    assert root.name == "diamond"
    assert root.attributes["penstock.graph"] == "diamond"
    assert set(below) == {"left", "right", "join"}
    assert {span.attributes["penstock.timestamp"] for span in below.values()} == {
        root.attributes["penstock.timestamp"]
    }
    assert below["left"].attributes["penstock.node"] == "left"
    assert below["left"].end_time - below["left"].start_time >= 4_500_000  # it works for 5 ms
    assert below["join"].start_time >= below["left"].end_time - 1_000
    assert began_ns - 10_000_000 <= root.start_time <= below["left"].start_time
    assert below["join"].end_time <= root.end_time <= ended_ns + 10_000_000
    histogram = values["penstock.latency", "diamond", "out"]
    assert histogram.count == len(roots)
    assert histogram.sum * 1e9 == pytest.approx(sum(one.end_time - one.start_time for one in roots), rel=0.01)
    assert histogram.explicit_bounds[:3] == (0.001, 0.0025, 0.005)
    assert metrics["penstock.latency"].unit == "s"


def test_a_graph_is_looked_at_once_for_both_ecosystems(diamond, providers) -> None:
    metrics = PrometheusMetrics(diamond, "shared")
    with Telemetry(
        meter_provider=providers[0], tracer_provider=providers[1], graphs=metrics.graphs
    ) as telemetry:
        assert telemetry.graphs is metrics.graphs
        threads = [one.name for one in threading.enumerate() if one.name.startswith("penstock-m")]

    assert threads == ["penstock-monitor"]


def test_a_tracer_that_raises_is_logged_and_does_no_harm(diamond, reader, providers, caplog) -> None:
    sampled = threading.Event()
    with Telemetry(meter_provider=providers[0], tracer_provider=providers[1]) as telemetry:
        telemetry._tracer = None  # any call of it raises
        telemetry.graphs.listeners.append(lambda *_: sampled.set())
        telemetry.add(diamond, "diamond")
        diamond.start_run()
        until_sampled(diamond, sampled)
        diamond.close(PATIENCE_S)

    assert "a sample of graph 'diamond' could not be given to OpenTelemetry" in caplog.text


# --- OTLP -----------------------------------------------------------------------------------------


class Collector(http.server.ThreadingHTTPServer):
    """Takes OTLP over HTTP, and parses it."""

    kinds: ClassVar = {"/v1/metrics": ExportMetricsServiceRequest, "/v1/traces": ExportTraceServiceRequest}

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiver)
        self.taken = []
        self.headers = []

    def of(self, path):
        return [message for where, message in self.taken if where == path]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.headers.append(dict(self.headers))
        self.server.taken.append((self.path, self.server.kinds[self.path].FromString(body)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def collector(monkeypatch):
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
    yield server
    server.shutdown()
    server.server_close()
    thread.join(PATIENCE_S)


def sums(request):
    """Return (name, graph, stream or node) → value, of the last point of each sum."""
    return {
        (metric.name, *(attribute.value.string_value for attribute in point.attributes)): point.as_int
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.sum.data_points
    }


def test_a_collector_gets_the_last_numbers_and_the_spans_by_otlp(diamond, collector) -> None:
    sampled = threading.Event()
    with penstock_metrics.export_otlp() as telemetry:
        telemetry.graphs.listeners.append(lambda *_: sampled.set())
        telemetry.add(diamond, "diamond")
        diamond.start_run()
        count = until_sampled(diamond, sampled)
        diamond.close(PATIENCE_S)
    last = collector.of("/v1/metrics")[-1]
    resource = {one.key: one.value.string_value for one in last.resource_metrics[0].resource.attributes}
    traces = collector.of("/v1/traces")
    names = {
        span.name
        for request in traces
        for resources in request.resource_spans
        for scope in resources.scope_spans
        for span in scope.spans
    }

    assert sums(last)["penstock.packets", "diamond", "out"] == count
    assert resource["service.name"] == "penstock"
    assert names == {"diamond", "left", "right", "join"}
    assert {headers["x-team"] for headers in collector.headers} == {"blue"}


def test_the_environment_chooses_signals_and_service(diamond, collector, monkeypatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "cameras")
    with penstock_metrics.export_otlp(diamond, "diamond"):
        run_once(diamond, 3)
    last = collector.of("/v1/metrics")[-1]

    assert collector.of("/v1/traces") == []
    assert "cameras" in {one.value.string_value for one in last.resource_metrics[0].resource.attributes}
    assert sums(last)["penstock.packets", "diamond", "in"] == 3


def test_a_collector_that_is_not_there_does_no_harm(diamond, monkeypatch, collector, caplog) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    began = time.monotonic()
    with penstock_metrics.export_otlp(diamond, "diamond"):
        run_once(diamond, 3)
        assert diamond.ledger().adds_up
    took_s = time.monotonic() - began

    assert took_s < 10
    assert "opentelemetry" in {record.name.partition(".")[0] for record in caplog.records}


@pytest.mark.parametrize(
    ("environ", "signals", "is_asked"),
    [
        ({}, ("metrics", "traces"), False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, ("metrics", "traces"), True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a"}, ("traces",), True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_METRICS_EXPORTER": "none"}, ("traces",), True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_SDK_DISABLED": "TRUE"}, (), False),
        (
            {
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://a",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf",
            },
            ("metrics",),
            True,
        ),
    ],
)
def test_what_the_variables_ask_for(environ, signals, is_asked) -> None:
    assert Wanted.of(environ) == Wanted(signals, is_asked=is_asked)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL 'grpc': must be 'http/protobuf', which collectors take on port 4318",
        ),
        ({"OTEL_METRICS_EXPORTER": "console"}, "OTEL_METRICS_EXPORTER 'console': must be 'otlp' or 'none'"),
    ],
)
def test_what_cannot_be_exported_is_refused(environ, message) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        penstock_metrics.export_otlp(environ=environ)

    assert str(caught.value) == f"OpenTelemetry's {message}"


def test_it_says_what_to_install_where_opentelemetry_is_missing(chain, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)

    with pytest.raises(
        UnavailableError, match=r'this needs OpenTelemetry, .*pip install "penstock-monitor\[otel\]"'
    ):
        Telemetry(chain)
