"""What Prometheus gets: the numbers are those of the graph, and counters never fall."""

from __future__ import annotations

import gc
import math
import re
import threading
import time

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families
from scraping import CHAIN, PATIENCE_S, feed, run_once, samples_of, scraped

import penstock
import penstock_metrics
from penstock.errors import AlreadyExistsError, NotFoundError
from penstock_metrics import PrometheusMetrics
from penstock_testing import calculator, testing_registry

MANY = 10_000
GUARDED = """
input_stream: "in"
node { calculator: "Odd" name: "picky" input_stream: "in" output_stream: "odd" failure { on_error: SKIP } }
node { calculator: "Sink" input_stream: "in" }
"""


@pytest.fixture
def metrics(chain):
    made = PrometheusMetrics(chain)
    yield made
    made.close()


def read(metrics):
    """Return what a scrape would say, through prometheus-client's own text and parser."""
    registry = CollectorRegistry()
    registry.register(metrics)
    return samples_of(text_string_to_metric_families(generate_latest(registry).decode()))


def odd(cc):
    if cc.input.payload % 2:
        raise ValueError("odd")
    for output in cc.outputs:
        output.add_packet(cc.input.packet)


def counters(found):
    return {key: value for key, value in found.items() if key[0].endswith(("_total", "_bucket", "_count"))}


# --- numbers --------------------------------------------------------------------------------------


def test_a_scrape_after_ten_thousand_packets_has_the_counts_of_the_ledger(chain) -> None:
    chain.set_late_packet_mode("in", "DROP")
    with penstock_metrics.serve(chain) as server:
        chain.start_run()
        feed(chain, range(MANY))
        feed(chain, range(7))  # late
        chain.wait_until_idle(PATIENCE_S)
        found = scraped(server.url)
        ledger, snapshot = chain.ledger(), chain.snapshot()

    assert ledger.adds_up
    for account in ledger.streams:
        assert found["penstock_packets_total", "graph=chain", f"stream={account.name}"] == account.added
    drops = {key[1:]: value for key, value in found.items() if key[0] == "penstock_dropped_total"}
    assert drops == {("graph=chain", "reason=late", "stream=in"): 7}
    assert {(drop.stream, drop.reason, drop.count) for drop in ledger.drops} == {("in", "late", 7)}
    assert [found["penstock_steps_total", "graph=chain", f"node={node.name}"] for node in snapshot.nodes] == [
        MANY,
        MANY,
    ]


def test_queues_are_told_with_their_bytes_and_limits() -> None:
    graph = penstock.CalculatorGraph("""
        type: "join" input_stream: "a" input_stream: "b"
        node { calculator: "PassThroughCalculator" input_stream: "a" input_stream: "b"
               output_stream: "a2" output_stream: "b2" }""")
    metrics = PrometheusMetrics(graph)
    graph.start_run()
    for stamp in range(3):
        graph.add_packet_to_input_stream("a", penstock.Packet(b"12345", stamp))
    graph.wait_until_idle(PATIENCE_S)
    found, snapshot = read(metrics), graph.snapshot()
    graph.close(PATIENCE_S)
    metrics.close()

    assert found["penstock_queue_packets", "graph=join", "stream=a"] == 3
    assert found["penstock_queue_packets", "graph=join", "stream=b"] == 0
    assert found["penstock_queue_bytes", "graph=join", "stream=a"] == snapshot.streams[0].queued_bytes > 15
    assert found["penstock_queue_limit", "graph=join", "stream=a"] == 100
    assert ("penstock_queue_limit", "graph=join", "stream=a2") not in found


def test_times_are_there_for_a_run_that_is_timed_and_else_are_not(chain, metrics) -> None:
    run_once(chain, 10)
    before = read(metrics)
    chain.set_timing()
    run_once(chain, 10)
    after = read(metrics)
    busy = {node.name: node.busy_s for node in chain.snapshot().nodes}

    assert not [key for key in before if key[0].startswith("penstock_busy")]
    assert after["penstock_busy_seconds_total", "graph=chain", "node=first"] == busy["first"] > 0


