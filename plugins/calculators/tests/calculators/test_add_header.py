"""Expected values from the tests of the reference."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, Packet, StatusCode
from penstock_calculators.routing.add_header import AddHeaderCalculator
from penstock_testing import InlineExecutor, ScheduleHarness, explore, node, run_calculator, wired

DATA = [(i * 1000, i) for i in range(5)]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


@pytest.mark.reference(
    "calculators/core/add_header_calculator_test.cc", "AddHeaderCalculatorTest.HeaderStream"
)
def test_the_header_of_one_stream_goes_to_the_packets_of_another():
    run = run_calculator(
        AddHeaderCalculator, {"DATA": DATA, "HEADER": []}, outputs=[0], headers={"HEADER": "my_header"}
    )

    assert run.headers[0] == "my_header"
    assert values(run.outputs[0]) == DATA


@pytest.mark.reference(
    "calculators/core/add_header_calculator_test.cc", "AddHeaderCalculatorTest.InputSidePacket"
)
def test_a_side_packet_becomes_the_header():
    run = run_calculator(
        AddHeaderCalculator, {"DATA": DATA}, outputs=[0], side_packets={"HEADER": "my_header"}
    )

    assert run.headers[0] == "my_header"
    assert values(run.outputs[0]) == DATA


def test_a_stream_without_header_gives_none_and_that_of_the_data_is_not_forwarded():
    run = run_calculator(
        AddHeaderCalculator, {"DATA": DATA, "HEADER": []}, outputs=[0], headers={"DATA": "of the data"}
    )

    assert run.headers[0] is None
    assert values(run.outputs[0]) == DATA


@pytest.mark.reference(
    "calculators/core/add_header_calculator_test.cc", "AddHeaderCalculatorTest.HandlesEmptyHeaderStream"
)
def test_without_header_and_packets_there_is_neither():
    run = run_calculator(AddHeaderCalculator, {"DATA": [], "HEADER": []}, outputs=[0])

    assert run.headers[0] is None
    assert run.outputs[0] == []


def test_a_side_packet_that_the_application_leaves_out_gives_no_header():
    plan = wired(node(AddHeaderCalculator, "DATA:d", "o", side_inputs="HEADER:h"), inputs="d")
    harness = ScheduleHarness(plan).start()
    harness.add("d", "a", 1)
    harness.run()

    assert harness.carried("o") == [(1, "a")]
    assert harness.stream("o").header.is_empty()
    harness.finish()


@pytest.mark.parametrize("data", [[], [(5, "a")]])
def test_a_packet_on_the_header_stream_is_an_error_of_the_run(data):
    with pytest.raises(
        GraphRunError, match=r"input HEADER has a packet at 5, but only the header of"
    ) as caught:
        run_calculator(AddHeaderCalculator, {"DATA": data, "HEADER": [(5, "not allowed")]}, outputs=[0])

    assert caught.value.errors[0].code is StatusCode.INVALID_ARGUMENT


@pytest.mark.reference(
    "calculators/core/add_header_calculator_test.cc", "AddHeaderCalculatorTest.NoPacketsOnHeaderStream"
)
def test_a_packet_on_the_header_stream_is_an_error_beside_a_header_too():
    with pytest.raises(GraphRunError, match="input HEADER has a packet at 0, but only the header of"):
        run_calculator(
            AddHeaderCalculator,
            {"DATA": DATA, "HEADER": [(0, "not allowed")]},
            outputs=[0],
            headers={"HEADER": "my_header"},
        )


@pytest.mark.parametrize(
    ("inputs", "sides", "message"),
    [
        pytest.param(
            {"DATA": DATA, "HEADER": []},
            {"HEADER": "my_header"},
            "HEADER and side packet HEADER are both connected; connect",
            marks=pytest.mark.reference(
                "calculators/core/add_header_calculator_test.cc",
                "AddHeaderCalculatorTest.UsingBothSideInputAndStream",
            ),
        ),
        ({"DATA": []}, {}, "HEADER and side packet HEADER are neither connected; connect one"),
    ],
)
def test_there_is_one_way_to_give_the_header(inputs, sides, message):
    with pytest.raises(GraphConfigError, match=message) as caught:
        run_calculator(AddHeaderCalculator, inputs, outputs=[0], side_packets=sides)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


def test_settled_data_settles_the_output():
    plan = wired(node(AddHeaderCalculator, "DATA:d HEADER:h", "o"), inputs="d h")
    harness = ScheduleHarness(plan, bounds_of=["o"]).start()
    harness.set_bound("d", 8)
    harness.set_bound("h", 6)
    harness.run()

    assert harness.carried("o") == [(5, None)]
    harness.finish()


def test_the_output_does_not_depend_on_the_order_of_arrival():
    plan = wired(node(AddHeaderCalculator, "DATA:d HEADER:h", "o"), inputs="d h")

    def drive(harness):
        harness.start({"h": "header"})
        for timestamp, payload in DATA:
            harness.add("d", payload, timestamp)
            harness.step()
        harness.set_bound("h", 2001)
        harness.step()
        harness.finish()

    assert explore(plan, drive)["o"] == DATA


def test_the_example_of_the_docstring_runs_as_part_of_a_graph():
    example = AddHeaderCalculator.__doc__.partition("Example config::")[2]
    graph = CalculatorGraph(f'input_stream: "samples" {example}')
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("samples_with_format", lambda _, packet: seen.append(packet.payload))

    graph.start_run({"sample_format": "format"})
    graph.add_packet_to_input_stream("samples", Packet("a", 1))
    graph.close(20)

    assert seen == ["a"]
