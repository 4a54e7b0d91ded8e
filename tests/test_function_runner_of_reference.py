"""Graphs that a function builds and one call runs: the reference's `api3/function_runner_test.cc`.

There, a runner is made of a function of streams, and each call of it returns the packets of one timestamp.
Here `penstock_builder.Graph` builds, and `penstock.run` runs; a graph that stays open gives its later
packets too.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import penstock
from penstock import CalculatorGraph, GraphRunError, Packet, StatusCode
from penstock.errors import InternalError
from penstock.plugins.default_registry import default_registry
from penstock.services import ServiceKey
from penstock_builder import Graph

TIMEOUT = 30
SERVICE: ServiceKey[str] = ServiceKey("kTestService")


@penstock.calculator("Multiplication")
def multiplication(in_: int, *, multiplier: penstock.SidePacket[int] | None = None) -> int:
    return in_ * (2 if multiplier is None else multiplier)


@penstock.calculator("Addition")
def addition(in_: int, *, addend: penstock.SidePacket[int] | None = None) -> int:
    return in_ + (10 if addend is None else addend)


@penstock.calculator("AlwaysFails")
def always_fails(tick: int) -> int:
    raise NotImplementedError("unimplemented is expected")


@penstock.calculator("OnlySettles")
def only_settles(tick: int) -> int | None:
    return None


class ServiceValueOnTick(penstock.Calculator):
    """Writes the value of a service."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["TICK"].set(int)
        cc.outputs["SERVICE_VALUE"].set(str)
        cc.use_service(SERVICE)

    def process(self, cc):
        cc.outputs["SERVICE_VALUE"].add(cc.service(SERVICE), cc.input_timestamp)


@pytest.fixture
def registry():
    found = default_registry().child()
    for function in (multiplication, addition, always_fails, only_settles):
        found.add("calculator", function.calculator.__name__, function.calculator)
    found.add("calculator", "ServiceValueOnTick", ServiceValueOnTick)
    return found


