"""The layers around a calculator in real runs: which there are, in which order, and what a trace shows."""

from __future__ import annotations

import threading

import attrs
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.lowlevel import Layer
from penstock.packs import default_registry
from penstock.runs import runs_of
from penstock.tracing import Tracer

PATIENCE_S = 30.0
#: What calculators have done, in order.
EVENTS: list[str] = []


@attrs.frozen
class TimesOptions:
    """Of `Times`."""

    by: int = 1
    fails_in: str = ""


class Times(penstock.Calculator):
    """Multiplies; a payload of 0 fails."""

    Options = TimesOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.input_side_packets["UNIT"].set(int).optional()

    def open(self, cc):
        options = cc.options(TimesOptions)
        self.by = options.by
        EVENTS.append(f"open {self.by}")
        if options.fails_in == "open":
            raise ValueError("not today")

    def process(self, cc):
        EVENTS.append(f"process {self.by}")
        if not cc.input.payload:
            raise ValueError("nothing to multiply")
        cc.output.add(cc.input.payload * self.by, cc.input_timestamp)

    def close(self, cc):
        EVENTS.append(f"close {self.by}")


class Noting(Tracer):
    """Notes both ends of each call among what the calculators do."""

    def step_started(self, step):
        if step.method != "observe":
            EVENTS.append(f"trace {step.method}")

    def step_ended(self, step):
        if step.method != "observe":
            EVENTS.append(f"/trace {step.method}{'' if step.error is None else ' failed'}")


@pytest.fixture(autouse=True)
def events():
    EVENTS.clear()
    return EVENTS


def graph_of(node="", graph=""):
    registry = default_registry().child()
    registry.add("calculator", "Times", Times)
    made = penstock.CalculatorGraph(
        f"""{graph} input_stream: "in" output_stream: "out"
        node {{ calculator: "Times" name: "n" input_stream: "in" output_stream: "out" {node} }}""",
        registry=registry,
    )
    made.out = []
    made.observe_output_stream("out", lambda _, packet: made.out.append(packet.payload))
    return made


def feed(graph, *payloads):
    """Add payloads at 0, 10, 20 ... and wait for the end of the run."""
    for number, payload in enumerate(payloads):
        graph.add_packet_to_input_stream("in", penstock.Packet(payload, 10 * number))
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)


def layers_of(graph):
    """Return the names of the layers around the only node's calculator, the outermost first."""
    (node,) = runs_of(graph).runner.schedule.nodes
    return [type(layer).__name__ for layer in node.layers]


def test_a_node_of_a_plain_run_has_no_layers() -> None:
    graph = graph_of()
    graph.start_run()
    assert layers_of(graph) == []
    feed(graph, 2, 3)
    graph.close()
    assert graph.out == [2, 3]


def test_trace_time_and_side_packets_are_outside_of_the_guard() -> None:
    graph = graph_of('input_side_packet: "UNIT:unit" failure { on_error: SKIP }')
    graph.set_tracer(Noting())
    graph.set_timing()
    graph.start_run({"unit": 1})
    assert layers_of(graph) == ["TraceLayer", "TimeLayer", "SidePacketLayer", "NodeGuard"]
    feed(graph, 2)
    graph.close()


@pytest.mark.parametrize("comes_first", [False, True])
def test_steering_is_inside_of_trace_and_time_whenever_it_comes(comes_first) -> None:
    graph = graph_of()
    graph.set_tracer(Noting())
    graph.set_timing()
    if comes_first:
        graph.swap("n", TimesOptions(by=5), at=10)
        graph.start_run()
    else:
        graph.start_run()
        graph.swap("n", TimesOptions(by=5), at=10)
    assert layers_of(graph) == ["TraceLayer", "TimeLayer", "SteeredNode"]
    feed(graph, 2, 2)
    graph.close()
    assert graph.out == [2, 10]


def test_each_try_of_the_guard_is_a_call_of_its_own_in_the_trace(events) -> None:
    graph = graph_of("failure { on_error: SKIP retry: 1 }")
    graph.set_tracer(Noting())
    graph.start_run()
    feed(graph, 0, 3)
    graph.close()
    assert graph.out == [3]
    assert events == [
        *("trace open", "open 1", "/trace open"),
        *("trace process", "process 1", "/trace process failed"),
        *("trace process", "process 1", "/trace process failed"),
        *("trace process", "process 1", "/trace process"),
        *("trace close", "close 1", "/trace close"),
    ]


def test_a_restart_is_a_part_of_the_call_that_follows_it_in_the_trace(events) -> None:
    graph = graph_of("failure { on_error: RESTART }")
    graph.set_tracer(Noting())
    graph.start_run()
    feed(graph, 0, 3)
    graph.close()
    assert graph.out == [3]
    assert events[6:] == [
        *("trace process", "close 1", "open 1", "process 1", "/trace process"),
        *("trace close", "close 1", "/trace close"),
    ]


def test_another_calculator_takes_over_within_a_call_of_the_trace(events) -> None:
    graph = graph_of()
    graph.set_tracer(Noting())
    graph.swap("n", TimesOptions(by=5), at=10)
    graph.start_run()
    feed(graph, 2, 2)
    graph.close()
    assert graph.out == [2, 10]
    assert events == [
        *("trace open", "open 1", "open 5", "/trace open"),
        *("trace process", "process 1", "/trace process"),
        *("trace process", "close 1", "process 5", "/trace process"),
        *("trace close", "close 5", "/trace close"),
    ]


def test_the_traced_open_fails_where_a_calculator_that_is_to_take_over_does_not_open(events) -> None:
    graph = graph_of()
    graph.set_tracer(Noting())
    graph.swap("n", TimesOptions(by=5, fails_in="open"), at=10)
    graph.start_run()
    with pytest.raises(GraphRunError, match="not today"):
        graph.wait_until_done(PATIENCE_S)
    graph.close()
    assert events == ["trace open", "open 1", "open 5", "close 1", "/trace open failed"]


def test_calculators_that_a_guard_has_made_are_what_reports_see() -> None:
    graph = graph_of("failure { on_error: RESTART }")
    graph.start_run()
    (node,) = runs_of(graph).runner.schedule.nodes
    first = node.calculator
    assert isinstance(first, Times)
    feed(graph, 0, 3)
    assert isinstance(node.calculator, Times)
    assert node.calculator is not first
    graph.close()


def test_a_layer_of_a_pack_changes_calls_that_have_not_begun() -> None:
    class Doubling(Layer):
        """Gives `process` the double of its input."""

        def process(self, step, /) -> object:
            step.in_ports[0].packet = penstock.Packet(2 * step.input.payload, step.stamp)
            return self.inner.process(step)

    graph = graph_of()
    graph.start_run()
    came = threading.Event()
    graph.watch_stream("out", lambda _name, _packet: came.set())
    graph.add_packet_to_input_stream("in", penstock.Packet(2, -10))
    assert came.wait(PATIENCE_S)
    runner = runs_of(graph).runner
    runner.change(lambda schedule: schedule.put_around(schedule.nodes[0], Doubling(4)))
    feed(graph, 3)
    graph.close()
    assert graph.out == [2, 6]
