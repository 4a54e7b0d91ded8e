"""Nodes that an executor places elsewhere, here at the other end of a codec in the same process."""

from __future__ import annotations

import pickle
from concurrent.futures import Future

import numpy as np
import pytest

import penstock
from penstock import STOP, Calculator, Timestamp
from penstock.errors import FailedPreconditionError, GraphConfigError, GraphRunError, InvalidArgumentError
from penstock.lowlevel import PROCESS
from penstock.packs import default_registry
from penstock.services import ServiceKey, ServiceScope
from penstock_remote.calls import Answer, Call
from penstock_remote.description import remote_node
from penstock_remote.hosted_node import HostedNode
from penstock_remote.movable import check_all_movable
from penstock_remote.stand_in import RemoteCalculator
from penstock_testing import InlineExecutor

TIMEOUT = 20
OWN = ServiceKey("tests.own", create=list)
SHARED = ServiceKey("tests.shared", create=lambda: "made there", scope=ServiceScope.PROCESS)


class Elsewhere(InlineExecutor):
    """Makes its nodes at the other end of pickle; calls them at once, or later from a future."""

    places = True

    def __init__(self, *, later=False, change=lambda node: node):
        super().__init__()
        self.later = later
        self.change = change
        self.closed = 0
        self.waiting = []

    def check(self, plan, name):
        check_all_movable(plan, name)

    def place(self, node, plan):
        described = self.change(remote_node(node, plan))
        made = []

        def exchange(call, write):
            if not made:
                made.append(HostedNode(pickle.loads(pickle.dumps(described)), default_registry(), {}))  # noqa: S301  # just made
            sent = Call(*pickle.loads(pickle.dumps(tuple(call))))  # noqa: S301  # just made
            if not self.later:
                return write(through(made[0], sent))
            outcome = Future()
            try:
                outcome.set_result(write(through(made[0], sent)))
            except ValueError as error:
                outcome.set_exception(error)
            return outcome

        return RemoteCalculator(exchange)

    def close(self):
        self.closed += 1


def through(node, call):
    return Answer(*pickle.loads(pickle.dumps(tuple(node.call(call)))))  # noqa: S301  # just made


class Everything(Calculator):
    """Uses all that a context offers."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["A"].set(int)
        cc.inputs["B"].set(int)
        cc.outputs["SUM"].set(int)
        cc.outputs["REST"].set_any()
        cc.input_side_packets["START"].set(int)
        cc.output_side_packets["MADE"].set(str)
        cc.use_service(SHARED)

    def open(self, cc):
        cc.outputs["SUM"].set_header(penstock.Packet("sums"))
        cc.set_process_timestamp_bounds()
        cc.output_side_packets["MADE"].set(cc.service(SHARED))
        cc.outputs["SUM"].set_offset(0)
        self.total = cc.input_side_packets["START"].payload

    def process(self, cc):
        a, b = cc.inputs["A"], cc.inputs["B"]
        assert not cc.is_stopping
        if a.is_done():
            cc.counter("a is done").increment()
        if a.is_empty() and b.is_empty():
            cc.counter("bounds").increment()
            return None
        if b.is_empty():
            a.count_dropped("no B")
            a.count_cut("no B is left", 2)
            return None
        self.total += (a.payload or 0) + b.payload
        cc.counter("sums").increment()
        cc.outputs["SUM"].add(self.total, cc.input_timestamp)
        if self.total > 100:
            return STOP
        cc.outputs["REST"].set_next_timestamp_bound(cc.input_timestamp + 5)
        cc.outputs["REST"].count_dropped("not wanted", 3)
        return None

    def close(self, cc):
        if not cc.outputs["REST"].is_closed():
            cc.outputs["REST"].add("closed", Timestamp.POSTSTREAM)


class HeaderOf(Calculator):
    """Writes the header of its input."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(str)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.output.add(cc.input.header.payload, cc.input_timestamp)


