"""The trace that a graph asks for itself: made by a component of the kind "tracer", used in each run."""

from __future__ import annotations

import pytest

import penstock
from penstock import Components
from penstock.errors import UnknownNameError
from penstock.tracing import Tracer
from penstock_testing import calculator, testing_registry

TIMEOUT = 20
Join = calculator(name="Join", offset=0)
WANTED = 'profiler_config { trace_enabled: true trace_log_path: "x_" } '
GRAPH = 'input_stream: "in" node { calculator: "Join" input_stream: "in" }'


class Noted(Tracer):
    """Notes the nodes whose steps it gets."""

    def __init__(self) -> None:
        self.nodes: list[str] = []

    def step_started(self, step) -> None:
        self.nodes.append(f"{step.node} {step.method}")


class NotedTrace:
    """Notes what the graph asks of it."""

    def __init__(self, wanted) -> None:
        self.path = wanted.trace_log_path
        self.tracer = Noted()
        self.calls: list[object] = []

    def allow(self, directory) -> None:
        self.calls.append(directory)

    def prepare_run(self) -> None:
        self.calls.append("run")


@pytest.fixture
def made():
    """Return the traces that `note` has made, in order."""
    return []


@pytest.fixture
def note(made):
    """Return a component of the kind "tracer"."""

    def make(wanted):
        made.append(NotedTrace(wanted))
        return made[-1]

    return make


def run_once(graph) -> None:
    graph.start_run()
    graph.close(TIMEOUT)


def test_the_pack_makes_the_trace_and_is_asked_before_each_run(note, made, tmp_path) -> None:
    registry = testing_registry(Join)
    registry.add("tracer", "ChromeTracer", note)
    graph = penstock.CalculatorGraph(WANTED + GRAPH, registry=registry)
    graph.set_trace_directory(tmp_path)
    run_once(graph)
    run_once(graph)

    (trace,) = made
    assert trace.path == "x_"
    assert trace.calls == [tmp_path, "run", "run"]
    assert graph.tracer is trace.tracer
    assert trace.tracer.nodes == ["Join open", "Join close"] * 2


def test_a_registry_without_tracers_leaves_it_to_the_plugins(note, made, without, penstock_plugins) -> None:
    without("penstock-views")
    penstock_plugins("noted", Components(tracers={"ChromeTracer": note}))

    graph = penstock.CalculatorGraph(WANTED + GRAPH, registry=testing_registry(Join))

    assert graph.tracer is made[0].tracer


def test_a_graph_that_asks_for_no_trace_asks_no_pack(note, made) -> None:
    registry = testing_registry(Join)
    registry.add("tracer", "ChromeTracer", note)

    graph = penstock.CalculatorGraph(GRAPH, registry=registry)
    graph.set_trace_directory("/")

    assert (graph.tracer, made) == (None, [])


def test_without_the_pack_the_graph_is_refused_and_the_error_says_what_to_install(without) -> None:
    without("penstock-views")

    with pytest.raises(
        UnknownNameError,
        match=r"^the graph's profiler_config has trace_enabled: no tracer 'ChromeTracer' is registered; "
        r"install it: pip install penstock-views",
    ) as caught:
        penstock.CalculatorGraph(WANTED + GRAPH, registry=testing_registry(Join))

    assert caught.value.install == "penstock-views"


def test_a_tracer_of_the_application_replaces_the_graphs_own(note, made) -> None:
    registry = testing_registry(Join)
    registry.add("tracer", "ChromeTracer", note)
    graph = penstock.CalculatorGraph(WANTED + GRAPH, registry=registry)
    own = Noted()
    graph.set_tracer(own)
    run_once(graph)

    assert own.nodes == ["Join open", "Join close"]
    assert (made[0].calls, made[0].tracer.nodes) == ([], [])


def test_a_tracer_that_is_added_leaves_the_graphs_own_in_its_place(note, made) -> None:
    registry = testing_registry(Join)
    registry.add("tracer", "ChromeTracer", note)
    graph = penstock.CalculatorGraph(WANTED + GRAPH, registry=registry)
    added = Noted()
    graph.add_tracer(added)
    run_once(graph)

    assert graph.tracer is made[0].tracer
    assert added.nodes == made[0].tracer.nodes == ["Join open", "Join close"]
    assert made[0].calls == ["run"]
