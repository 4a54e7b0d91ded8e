"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, StatusCode
from penstock_calculators.watching.counting_source import CountingSourceCalculator
from penstock_testing import InlineExecutor, ScheduleHarness, node, run_calculator, wired


def count(**sides):
    run = run_calculator(CountingSourceCalculator, outputs=[0], side_packets=sides)
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs[0]]


@pytest.mark.parametrize(
    ("sides", "numbers"),
    [
        ({"MAX_COUNT": 0}, []),
        ({"MAX_COUNT": 1}, [0]),
        ({"MAX_COUNT": 3}, [0, 1, 2]),
        ({"MAX_COUNT": 3, "INITIAL_VALUE": -2}, [-2, -1, 0]),
        ({"MAX_COUNT": 3, "INCREMENT": 10}, [0, 10, 20]),
        ({"MAX_COUNT": 2, "BATCH_SIZE": 3}, [0, 1, 2, 3, 4, 5]),
        ({"MAX_COUNT": 2, "BATCH_SIZE": 2, "INCREMENT": 5, "INITIAL_VALUE": 100}, [100, 105, 110, 115]),
        ({"MAX_COUNT": 2, "ERROR_COUNT": 3}, [0, 1]),
        ({"MAX_COUNT": 2, "ERROR_ON_OPEN": False}, [0, 1]),
    ],
)
def test_each_number_comes_at_its_own_timestamp(sides, numbers):
    assert count(**sides) == [(number, number) for number in numbers]


@pytest.mark.reference(
    "calculators/core/counting_source_calculator_test.cc",
    "VerifyOutputWithMaxCountSetTest.VerifyOutputWithMaxCountSet",
)
@pytest.mark.parametrize(
    ("first", "batches", "batch", "step", "numbers"),
    [
        (0, 3, 1, 1, [0, 1, 2]),
        (-2, 5, 1, 1, [-2, -1, 0, 1, 2]),
        (0, 3, 1, 2, [0, 2, 4]),
        (0, 3, 2, 2, [0, 2, 4, 6, 8, 10]),
    ],
)
def test_all_side_packets_but_the_errors_may_be_connected(first, batches, batch, step, numbers):
    written = count(MAX_COUNT=batches, BATCH_SIZE=batch, INITIAL_VALUE=first, INCREMENT=step)

    assert written == [(number, number) for number in numbers]


@pytest.mark.reference(
    "calculators/core/counting_source_calculator_test.cc",
    "VerifyOutputWithErrorCountSetTest.VerifyOutputWithErrorCountSet",
)
@pytest.mark.parametrize(
    ("batches", "before_error", "batch", "step", "numbers"),
    [
        (3, 5, 1, 1, [0, 1, 2]),
        (3, 5, 2, 2, [0, 2, 4, 6, 8, 10]),
        (5, 2, 1, 1, None),
        (3, 2, 2, 2, None),
    ],
)
def test_the_smaller_of_the_two_counts_decides_whether_there_is_an_error(
    batches, before_error, batch, step, numbers
):
    sides = {
        "ERROR_COUNT": before_error,
        "MAX_COUNT": batches,
        "BATCH_SIZE": batch,
        "INITIAL_VALUE": 0,
        "INCREMENT": step,
    }
    if numbers is None:
        with pytest.raises(GraphRunError, match="expected error: side packet ERROR_COUNT is 2"):
            count(**sides)
    else:
        assert count(**sides) == [(number, number) for number in numbers]


def test_each_call_writes_one_batch():
    plan = wired(node(CountingSourceCalculator, "", "n", side_inputs="MAX_COUNT:m BATCH_SIZE:b"))
    harness = ScheduleHarness(plan, side_packets={"m": 2, "b": 2}).start()
    harness.run()
    harness.finish()

    assert harness.log.count(next(line for line in harness.log if line.startswith("process"))) == 3
    assert [t for t, _ in harness.carried("n")] == [0, 1, 2, 3]


@pytest.mark.parametrize("sides", [{"ERROR_COUNT": 2}, {"ERROR_COUNT": 2, "MAX_COUNT": 2}])
def test_an_error_comes_after_as_many_batches_and_before_the_end(sides):
    plan = wired(
        node(CountingSourceCalculator, "", "n", side_inputs=[f"{tag}:{tag.lower()}" for tag in sides])
    )
    harness = ScheduleHarness(plan, side_packets={tag.lower(): value for tag, value in sides.items()}).start()
    harness.run()

    with pytest.raises(GraphRunError, match="expected error: side packet ERROR_COUNT is 2") as caught:
        harness.finish()

    assert caught.value.errors[0].code is StatusCode.INTERNAL
    assert harness.carried("n") == [(0, 0), (1, 1)]