class Loop(Calculator):
    """Feeds an input of its own."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)
        cc.inputs["LAST"].set(int)
        cc.outputs["OUT"].set(int)
        cc.set_timestamp_offset(0)
        cc.set_input_stream_handler("ImmediateInputStreamHandler")

    def process(self, cc):
        if not cc.inputs["IN"].is_empty():
            cc.outputs["OUT"].add(cc.inputs["IN"].payload, cc.input_timestamp)
        else:
            cc.counter("came back").increment()


class Fails(Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def process(self, cc):
        if cc.input.payload == 2:
            cc.output.add(1, cc.input_timestamp)
            cc.output.add(1, cc.input_timestamp)
        raise ValueError(f"no {cc.input.payload}")


class Stays(Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.use_service(OWN)


class Frames(Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(np.ndarray)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        frame = cc.output.empty((2, 3), np.float32)
        frame[:] = cc.input.payload
        cc.output.add(frame, cc.input_timestamp)


def graph_of(text, *calculators, executor=None):
    registry = default_registry().child()
    for one in calculators:
        registry.add("calculator", one.__name__, one)
    graph = penstock.CalculatorGraph(text, registry=registry)
    if executor is not None:
        graph.set_executor("", executor)
    return graph


EVERYTHING = """
input_stream: "a"  input_stream: "b"  input_side_packet: "start"  output_side_packet: "made"
node {
  name: "it"  calculator: "Everything"  input_stream: "A:a"  input_stream: "B:b"
  output_stream: "SUM:sum"  output_stream: "REST:rest"
  input_side_packet: "START:start"  output_side_packet: "MADE:made"
}
node { calculator: "HeaderOf"  input_stream: "sum"  output_stream: "header" }
"""


def run_everything(executor=None):
    """Run a graph with one busy node; return all that can be seen of it."""
    graph = graph_of(EVERYTHING, Everything, HeaderOf, executor=executor)
    seen = []
    for name in ("sum", "rest", "header"):
        graph.observe_output_stream(
            name,
            lambda name, p: seen.append((name, int(p.timestamp), None if p.is_empty() else p.payload)),
            True,
        )
    graph.start_run({"start": 10})
    for stamp, name, value in [
        (1, "b", 1),
        (2, "a", 5),
        (5, "b", 2),
        (9, "a", 3),
        (9, "b", 4),
        (12, "b", 90),
    ]:
        if value is not None:
            graph.add_packet_to_input_stream(name, penstock.Packet(value, stamp))
        other = "a" if name == "b" else "b"
        if stamp == 12:
            graph.close_input_stream("a")
        elif stamp != 9:
            graph.set_input_stream_timestamp_bound(other, stamp + 1)
        graph.wait_until_idle(TIMEOUT)
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    made = graph.get_output_side_packet("made").payload
    ledger = str(graph.ledger())
    graph.close()
    return seen, made, graph.counters, ledger


@pytest.mark.parametrize("later", [False, True])
def test_a_node_elsewhere_does_what_it_does_here(later) -> None:
    here = run_everything()

    there = run_everything(Elsewhere(later=later))

    assert there == here
    assert [(name, stamp, value) for name, stamp, value in here[0] if value is not None] == [
        ("sum", 1, 11), ("header", 1, "sums"), ("sum", 5, 13), ("header", 5, "sums"), ("sum", 9, 20),
        ("header", 9, "sums"), ("sum", 12, 110), ("header", 12, "sums"),
        ("rest", int(Timestamp.POSTSTREAM), "closed"),
    ]  # fmt: skip
    assert here[1] == "made there"
    assert here[2]["it-sums"] == 4
    assert here[2]["it-a is done"] >= 1


def test_a_node_elsewhere_may_feed_itself() -> None:
    text = """
        input_stream: "in"
        node {
          calculator: "Loop"  input_stream: "IN:in"  input_stream: "LAST:out"  output_stream: "OUT:out"
          input_stream_info { tag_index: "LAST"  back_edge: true }
        }"""
    came_back = []
    for executor in (None, Elsewhere()):
        graph = graph_of(text, Loop, executor=executor)
        graph.start_run()
        for stamp in range(4):
            graph.add_packet_to_input_stream("in", penstock.Packet(stamp, stamp))
            graph.wait_until_idle(TIMEOUT)
        graph.close(TIMEOUT)
        came_back.append(graph.counters["Loop-came back"])

    assert came_back[0] == came_back[1] >= 4


ONE = 'input_stream: "in" node { calculator: "%s" input_stream: "in" output_stream: "out" }'


@pytest.mark.parametrize(("payload", "words"), [(1, "ValueError: no 1"), (2, "stream 'out'")])
@pytest.mark.parametrize("later", [False, True])
def test_a_mistake_is_raised_at_its_line_and_names_the_node(payload, words, later) -> None:
    graph = graph_of(ONE % "Fails", Fails, executor=Elsewhere(later=later))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(payload, 7))

    with pytest.raises(GraphRunError) as failed:
        graph.close(TIMEOUT)

    assert "node 'Fails' (Fails): process() failed at 7" in str(failed.value)
    assert words in str(failed.value)


def test_an_array_of_an_output_is_ordinary_memory_where_nothing_else_is_said() -> None:
    for executor in (None, Elsewhere()):
        graph = graph_of(ONE % "Frames", Frames, executor=executor)
        got = []
        graph.observe_output_stream("out", lambda _, p, got=got: got.append(p.payload))
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(3, 0))
        graph.close(TIMEOUT)
        assert [(one.shape, one.dtype, one.mean()) for one in got] == [((2, 3), np.float32, 3.0)]


def test_a_node_with_a_service_of_the_graph_stays() -> None:
    graph = graph_of('input_stream: "in" node { calculator: "Stays" input_stream: "in" }', Stays)
    graph.set_executor("", Elsewhere())

    with pytest.raises(InvalidArgumentError, match=r"service 'tests.own', which belongs to the graph"):
        graph.start_run()


def test_a_class_that_others_cannot_import_stays() -> None:
    class Local(Fails):
        pass

    graph = graph_of(ONE % "Local", Local, executor=Elsewhere())

    with pytest.raises(InvalidArgumentError, match=r"'Local' .* cannot be imported by another process"):
        graph.start_run()


def test_all_nodes_that_must_stay_are_told_at_once() -> None:
    text = "\n".join(
        [
            'input_stream: "in" executor { name: "far" type: "Elsewhere" }',
            *('node { calculator: "Stays" executor: "far" input_stream: "in" }' for _ in range(2)),
        ]
    )
    registry = default_registry().child()
    registry.add("calculator", "Stays", Stays)
    registry.add("executor", "Elsewhere", Elsewhere)

    with pytest.raises(GraphConfigError) as refused:
        penstock.CalculatorGraph(text, registry=registry)

    assert len(refused.value.faults) == 2
    assert "Stays_1" in str(refused.value)
    assert "Stays_2" in str(refused.value)


def test_an_executor_of_the_graph_is_closed_with_it_and_one_of_the_application_is_not() -> None:
    made = []

    class Noted(Elsewhere):
        @classmethod
        def create(cls, options, defaults):
            made.append(cls())
            return made[-1]

    registry = default_registry().child()
    registry.add("calculator", "Frames", Frames)
    registry.add("executor", "Noted", Noted)
    text = (ONE % "Frames").replace("node {", 'executor { name: "far" type: "Noted" } node { executor: "far"')
    graph = penstock.CalculatorGraph(text, registry=registry)
    for _ in range(2):
        graph.start_run()
        graph.close_all_input_streams()
        graph.wait_until_done(TIMEOUT)
    assert [one.closed for one in made] == [0]

    graph.close(TIMEOUT)
    given = Elsewhere()
    other = graph_of(ONE % "Frames", Frames, executor=given)
    other.start_run()
    other.close(TIMEOUT)

    assert [one.closed for one in made] == [1]
    assert given.closed == 0


def test_another_version_of_the_contract_is_refused() -> None:
    def changed(node):
        lines = [line.replace("int", "str") if line.startswith("input") else line for line in node.contract]
        return node._replace(contract=tuple(lines))

    graph = graph_of(ONE % "Fails", Fails, executor=Elsewhere(change=changed))
    graph.start_run()

    with pytest.raises(
        GraphRunError, match=r"another contract here .* there: input 0: str; here: input 0: int"
    ):
        graph.close(TIMEOUT)


def test_a_calculator_that_is_not_there_is_told_with_what_to_do() -> None:
    graph = graph_of(
        ONE % "Fails", Fails, executor=Elsewhere(change=lambda node: node._replace(code="no_module:Fails"))
    )
    graph.start_run()

    with pytest.raises(
        GraphRunError, match="names the calculator no_module:Fails, which is not here; install its pack"
    ):
        graph.close(TIMEOUT)


def test_a_node_must_be_opened_before_it_is_called() -> None:
    registry = default_registry().child()
    registry.add("calculator", "Frames", Frames)
    plan = penstock.config.build_plan(ONE % "Frames", registry)
    node = HostedNode(remote_node(plan.nodes[0], plan), default_registry(), {})

    with pytest.raises(FailedPreconditionError, match="opened before"):
        node.call(Call(PROCESS, 0, [(0, False, 1)], [0]))
