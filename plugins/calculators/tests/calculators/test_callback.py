from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.watching.callback import CallbackCalculator
from penstock_testing import run_calculator


def test_the_function_gets_each_packet():
    seen = []

    run_calculator(
        CallbackCalculator,
        {0: [(1, "a"), (2, "b")]},
        side_packets={"CALLBACK": lambda packet: seen.append((int(packet.timestamp), packet.payload))},
    )

    assert seen == [(1, "a"), (2, "b")]


def test_the_function_gets_all_packets_of_one_timestamp_together():
    seen = []

    run_calculator(
        CallbackCalculator,
        {0: [(1, "a"), (2, "b")], 1: [(2, "c")]},
        side_packets={"VECTOR_CALLBACK": lambda packets: seen.append([p.payload for p in packets])},
    )

    assert seen == [["a", None], ["b", "c"]]


@pytest.mark.reference(
    "framework/tool/sink_test.cc",
    "CallbackTest.TestAddMultiStreamCallback",
    "CallbackTest.TestAddMultiStreamCallbackWithPacketMap",
)
def test_a_stream_without_a_packet_counts_as_nothing_in_a_sum():
    sums = []

    run_calculator(
        CallbackCalculator,
        {0: [(1, 10), (2, 7), (3, 4)], 1: [(1, 5), (3, 5)]},
        side_packets={"VECTOR_CALLBACK": lambda packets: sums.append(sum(p.payload or 0 for p in packets))},
    )

    assert sums == [15, 7, 9]


def test_settled_timestamps_come_as_empty_packets_where_they_are_asked_for():
    seen = []

    run_calculator(
        CallbackCalculator,
        {0: [(1, "a"), (2, "b")], 1: []},
        side_packets={
            "VECTOR_CALLBACK": lambda packets: seen.append([p.is_empty() for p in packets]),
            "OBSERVE_TIMESTAMP_BOUNDS": True,
        },
    )

    assert seen[:2] == [[False, True], [False, True]]


def test_what_the_function_raises_is_an_error_of_the_run_that_names_the_node():
    def fail(packet):
        raise ValueError(f"no room for {packet.payload}")

    with pytest.raises(
        GraphRunError, match=r"node 'CallbackCalculator'.*process.* failed at 1: .*no room for a"
    ):
        run_calculator(CallbackCalculator, {0: [(1, "a")]}, side_packets={"CALLBACK": fail})


@pytest.mark.parametrize(
    ("sides", "inputs", "message"),
    [
        ({}, {0: []}, "give one of the callback's side packets CALLBACK and VECTOR_CALLBACK"),
        (
            {"CALLBACK": print},
            {0: [], 1: []},
            "the callback CALLBACK takes one input, but there are 2; use VECTOR_CALLBACK",
        ),
        ({"CALLBACK": 3}, {0: []}, "is a 'int', but the node expects"),
    ],
)
def test_a_wrong_callback_is_refused_before_the_run(sides, inputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(CallbackCalculator, inputs, side_packets=sides)
