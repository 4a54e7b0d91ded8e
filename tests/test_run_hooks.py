"""The hooks of plugins around a run: prepared, started, ended."""

from __future__ import annotations

import types

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphConfigError
from penstock.tracing import Tracer

TIMEOUT = 20
GRAPH = 'input_stream: "in" node { calculator: "RunHooksPass" input_stream: "in" output_stream: "out" }'


@penstock.register_calculator
class RunHooksPass(penstock.Calculator):
    """Passes packets on."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        if "SIDE" in cc.input_side_packets:
            cc.input_side_packets["SIDE"].set(int)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet)


class Steps(Tracer):
    """Notes the steps."""

    def __init__(self, calls) -> None:
        self._calls = calls

    def step_started(self, step):
        self._calls.append(step.method)


@pytest.fixture
def calls(penstock_plugins):
    """Install a plugin that adds a tracer and an observer to each graph; return what happens, in order."""
    noted: list[object] = []
    plugin = types.ModuleType("prepares")
    tracer, known = Steps(noted), []

    @penstock.hookimpl
    def penstock_run_prepared(graph):
        noted.append("prepared")
        graph.add_tracer(tracer)
        if graph not in known:
            known.append(graph)
            graph.observe_output_stream("out", lambda name, packet: noted.append((name, packet.payload)))

    @penstock.hookimpl
    def penstock_run_started(graph):
        noted.append("started" if graph.is_running else "started, and not running")
        with pytest.raises(FailedPreconditionError):
            graph.add_tracer(Steps([]))

    @penstock.hookimpl
    def penstock_run_ended():
        noted.append("ended")

    for hook in (penstock_run_prepared, penstock_run_started, penstock_run_ended):
        setattr(plugin, hook.__name__, hook)
    assert penstock_plugins("prepares", plugin).state == "loaded"
    yield noted
    known.clear()


def run_once(graph) -> None:
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(7, 1))
    graph.close(TIMEOUT)


def test_a_plugin_adds_tracers_and_observers_before_each_run(calls) -> None:
    graph = penstock.CalculatorGraph(GRAPH)
    run_once(graph)
    run_once(graph)

    once = ["prepared", "started", "open", "process", "observe", ("out", 7), "close", "ended"]
    assert calls == once * 2


def test_a_start_that_fails_has_been_prepared_only(calls) -> None:
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "RunHooksPass" input_stream: "in" '
        'input_side_packet: "SIDE:side" output_stream: "out" }'
    )
    with pytest.raises(GraphConfigError, match="side"):
        graph.start_run()
    assert (calls, graph.is_running) == (["prepared"], False)


def test_a_graph_that_runs_is_not_prepared_again(calls) -> None:
    graph = penstock.CalculatorGraph(GRAPH)
    graph.start_run()
    with pytest.raises(FailedPreconditionError):
        graph.start_run()
    graph.close(TIMEOUT)

    assert calls.count("prepared") == 1


def test_a_hook_that_raises_is_logged_and_the_run_goes_on(penstock_plugins, caplog) -> None:
    plugin = types.ModuleType("raises")

    def penstock_run_prepared():
        raise ArithmeticError("not today")

    plugin.penstock_run_prepared = penstock.hookimpl(penstock_run_prepared)
    penstock_plugins("raises", plugin)
    graph = penstock.CalculatorGraph(GRAPH)
    run_once(graph)

    assert graph.ledger().delivered == 1
    assert "plugin 'raises': its hook penstock_run_prepared failed" in caplog.text
