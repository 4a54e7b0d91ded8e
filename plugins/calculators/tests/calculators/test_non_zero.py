"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, Packet
from penstock_calculators.values.non_zero import NonZeroCalculator
from penstock_testing import InlineExecutor, ScheduleHarness, explore, node, run_calculator, wired

NUMBERS = [(1, 0), (2, 5), (4, -1), (9, 0)]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def test_the_outputs_say_whether_the_number_is_not_zero():
    run = run_calculator(NonZeroCalculator, {"INPUT": NUMBERS}, outputs=["OUTPUT", "OUTPUT_BOOL"])

    assert values(run.outputs["OUTPUT"]) == [(1, 0), (2, 1), (4, 1), (9, 0)]
    assert values(run.outputs["OUTPUT_BOOL"]) == [(1, False), (2, True), (4, True), (9, False)]
    assert {type(packet.payload) for packet in run.outputs["OUTPUT"]} == {int}
    assert {type(packet.payload) for packet in run.outputs["OUTPUT_BOOL"]} == {bool}


@pytest.mark.parametrize(
    ("numbers", "results"),
    [
        pytest.param(
            [0],
            [0],
            marks=pytest.mark.reference(
                "calculators/core/non_zero_calculator_test.cc",
                "NonZeroCalculatorTest.ProducesZeroOutputForZeroInput",
            ),
        ),
        pytest.param(
            [1, 2, 3, -4, 5],
            [1, 1, 1, 1, 1],
            marks=pytest.mark.reference(
                "calculators/core/non_zero_calculator_test.cc",
                "NonZeroCalculatorTest.ProducesNonZeroOutputForNonZeroInput",
            ),
        ),
        pytest.param(
            [1, 0, 3, 0, 5],
            [1, 0, 1, 0, 1],
            marks=pytest.mark.reference(
                "calculators/core/non_zero_calculator_test.cc",
                "NonZeroCalculatorTest.SwitchesBetweenNonZeroAndZeroOutput",
            ),
        ),
    ],
)
def test_each_number_gives_an_int_and_a_bool(numbers, results):
    run = run_calculator(NonZeroCalculator, {"INPUT": enumerate(numbers)}, outputs=["OUTPUT", "OUTPUT_BOOL"])

    assert [packet.payload for packet in run.outputs["OUTPUT"]] == results
    assert [packet.payload for packet in run.outputs["OUTPUT_BOOL"]] == [bool(one) for one in results]


@pytest.mark.parametrize("output", ["OUTPUT", "OUTPUT_BOOL"])
def test_either_output_may_be_left_out(output):
    run = run_calculator(NonZeroCalculator, {"INPUT": NUMBERS}, outputs=[output])

    assert [bool(packet.payload) for packet in run.outputs[output]] == [False, True, True, False]


def test_both_outputs_may_be_left_out():
    run = run_calculator(NonZeroCalculator, {"INPUT": NUMBERS}, outputs=[])

    assert run.outputs == {}


@pytest.mark.parametrize("number", [0, 3])
def test_a_side_packet_gives_one_result(number):
    run = run_calculator(NonZeroCalculator, outputs=["OUTPUT", "OUTPUT_BOOL"], side_packets={"INPUT": number})

    assert values(run.outputs["OUTPUT"]) == [(0, int(number != 0))]
    assert values(run.outputs["OUTPUT_BOOL"]) == [(0, number != 0)]


def test_a_side_packet_that_is_connected_must_be_given():
    plan = wired(node(NonZeroCalculator, "", "OUTPUT:o", side_inputs="INPUT:n"))

    with pytest.raises(GraphConfigError, match=r"side packet 'n' .* is required but was not given"):
        ScheduleHarness(plan)


def test_a_settled_input_settles_the_outputs():
    plan = wired(node(NonZeroCalculator, "INPUT:n", "OUTPUT:o"), inputs="n")
    harness = ScheduleHarness(plan, bounds_of=["o"]).start()
    harness.set_bound("n", 6)
    harness.run()

    assert harness.carried("o") == [(5, None)]
    harness.finish()


@pytest.mark.parametrize(
    ("inputs", "sides", "message"),
    [
        (
            {"INPUT": []},
            {"INPUT": 1},
            "which are both connected; connect one",
        ),
        (
            {},
            {},
            "which are neither connected; connect one",
        ),
        ({}, {"INPUT": True}, "is a 'bool', but the node expects int"),
    ],
)
def test_there_is_one_way_to_give_the_number(inputs, sides, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(NonZeroCalculator, inputs, outputs=["OUTPUT"], side_packets=sides)


def test_the_output_does_not_depend_on_the_order_of_arrival():
    plan = wired(node(NonZeroCalculator, "INPUT:n", "OUTPUT:o"), inputs="n")

    def drive(harness):
        harness.start()
        for timestamp, number in NUMBERS:
            harness.add("n", number, timestamp)
            harness.step()
        harness.finish()

    assert explore(plan, drive)["o"] == [(1, 0), (2, 1), (4, 1), (9, 0)]


def test_the_example_of_the_docstring_runs_as_part_of_a_graph():
    example = NonZeroCalculator.__doc__.partition("Example config::")[2]
    graph = CalculatorGraph(f'input_stream: "count_of_hands" {example}')
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("somebody_is_there", lambda _, packet: seen.append(packet.payload))

    graph.start_run()
    graph.add_packet_to_input_stream("count_of_hands", Packet(2, 1))
    graph.close(20)

    assert seen == [True]
