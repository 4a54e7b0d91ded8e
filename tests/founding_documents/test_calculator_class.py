"""Calculators as the first document describes them: four methods, and when they are called."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock import STOP, CalculatorError, GraphConfigError, Packet, StatusCode, Timestamp
from penstock_formats import Matrix

ONE_IN_ONE_OUT = """
input_stream: "in"
node { calculator: "MyCalculator" input_stream: "in" output_stream: "out" }
"""


class MyCalculator(penstock.Calculator):
    """The document's basic process function; its magic: each row times its number from 1."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(Matrix)
        cc.outputs[0].set(Matrix)

    def process(self, cc):
        matrix = cc.input.packet.get(Matrix)
        output = np.empty((matrix.rows, matrix.columns), np.float32)
        for n in range(matrix.rows):
            output[n] = np.asarray(matrix)[n] * (n + 1)
        cc.output.add(Matrix(output), cc.input_timestamp)


def test_the_basic_process_function_takes_a_matrix_and_makes_one(bench):
    bench.start(ONE_IN_ONE_OUT, MyCalculator, watch=["out"])

    bench.add("in", 3, Matrix(np.array([[1, 2], [3, 4], [5, 6]], np.float32)))
    bench.end()

    [(timestamp, made)] = bench.seen["out"]
    assert timestamp == 3
    assert np.array_equal(made, [[1, 2], [6, 8], [15, 18]])