def test_the_failures_that_a_policy_deals_with_are_counted_for_its_node_and_begin_at_zero() -> None:
    pytest.importorskip("penstock_failures", reason="penstock-failures is not installed")
    graph = penstock.CalculatorGraph(
        GUARDED, registry=testing_registry(calculator(odd, name="Odd"), calculator(name="Sink"))
    )
    metrics = PrometheusMetrics(graph)
    graph.start_run()
    at_first = read(metrics)
    feed(graph, range(5))
    graph.close(PATIENCE_S)
    found = read(metrics)
    metrics.close()

    for name, count in (("failures", 2), ("skipped", 2), ("restarts", 0)):
        assert at_first[f"penstock_{name}_total", "graph=graph", "node=picky"] == 0
        assert found[f"penstock_{name}_total", "graph=graph", "node=picky"] == count
    assert not [key for key in found if "node=Sink" in key and key[0] != "penstock_steps_total"]
    assert not [key for key in found if key[0] == "penstock_counter"]
    assert found["penstock_dropped_total", "graph=graph", "reason=skipped: ValueError", "stream=in"] == 2


def test_counters_of_calculators_are_told_by_their_names(chain, metrics) -> None:
    run_once(chain, 4)

    assert read(metrics)["penstock_counter", "counter=first-PassThrough", "graph=chain"] == 4


def test_the_text_of_both_formats_says_the_same_and_has_types_and_help(chain, metrics) -> None:
    run_once(chain, 4)
    registry = CollectorRegistry()
    registry.register(metrics)
    text = generate_latest(registry).decode()
    families = list(text_string_to_metric_families(text))
    other = list(openmetrics_families(openmetrics.generate_latest(registry).decode()))

    assert samples_of(families) == samples_of(other)
    assert all(family.documentation for family in families)
    assert {family.type for family in families} == {"counter", "gauge", "histogram"}
    assert [family.name for family in families if not family.name.startswith("penstock_")] == []
    assert "# TYPE penstock_packets_total counter" in text


def test_a_graph_that_has_not_run_says_so(chain, metrics) -> None:
    found = read(metrics)

    assert found["penstock_running", "graph=chain"] == 0
    assert found["penstock_runs_total", "graph=chain"] == 0
    assert found[next(key for key in found if key[0] == "penstock_run_info")] == 1
    assert not [key for key in found if key[0] == "penstock_packets_total"]


# --- run after run --------------------------------------------------------------------------------


def test_counts_go_on_from_run_to_run_whether_or_not_someone_looked_at_each(chain, metrics) -> None:
    for count in (100, 30, 5):
        run_once(chain, count)
    found = read(metrics)

    assert found["penstock_packets_total", "graph=chain", "stream=out"] == 135
    assert found["penstock_steps_total", "graph=chain", "node=second"] == 135
    assert found["penstock_runs_total", "graph=chain"] == 3
    assert read(metrics) == found


def test_counters_never_fall_while_runs_come_and_go() -> None:
    registry = testing_registry(
        calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
    )
    for graph in (
        penstock.CalculatorGraph(CHAIN),
        penstock.CalculatorGraph(CHAIN.replace("PassThroughCalculator", "Pass"), registry=registry),
    ):
        metrics, stop, seen = PrometheusMetrics(graph), threading.Event(), [{}]
        fallen = []

        def look(metrics=metrics, stop=stop, seen=seen, fallen=fallen):
            while not stop.is_set():
                now = counters(read(metrics))
                fallen.extend(key for key, value in seen[-1].items() if now.get(key, -math.inf) < value)
                seen.append(now)

        thread = threading.Thread(target=look)
        thread.start()
        for count in range(40):
            run_once(graph, 40 - count)
        stop.set()
        thread.join(PATIENCE_S)
        metrics.close()

        assert fallen == []
        assert seen[-1]["penstock_runs_total", "graph=chain"] > 0


def test_a_run_that_fails_to_start_takes_no_counts_away(chain, metrics) -> None:
    run_once(chain, 3)
    with pytest.raises(penstock.GraphConfigError):
        chain.start_run({"unknown": 1})
    found = read(metrics)

    assert found["penstock_packets_total", "graph=chain", "stream=out"] == 3


def test_errors_of_runs_are_counted() -> None:
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Odd" name: "plain" input_stream: "in" }',
        registry=testing_registry(calculator(odd, name="Odd")),
    )
    metrics = PrometheusMetrics(graph, "failing")
    for _ in range(2):
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
        with pytest.raises(penstock.GraphRunError):
            graph.close(PATIENCE_S)
        read(metrics)
    found = read(metrics)
    metrics.close()

    assert found["penstock_errors_total", "graph=failing"] == 2


