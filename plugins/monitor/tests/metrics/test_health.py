"""/healthz: whether all is well, for programs that start services again."""

from __future__ import annotations

import http.client
import threading

import pytest
from scraping import PATIENCE_S, feed

import penstock
import penstock_metrics
from penstock_metrics import MetricsServer, PrometheusMetrics
from penstock_metrics.health import Health
from penstock_metrics.watched_graphs import WatchedGraphs

TOKEN = "correct horse battery"  # noqa: S105  # of the tests
HELD = """
input_stream: "in"
node { calculator: "HoldsUp" input_stream: "in" output_stream: "out" }
"""


def health(server, query="", method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        connection.request(method, f"/healthz{query}", headers={} if host is None else {"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def stalled(graphs):
    """Return why the only graph does not move, when that is known: after a second."""
    monitor = graphs.alive()[0]._monitor  # the only thing that says when it has looked
    reading = monitor.reading()
    while reading.stall is None:
        reading = monitor.wait(reading.number, PATIENCE_S)
    return reading.stall


@pytest.fixture
def held():
    """Yield a graph whose node waits within its call, and stops when the test is over."""
    is_in, may_go = threading.Event(), threading.Event()

    class HoldsUp(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_same_as(cc.inputs[0])

        def process(self, cc):
            is_in.set()
            may_go.wait(PATIENCE_S)

    registry = penstock.packs.default_registry().child()
    registry.add("calculator", "HoldsUp", HoldsUp)
    graph = penstock.CalculatorGraph(HELD, registry=registry)
    graph.start_run()
    feed(graph, [0])
    assert is_in.wait(PATIENCE_S)
    yield graph
    may_go.set()
    graph.close(PATIENCE_S)


def test_a_graph_that_runs_is_well_and_one_that_has_ended_is_not(chain) -> None:
    with penstock_metrics.serve(chain) as server:
        before = health(server)
    chain.start_run()
    with penstock_metrics.serve(chain) as server:
        running = health(server)
    chain.close(PATIENCE_S)
    with penstock_metrics.serve(chain) as server:
        after = health(server)

    assert before == (503, "the graph has not begun to run\n")
    assert running == (200, "ok\n")
    assert after == (503, "the graph has ended\n")


def test_without_a_graph_nothing_is_well() -> None:
    with MetricsServer(PrometheusMetrics()) as server:
        assert health(server) == (503, "no graph has begun to run\n")


def test_a_graph_that_waits_for_the_program_is_well(chain) -> None:
    chain.start_run()
    feed(chain, [0])
    chain.wait_until_idle()
    graphs = WatchedGraphs()
    graphs.add(chain)
    try:
        assert stalled(graphs).culprits[0].node == ""
        assert Health(graphs).fault(0.5) == ""
    finally:
        graphs.close()


def test_a_call_that_does_not_come_back_is_not_well(held) -> None:
    graphs = WatchedGraphs()
    graphs.add(held)
    try:
        assert stalled(graphs).culprits[0].node
        assert Health(graphs).fault(0.5).startswith("nothing has moved for ")
        assert Health(graphs).fault(1000) == ""
    finally:
        graphs.close()


def test_no_token_is_asked_for_and_nothing_else_is_told(chain) -> None:
    chain.start_run()
    with penstock_metrics.serve(chain, token=TOKEN) as server:
        assert health(server) == (200, "ok\n")
        assert health(server, host="evil.example")[0] == 403


@pytest.mark.parametrize("query", ["?stalled=", "?stalled=soon", "?stalled=0", "?stalled=-1", "?stalled=inf"])
def test_a_time_that_is_none_is_refused(chain, query) -> None:
    chain.start_run()
    with penstock_metrics.serve(chain) as server:
        assert health(server, query) == (400, "write ?stalled=SECONDS, a number above 0\n")


def test_only_get_is_answered(chain) -> None:
    with penstock_metrics.serve(chain) as server:
        assert health(server, method="POST") == (405, "only GET is answered\n")