def test_the_short_form_of_the_only_input_is_refused_where_there_are_two(bench):
    class MyCalculator(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            for port in (*cc.inputs, *cc.outputs):
                port.set_any()

        def process(self, cc):
            cc.output.add(cc.input.payload, cc.input_timestamp)

    bench.start(
        """input_stream: "in" input_stream: "other"
        node { calculator: "MyCalculator" input_stream: "in" input_stream: "other" output_stream: "out" }""",
        MyCalculator,
    )
    bench.add("in", 1, "a")
    bench.graph.close_all_input_streams()

    assert "node 'MyCalculator' has 2 inputs" in str(bench.failure())


class Life(penstock.Calculator):
    """Writes down what is called on it, with what, and fails where the test asks for it."""

    calls: list
    fails_in = ""

    @classmethod
    def get_contract(cls, cc) -> None:
        for port in cc.inputs:
            port.set_any()
        for port in cc.outputs:
            port.set_any()
        for port in cc.input_side_packets:
            port.set_any()

    def note(self, method, cc):
        self.calls.append((id(self), method, cc.input_timestamp))
        if method == self.fails_in:
            raise ZeroDivisionError(f"told to fail in {method}")

    def open(self, cc):
        self.note("open", cc)

    def process(self, cc):
        self.note("process", cc)

    def close(self, cc):
        self.note("close", cc)


@pytest.fixture
def life():
    class MyCalculator(Life):
        calls = []  # noqa: RUF012  # a fresh one for each test

    return MyCalculator


def methods(calculator):
    return [method for _, method, _ in calculator.calls]


def test_open_comes_once_then_process_for_each_input_then_close(bench, life):
    bench.start(ONE_IN_ONE_OUT, life)
    for t in (1, 2, 3):
        bench.add("in", t, t)
    bench.end()

    assert methods(life) == ["open", "process", "process", "process", "close"]
    assert [t for _, _, t in life.calls] == [Timestamp.UNSTARTED, 1, 2, 3, Timestamp.DONE]


def test_a_calculator_is_made_anew_for_each_run(bench, life):
    bench.load(ONE_IN_ONE_OUT, life)
    for _ in range(2):
        bench.graph.start_run()
        bench.end()

    assert methods(life) == ["open", "close", "open", "close"]
    first, second = life.calls[0][0], life.calls[2][0]
    assert {call[0] for call in life.calls[:2]} == {first}
    assert {call[0] for call in life.calls[2:]} == {second}


def test_when_process_fails_close_is_called_and_the_run_ends(bench, life):
    life.fails_in = "process"
    bench.start(ONE_IN_ONE_OUT, life)
    bench.add("in", 1, "a")

    error = bench.failure()

    assert methods(life) == ["open", "process", "close"]
    assert error.code is StatusCode.UNKNOWN
    [cause] = error.errors
    assert isinstance(cause, CalculatorError)
    assert (cause.node, cause.method, cause.timestamp) == ("MyCalculator", "process", 1)
    assert isinstance(cause.__cause__, ZeroDivisionError)
    assert "told to fail in process" in str(error)


def test_when_open_fails_nothing_else_is_called(bench, life):
    life.fails_in = "open"
    bench.start(ONE_IN_ONE_OUT, life)

    error = bench.failure()

    assert methods(life) == ["open"]
    assert error.errors[0].method == "open"


def test_when_close_fails_the_run_has_failed(bench, life):
    life.fails_in = "close"
    bench.start(ONE_IN_ONE_OUT, life)

    error = bench.failure(bench.end)

    assert methods(life) == ["open", "close"]
    assert error.errors[0].method == "close"


def test_open_and_close_may_be_left_out_but_the_contract_may_not(bench):
    class MyCalculator(penstock.Calculator):
        def process(self, cc):
            raise AssertionError("never called")

    with pytest.raises(GraphConfigError, match="MyCalculator is a calculator that does not say which ports"):
        bench.load(ONE_IN_ONE_OUT, MyCalculator)

    class OnlyContract(MyCalculator):
        get_contract = classmethod(Life.get_contract.__func__)

    bench.start(ONE_IN_ONE_OUT.replace("MyCalculator", "OnlyContract"), OnlyContract)
    bench.end()


def test_a_calculator_without_process_fails_when_it_is_called(bench):
    class MyCalculator(penstock.Calculator):
        get_contract = classmethod(Life.get_contract.__func__)

    bench.start(ONE_IN_ONE_OUT, MyCalculator)
    bench.add("in", 1, "a")

    assert "MyCalculator is a calculator without a process method" in str(bench.failure())


def test_in_close_there_is_no_input_but_side_packets_are_there_and_outputs_can_be_written(bench):
    class MyCalculator(Life):
        def note(self, method, cc):
            if method == "close":
                assert cc.input.is_empty()
                assert cc.input.is_done()
                cc.output.add(cc.input_side_packets[0].payload, 100)

    bench.start(
        ONE_IN_ONE_OUT.replace('output_stream: "out"', 'output_stream: "out" input_side_packet: "side"'),
        MyCalculator,
        watch=["out"],
        side_packets={"side": "a large model"},
    )
    bench.add("in", 1, "a")
    bench.end()

    assert bench.seen["out"] == [(100, "a large model")]


def test_an_input_without_a_packet_at_this_timestamp_is_empty(bench):
    seen = []

    class MyCalculator(Life):
        def note(self, method, cc):
            if method == "process":
                seen.append((int(cc.input_timestamp), [port.payload for port in cc.inputs]))

    bench.start(
        """input_stream: "left" input_stream: "right"
        node { calculator: "MyCalculator" input_stream: "left" input_stream: "right" }""",
        MyCalculator,
    )
    for t in (1, 2, 4):
        bench.add("left", t, f"l{t}")
    for t in (2, 3):
        bench.add("right", t, f"r{t}")
    bench.end()

    assert seen == [(1, ["l1", None]), (2, ["l2", "r2"]), (3, [None, "r3"]), (4, ["l4", None])]


def test_a_source_is_called_again_until_it_says_stop(bench):
    class MySource(Life):
        def open(self, cc):
            self.next = 0

        def process(self, cc):
            cc.output.add(self.next, self.next)
            self.next += 1
            return STOP if self.next == 4 else None

        def close(self, cc):
            """Nothing to write."""

    bench.load('node { calculator: "MySource" output_stream: "out" }', MySource, watch=["out"])
    bench.graph.start_run()
    bench.done()

    assert bench.seen["out"] == [(i, i) for i in range(4)]


def test_large_objects_given_as_side_packets_are_the_same_object_in_every_run(bench):
    met = []

    class MyCalculator(Life):
        def note(self, method, cc):
            if method == "open":
                met.append(cc.input_side_packets["MODEL"].payload)

    model = object()
    bench.load(
        ONE_IN_ONE_OUT.replace('output_stream: "out"', 'input_side_packet: "MODEL:model"'),
        MyCalculator,
        side_packets={"model": Packet(model)},
    )
    for _ in range(2):
        bench.graph.start_run()
        bench.end()

    assert [id(one) for one in met] == [id(model), id(model)]


@penstock.register_calculator
class RegisteredInThisProcessCalculator(Life):
    """Known by its name to every graph of the process, once its class is defined."""

    def note(self, method, cc):
        if method == "process":
            cc.output.add_packet(cc.input.packet)


def test_a_registered_calculator_is_found_by_its_name_from_then_on():
    text = ONE_IN_ONE_OUT.replace("MyCalculator", "RegisteredInThisProcessCalculator")
    got = []
    with penstock.CalculatorGraph(text) as graph:
        graph.observe_output_stream("out", lambda _, packet: got.append((packet.timestamp, packet.payload)))
        graph.start_run()
        graph.add_packet_to_input_stream("in", Packet("a", 1))

    assert got == [(1, "a")]