def test_an_error_may_come_when_the_node_opens():
    with pytest.raises(GraphRunError, match=r"open.*side packet ERROR_ON_OPEN") as caught:
        count(MAX_COUNT=1, ERROR_ON_OPEN=True)

    assert caught.value.errors[0].code is StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    ("tag", "value", "smallest"),
    [
        ("MAX_COUNT", -1, 0),
        ("ERROR_COUNT", -1, 0),
        ("BATCH_SIZE", 0, 1),
        ("INCREMENT", 0, 1),
        ("INCREMENT", -1, 1),
    ],
)
def test_a_number_that_is_too_small_is_refused_when_the_node_opens(tag, value, smallest):
    with pytest.raises(
        GraphRunError, match=rf"side packet {tag} of the .* is {value}, but must be at least {smallest}"
    ):
        count(**{"MAX_COUNT": 1, tag: value})


@pytest.mark.reference(
    "calculators/core/counting_source_calculator_test.cc",
    "NegativeValueParamErrorTest.NegativeValueParamError",
)
@pytest.mark.parametrize(
    ("errors", "most", "batch", "step"), [(0, -1, 0, 0), (-1, 0, 0, 0), (0, 0, -1, 0), (2, 2, 1, -1)]
)
def test_a_negative_number_is_an_error_with_the_code_of_the_reference(errors, most, batch, step):
    with pytest.raises(GraphRunError, match=r"the graph run failed.* is -1, but must be at least") as caught:
        count(ERROR_COUNT=errors, MAX_COUNT=most, BATCH_SIZE=batch, INCREMENT=step)

    assert caught.value.code is StatusCode.INTERNAL


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({}, "neither the counting source's side packet MAX_COUNT nor ERROR_COUNT is connected"),
        pytest.param(
            {"INITIAL_VALUE": 0},
            "neither the counting source's side packet MAX_COUNT nor ERROR_COUNT is connected",
            marks=pytest.mark.reference(
                "calculators/core/counting_source_calculator_test.cc",
                "CountingSourceCalculatorTest.ErrorCountAndMaxCountNotSet",
            ),
        ),
        (
            {"BATCH_SIZE": 1},
            "neither the counting source's side packet MAX_COUNT nor ERROR_COUNT is connected",
        ),
        ({"MAX_COUNT": 1.5}, "is a 'float', but the node expects int"),
        ({"MAX_COUNT": True}, "is a 'bool', but the node expects int"),
        ({"MAX_COUNT": 1, "ERROR_ON_OPEN": 1}, "is a 'int', but the node expects bool"),
        ({"MAX_COUNT": 1, "OTHER": 1}, "has no input side packet 'OTHER'"),
    ],
)
def test_side_packets_that_are_wrong_are_refused_before_the_run(sides, message):
    with pytest.raises(GraphConfigError, match=message):
        count(**sides)


@pytest.mark.parametrize(
    ("connected", "given", "missing"),
    [
        ("MAX_COUNT:m BATCH_SIZE:b", {"m": 2}, "b"),
        pytest.param(
            "ERROR_COUNT:c ERROR_ON_OPEN:o",
            {"o": True},
            "c",
            marks=pytest.mark.reference(
                "calculators/core/counting_source_calculator_test.cc",
                "CountingSourceCalculatorTest.ExpectedErrorAfterSetErrorOnOpen",
            ),
        ),
    ],
)
def test_a_side_packet_that_is_connected_must_be_given(connected, given, missing):
    plan = wired(node(CountingSourceCalculator, "", "n", side_inputs=connected))

    with pytest.raises(GraphConfigError, match=rf"side packet '{missing}' .* is required but was not given"):
        ScheduleHarness(plan, side_packets=given)


def test_the_example_of_the_docstring_runs_each_time_from_the_beginning():
    graph = CalculatorGraph(CountingSourceCalculator.__doc__.partition("Example config::")[2])
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("numbers", lambda _, packet: seen.append(packet.payload))

    for _ in range(2):
        graph.run({"count": 3}, 20)

    assert seen == [0, 1, 2, 0, 1, 2]
