"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import logging

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.routing.merge import MergeCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

A = [(1, "a"), (3, "b")]
B = [(2, 20), (3, 30), (5, 50)]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def test_at_each_timestamp_the_packet_of_the_lowest_input_comes_whatever_its_type():
    run = run_calculator(MergeCalculator, {0: A, 1: B}, outputs=[0])

    assert values(run.outputs[0]) == [(1, "a"), (2, 20), (3, "b"), (5, 50)]


@pytest.mark.parametrize(
    ("inputs", "merged"),
    [
        pytest.param(
            {0: [(10, 10), (20, 20), (30, 30)], 1: [(5, 5.5), (35, 35.5)]},
            [(5, 5.5), (10, 10), (20, 20), (30, 30), (35, 35.5)],
            marks=pytest.mark.reference(
                "calculators/core/merge_calculator_test.cc", "MergeCalculatorTest.TestMergingTwoStreams"
            ),
        ),
        pytest.param(
            {0: [(30, 30)], 1: [(20, 20.5)], 2: [(10, "c")]},
            [(10, "c"), (20, 20.5), (30, 30)],
            marks=pytest.mark.reference(
                "calculators/core/merge_calculator_test.cc", "MergeCalculatorTest.TestMergingThreeStreams"
            ),
        ),
    ],
)
def test_streams_of_different_types_are_merged(inputs, merged):
    run = run_calculator(MergeCalculator, inputs, outputs=[0])

    assert values(run.outputs[0]) == merged
    assert [type(packet.payload) for packet in run.outputs[0]] == [type(payload) for _, payload in merged]


def test_packets_after_another_inputs_are_counted_as_dropped():
    harness = ScheduleHarness(wired(node(MergeCalculator, "a b c", "out"), inputs="a b c")).start()
    for stream in "abc":
        harness.add(stream, stream, 1)
    harness.finish()

    readers = [harness.stream(stream).readers[0] for stream in "abc"]
    assert harness.carried("out") == [(1, "a")]
    assert [reader.dropped for reader in readers] == [{}, *[{"an input before it had one": 1}] * 2]


def test_what_has_settled_on_all_inputs_settles_on_the_output():
    harness = ScheduleHarness(wired(node(MergeCalculator, "a b", "out"), inputs="a b"), bounds_of=["out"])
    harness.start()
    harness.set_bound("a", 6)
    harness.set_bound("b", 9)
    harness.run()

    assert harness.carried("out") == [(5, None)]
    harness.finish()


def test_the_output_does_not_depend_on_the_order_of_arrival():
    def drive(harness):
        harness.start()
        for stream, packets in (("b", B), ("a", A)):
            for timestamp, payload in packets:
                harness.add(stream, payload, timestamp)
                harness.step()
        harness.finish()

    carried = explore(wired(node(MergeCalculator, "a b", "out"), inputs="a b"), drive)

    assert carried["out"] == [(1, "a"), (2, 20), (3, "b"), (5, 50)]


def test_a_late_packet_fails_the_run_where_no_input_waits():
    plan = wired(node(MergeCalculator, "a b", "out", handler=ImmediateInputStreamHandler), inputs="a b")
    harness = ScheduleHarness(plan).start()
    harness.add("a", 1, 10)
    harness.run()
    harness.add("b", 2, 5)

    with pytest.raises(GraphRunError, match="packet at 5 is behind the bound 11"):
        harness.finish()


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        pytest.param(
            {},
            [0],
            "there are 0 untagged inputs",
            marks=pytest.mark.reference(
                "calculators/core/merge_calculator_test.cc",
                "InvariantMergeInputStreamsCalculator.NoInputStreamsMustFail",
            ),
        ),
        pytest.param(
            {0: [], 1: []},
            [],
            "output 0",
            marks=pytest.mark.reference(
                "calculators/core/merge_calculator_test.cc",
                "InvariantMergeInputStreamsCalculator.ExpectExactlyOneOutputStream",
            ),
        ),
        pytest.param(
            {0: [], 1: []},
            [0, 1],
            "output 1",
            marks=pytest.mark.reference(
                "calculators/core/merge_calculator_test.cc",
                "InvariantMergeInputStreamsCalculator.ExpectExactlyOneOutputStream",
            ),
        ),
        ({0: []}, [], "output 0"),
        ({0: []}, [0, 1], "output 1"),
        ({0: [], "TAG": []}, [0], "TAG"),
    ],
)
def test_ports_that_cannot_be_merged_are_refused(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(MergeCalculator, inputs, outputs=outputs)


def test_a_merge_of_one_input_forwards_it_with_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "penstock"):
        run = run_calculator(MergeCalculator, {0: A}, outputs=[0])

    assert values(run.outputs[0]) == A
    assert [record.getMessage() for record in caplog.records if "merges only one input" in record.message]