class Runner:
    """Runs the graph that a function of its input streams builds; a call returns its results.

    Args:
        registry: has the calculators.
        build: gets the graph and its input streams, returns one output stream or several.
        inputs: the names of the inputs.
        given: service → object.
        side_packets: name → payload, for the graph.
        executor: runs the nodes; None: the graph's own.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what a runner may have
        self, registry, build, inputs="x", given=(), side_packets=None, executor=None
    ) -> None:
        graph = Graph(registry)
        self.inputs = inputs.split()
        built = build(graph, *(graph.input(name) for name in self.inputs))
        self.outputs = built if isinstance(built, tuple) else (built,)
        for i, stream in enumerate(self.outputs):
            graph.output(stream, f"out{i}")
        self.graph = CalculatorGraph(graph.to_config(), registry=registry)
        for key, value in dict(given).items():
            self.graph.set_service(key, value)
        if executor is not None:
            self.graph.set_executor("", executor)
        self.at = 0
        self.seen: dict[str, Any] = {}
        for i in range(len(self.outputs)):
            self.graph.observe_output_stream(f"out{i}", self._saw)
        self.graph.start_run(side_packets)

    def _saw(self, name: str, packet: Packet) -> None:
        self.seen[name] = packet.payload

    def __call__(self, *values: object) -> Any:
        """Return the payloads of the outputs, None where there is no packet."""
        self.seen.clear()
        for name, value in zip(self.inputs, values, strict=True):
            if value is None:
                self.graph.set_input_stream_timestamp_bound(name, self.at + 1)
            else:
                self.graph.add_packet_to_input_stream(name, Packet(value, self.at))
        self.at += 1
        self.graph.wait_until_idle(TIMEOUT)
        found = [self.seen.get(f"out{i}") for i in range(len(self.outputs))]
        return found[0] if len(found) == 1 else found


def multiplied(g, x):
    return g.node("Multiplication", {"IN": x}).outputs["OUT"]


def added(g, x):
    return g.node("Addition", {"IN": x}).outputs["OUT"]


def both_in_a_row(g, x):
    return added(g, multiplied(g, x))


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc", "FunctionRunnerTest.CanRunMultiplicationAndAdditionGraph"
)
def test_a_graph_that_a_function_builds_is_run_packet_by_packet(registry):
    runner = Runner(registry, both_in_a_row)

    assert [runner(x) for x in (20, 40, 100)] == [50, 90, 210]
    runner.graph.close(TIMEOUT)


def test_one_call_runs_it_on_all_packets(registry):
    g = Graph(registry)
    g.output(both_in_a_row(g, g.input("x")), "out")
    found = penstock.run(g, {"x": enumerate((20, 40, 100))}, registry=registry, timeout=TIMEOUT)

    assert [packet.payload for packet in found["out"]] == [50, 90, 210]


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc",
    "FunctionRunnerTest.CanRunMultiplicationAndAdditionGraphWithConfigSidePackets",
)
def test_the_function_may_use_side_packets(registry):
    def build(g, x):
        by = {"MULTIPLIER": g.side_packet("multiplier")}
        product = g.node("Multiplication", {"IN": x}, by).outputs["OUT"]
        return g.node("Addition", {"IN": product}, {"ADDEND": g.side_packet("addend")}).outputs["OUT"]

    runner = Runner(registry, build, side_packets={"multiplier": 4, "addend": 1})

    assert [runner(x) for x in (20, 40, 100)] == [81, 161, 401]
    runner.graph.close(TIMEOUT)


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc", "FunctionRunnerTest.WorksForMultiGraphUseCase"
)
def test_two_graphs_work_beside_each_other_on_one_thread(registry):
    with ThreadPoolExecutor(1) as pool:
        multiply_by_2, add_10 = (Runner(registry, build, executor=pool) for build in (multiplied, added))

        for value in (20, 40, 100):
            found = multiply_by_2(value)
            for _ in range(5):
                found = add_10(found)
            assert found == value * 2 + 5 * 10
        for runner in (multiply_by_2, add_10):
            runner.graph.close(TIMEOUT)


@pytest.mark.reference("framework/api3/function_runner_test.cc", "FunctionRunnerTest.WorksForMultipleOutputs")
def test_a_function_may_return_several_streams(registry):
    runner = Runner(registry, lambda g, x: (multiplied(g, x), added(g, x)))

    assert [runner(x) for x in (20, 40)] == [[40, 30], [80, 50]]
    runner.graph.close(TIMEOUT)


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc", "FunctionRunnerTest.WorksForMultipleInputsAndOutputs"
)
def test_a_function_may_take_several_streams(registry):
    runner = Runner(registry, lambda g, a, b: (multiplied(g, a), added(g, b)), "a b")

    assert [runner(*pair) for pair in ((20, 100), (40, 50))] == [[40, 110], [80, 60]]
    runner.graph.close(TIMEOUT)


def service_value(g, tick):
    return g.node("ServiceValueOnTick", {"TICK": tick}).outputs["SERVICE_VALUE"]


class Builds:
    """An object that builds."""

    def __call__(self, g, tick):
        return service_value(g, tick)


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc",
    "FunctionRunnerTest.SupportsServices",
    "FunctionRunnerTest.SupportsAnyInvocableAsBuildGraphFunction",
    "FunctionRunnerTest.SupportsFreeGraphBuilderFunction",
    "FunctionRunnerTest.SupportsGraphBuilderObject",
    "FunctionRunnerTest.SupportsStatusOrBuilderFunctions",
)
@pytest.mark.parametrize(
    "build",
    [service_value, partial(service_value), Builds()],
    ids=["def", "partial", "object"],
)
def test_its_calculators_use_services(registry, build):
    runner = Runner(registry, build, given={SERVICE: "service_value"})

    assert runner(0) == "service_value"
    runner.graph.close(TIMEOUT)


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc",
    "FunctionRunnerTest.SupportsStatusOrMultiOutputBuilderFunctions",
)
def test_two_of_its_nodes_may_be_of_one_calculator(registry):
    runner = Runner(
        registry,
        lambda g, tick: (service_value(g, tick), service_value(g, tick)),
        given={SERVICE: "service_value"},
    )

    assert runner(0) == ["service_value", "service_value"]
    runner.graph.close(TIMEOUT)


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc",
    "FunctionRunnerTest.SupportsStatusOrBuilderFunctionsWhenNotOk",
    "FunctionRunnerTest.SupportsStatusOrMultiOutputBuilderFunctionsWhenNotOkAnd",
)
def test_an_error_of_the_function_comes_out(registry):
    def build(g, tick):
        raise InternalError("expected")

    with pytest.raises(InternalError, match="expected") as caught:
        Runner(registry, build)

    assert caught.value.code is StatusCode.INTERNAL


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc", "FunctionRunnerTest.ReturnsCorrectFailureStatus"
)
def test_an_error_of_a_node_comes_out_with_its_code(registry):
    runner = Runner(registry, lambda g, x: g.node("AlwaysFails", {"TICK": x}).outputs["OUT"])

    with pytest.raises(GraphRunError, match="unimplemented is expected") as caught:
        runner(0)

    assert caught.value.code is StatusCode.UNIMPLEMENTED


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc", "FunctionRunnerTest.ReturnsTimestampBoundUpdate"
)
def test_a_node_may_write_nothing(registry):
    runner = Runner(registry, lambda g, x: g.node("OnlySettles", {"TICK": x}).outputs["OUT"])

    assert runner(42) is None
    runner.graph.close(TIMEOUT)


@pytest.mark.reference(
    "framework/api3/function_runner_test.cc", "FunnctionRunnerTest.HandlingEmptyPacketInputs"
)
def test_inputs_may_be_empty(registry):
    def build(g, a, b):
        made = g.node("PassThroughCalculator", {0: a, 1: b})
        return made.outputs[0], made.outputs[1]

    runner = Runner(registry, build, "a b")
    for given in ([42, "lorem"], [42, None], [None, "lorem"], [None, None]):
        assert runner(*given) == given
    runner.graph.close(TIMEOUT)
