"""A sweep is over when all that came of a node's packets was delivered, by whatever way."""

from __future__ import annotations

import threading
import time

import pytest

import penstock
from penstock.explain import GRAPH
from penstock.packs import default_registry
from penstock_bridges import Sweep

PATIENCE_S = 30.0


class Start(penstock.Calculator):
    """Passes packets on, and lends its view of the graph."""

    view = None

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)
        cc.use_service(GRAPH)

    def open(self, cc):
        Start.view = cc.service(GRAPH)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet)


class Gate:
    """A node that stops inside its call for packet 1 until `leave` is set."""

    def __init__(self):
        self.reached, self.leave = threading.Event(), threading.Event()
        gate = self

        @penstock.calculator
        def waiting(number: int) -> int:
            if number == 1:
                gate.reached.set()
                assert gate.leave.wait(PATIENCE_S)
            return number

        self.calculator = waiting


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.leave.set()


@pytest.fixture(autouse=True)
def no_view_of_another_test():
    Start.view = None


def started(nodes, gate):
    registry = default_registry().child()
    registry.add("calculator", "Start", Start)
    registry.add("calculator", "Gate", gate.calculator)
    graph = penstock.CalculatorGraph(
        f"""
        num_threads: 4
        input_stream: "in"  input_stream: "other"
        node {{ calculator: "Start" input_stream: "in" output_stream: "s" }}
        {nodes}
        """,
        registry=registry,
    )
    graph.start_run()
    return graph


def add(graph, *numbers, stream="in"):
    for number in numbers:
        graph.add_packet_to_input_stream(stream, penstock.Packet(number, number))


GATE = 'node { calculator: "Gate" input_stream: "NUMBER:s" output_stream: "OUT:gated" }'
THROUGH = 'node { calculator: "PassThroughCalculator" input_stream: "%s" output_stream: "%s" }'
DIAMOND = GATE + THROUGH % ("s", "a") + THROUGH % ("a", "b") + THROUGH % ("b", "c")


@pytest.mark.parametrize(
    "nodes",
    [
        GATE,
        THROUGH % ("s", "a") + GATE.replace(":s", ":a") + THROUGH % ("gated", "c"),
        # A node that the short way gets to long before the other.
        DIAMOND + 'node { calculator: "MakePairCalculator" input_stream: "c" input_stream: "gated" '
        'output_stream: "p" }',
    ],
    ids=["one", "chain", "diamond"],
)
def test_a_call_under_way_holds_it_up_and_what_follows_does_not(gate, nodes):
    graph = started(nodes, gate)
    add(graph, 0)
    graph.wait_until_idle(PATIENCE_S)
    assert Sweep(Start.view, "Start").is_over()
    add(graph, 1)
    assert gate.reached.wait(PATIENCE_S)
    sweep = Sweep(Start.view, "Start")
    add(graph, 2, 3)
    assert not any(sweep.is_over() for _ in range(20))
    gate.leave.set()
    graph.wait_until_idle(PATIENCE_S)

    assert sweep.is_over()
    assert sweep.is_over(), "it stays so"
    graph.close(PATIENCE_S)


def test_a_packet_that_waits_for_another_stream_holds_it_up(gate):
    graph = started(
        'node { calculator: "MakePairCalculator" input_stream: "s" input_stream: "other" '
        'output_stream: "p" }',
        gate,
    )
    add(graph, 0)
    graph.wait_until_idle(PATIENCE_S)
    sweep = Sweep(Start.view, "Start")
    assert not sweep.is_over()
    add(graph, 0, stream="other")
    graph.wait_until_idle(PATIENCE_S)
    assert sweep.is_over()
    graph.close(PATIENCE_S)


def test_a_poller_that_was_not_read_holds_it_up(gate):
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Start" input_stream: "in" output_stream: "s" }'
        + THROUGH % ("s", "a"),
        registry=_with_start(),
    )
    poller = graph.add_output_stream_poller("a")
    graph.start_run()
    add(graph, 0)
    graph.wait_until_idle(PATIENCE_S)
    sweep = Sweep(Start.view, "Start")
    assert not sweep.is_over()
    assert poller.next(timeout=PATIENCE_S).payload == 0
    assert sweep.is_over()
    graph.close(PATIENCE_S)


def _with_start():
    registry = default_registry().child()
    registry.add("calculator", "Start", Start)
    return registry


def test_a_loop_does_not(gate):
    graph = started(
        """
        node {
          calculator: "PreviousLoopbackCalculator" input_stream: "MAIN:s" input_stream: "LOOP:n"
          input_stream_info { tag_index: "LOOP" back_edge: true } output_stream: "PREV_LOOP:previous"
        }
        node { calculator: "Gate" input_stream: "NUMBER:s" output_stream: "OUT:n" }
        node { calculator: "MakePairCalculator" input_stream: "s" input_stream: "previous" output_stream: "p"
        }
        """,
        gate,
    )
    add(graph, 0)
    graph.wait_until_idle(PATIENCE_S)
    assert Sweep(Start.view, "Start").is_over()
    add(graph, 1)
    assert gate.reached.wait(PATIENCE_S)
    sweep = Sweep(Start.view, "Start")
    assert not sweep.is_over()
    gate.leave.set()
    graph.wait_until_idle(PATIENCE_S)
    assert sweep.is_over()
    graph.close(PATIENCE_S)


@pytest.mark.parametrize("how", ["error", "cancelled"])
def test_a_call_that_failed_is_not_delivery(how):
    """The ledger counts the packet as delivered then, and the call as completed."""

    @penstock.calculator
    def failing(number: int) -> int:
        if number == 1:
            raise OSError("the disk is full")
        return number

    registry = _with_start()
    registry.add("calculator", "Failing", failing)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Start" input_stream: "in" output_stream: "s" }'
        'node { calculator: "Failing" input_stream: "NUMBER:s" output_stream: "OUT:a" }',
        registry=registry,
    )
    graph.start_run()
    add(graph, 0)
    graph.wait_until_idle(PATIENCE_S)
    sweep = Sweep(Start.view, "Start")
    assert sweep.is_over()
    if how == "error":
        add(graph, 1)
    else:
        graph.cancel()
    with pytest.raises(penstock.errors.GraphRunError):
        graph.wait_until_done(PATIENCE_S)

    assert graph.ledger().adds_up
    assert not sweep.is_over()
    assert not Sweep(Start.view, "Start").is_over()
    graph.close(PATIENCE_S)


def test_calls_that_end_before_an_earlier_one_do_not_stand_for_it(gate):
    overlapping = GATE.replace('calculator: "Gate"', 'calculator: "Gate" name: "gate" max_in_flight: 3')
    graph = started(overlapping, gate)
    add(graph, 1)
    assert gate.reached.wait(PATIENCE_S)
    sweep = Sweep(Start.view, "Start")
    assert not sweep.is_over()
    add(graph, 2, 3, 4)
    deadline = time.monotonic() + PATIENCE_S
    while next(one for one in Start.view.snapshot().nodes if one.name == "gate").held < 3:
        assert time.monotonic() < deadline, graph.why()

    assert not sweep.is_over()
    gate.leave.set()
    graph.wait_until_idle(PATIENCE_S)
    assert sweep.is_over()
    graph.close(PATIENCE_S)