# --- latencies ------------------------------------------------------------------------------------


def test_the_latency_is_the_time_from_the_input_to_the_output() -> None:
    worked_s, took_s, samples, sampled = {}, {}, [], threading.Event()

    def work(cc):
        began = time.perf_counter()
        while time.perf_counter() < began + 0.02:  # work: nobody else would be waited for
            pass
        cc.output.add_packet(cc.input.packet)
        worked_s[int(cc.input_timestamp)] = time.perf_counter() - began

    def note(name, sample):
        samples.append((name, int(sample.timestamp)))
        sampled.set()

    graph = penstock.CalculatorGraph(
        'input_stream: "in" output_stream: "out" '
        'node { calculator: "Work" name: "work" input_stream: "in" output_stream: "out" }',
        registry=testing_registry(calculator(work, name="Work", offset=0)),
    )
    metrics = PrometheusMetrics()
    metrics.graphs.listeners.append(note)
    metrics.add(graph)
    graph.start_run()
    deadline = time.monotonic() + PATIENCE_S
    while not sampled.is_set() and time.monotonic() < deadline:
        began = time.perf_counter()
        feed(graph, [len(took_s)])
        graph.wait_until_idle(PATIENCE_S)
        took_s[len(took_s)] = time.perf_counter() - began
    metrics.graphs.alive()[0].close()  # no more samples
    found = read(metrics)
    graph.close(PATIENCE_S)
    metrics.close()

    assert samples
    assert {name for name, _ in samples} == {"graph"}
    assert found["penstock_latency_seconds_count", "graph=graph", "stream=out"] == len(samples)
    total = found["penstock_latency_seconds_sum", "graph=graph", "stream=out"]
    assert (
        sum(worked_s[stamp] for _, stamp in samples) * 0.95
        < total
        < sum(took_s[stamp] for _, stamp in samples)
    )
    assert found["penstock_latency_seconds_bucket", "graph=graph", "le=0.01", "stream=out"] == 0
    assert found["penstock_latency_seconds_bucket", "graph=graph", "le=+Inf", "stream=out"] == len(samples)


# --- several graphs -------------------------------------------------------------------------------


def test_several_graphs_have_names_and_one_name_is_not_given_twice(chain, metrics) -> None:
    other = penstock.CalculatorGraph(CHAIN)
    with pytest.raises(
        AlreadyExistsError, match=r"the watched graphs have a 'chain' already; give this one another name"
    ):
        metrics.add(other)
    assert metrics.add(other, "other") == "other"
    run_once(chain, 2)
    run_once(other, 5)
    found = read(metrics)

    assert found["penstock_packets_total", "graph=chain", "stream=in"] == 2
    assert found["penstock_packets_total", "graph=other", "stream=in"] == 5
    with pytest.raises(
        NotFoundError, match=re.escape("the watched graphs have no 'third'; there are: 'chain', 'other'")
    ):
        metrics.remove("third")
    metrics.remove("other")
    assert not [key for key in read(metrics) if "graph=other" in key]


def test_a_graph_that_is_dropped_is_left_out_and_what_looked_at_it_ends() -> None:
    graph = penstock.CalculatorGraph(CHAIN)
    metrics = PrometheusMetrics(graph)
    graph.start_run()
    feed(graph, [1])
    del graph
    gc.collect()
    found = read(metrics)
    left = [one.name for one in threading.enumerate() if one.name.startswith("penstock-m")]
    again = penstock.CalculatorGraph(CHAIN)
    name = metrics.add(again)
    metrics.close()

    assert found == {}
    assert name == "chain"
    assert left == []


def test_a_registry_refuses_a_second_collector_of_the_same_metrics(metrics) -> None:
    registry = CollectorRegistry()
    registry.register(metrics)

    with pytest.raises(ValueError, match="Duplicated timeseries"):
        registry.register(PrometheusMetrics())


def test_one_metric_can_be_asked_for_by_its_name(chain) -> None:
    run_once(chain, 3)
    with penstock_metrics.serve(chain) as server:
        found = scraped(f"{server.url}?name[]=penstock_running")

    assert found == {("penstock_running", "graph=chain"): 0}
