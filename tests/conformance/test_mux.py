"""Scenario 38, in whole graphs: a mux behind gates and behind branches, as MediaPipe's own tests have it."""

from __future__ import annotations

import pytest

PAIR = "MakePairCalculator select output -> pair"


def mux(bench, count, names="input"):
    ports = " ".join(f"INPUT:{i}:{names}{i}" for i in range(count))
    return f"MuxCalculator {ports} SELECT:select -> OUTPUT:output | {bench.handler('Mux')}"


# --- behind branches -----------------------------------------------------------------------------


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.AtomicAccessToControlAndDataStreams",
)
@pytest.mark.reference(
    "framework/stream_handler/set_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.AtomicAccessToControlAndDataStreams",
)
@pytest.mark.parametrize("is_in_graph", [True, False])
def test_s38_a_mux_joins_what_a_demux_has_sent_to_five_branches(bench, is_in_graph):
    branches = " ".join(f"OUTPUT:{i}:input{i}" for i in range(5))
    join = mux(bench, 5, "output")
    bench.start(
        bench.net(
            "input",
            f"RoundRobinDemuxCalculator input -> {branches} SELECT:select",
            *(f"Pass input{i} -> output{i}" for i in range(5)),
            join if is_in_graph else join.partition(" | ")[0],  # else its contract asks for the policy
        ),
        watch=["output"],
    )
    bench.add("input", *range(2000))
    bench.end()

    assert bench.seen["output"] == [(i, i) for i in range(2000)]


# --- behind gates --------------------------------------------------------------------------------


@pytest.fixture
def gated(bench):
    """Return a function that sends one value through each of three gates, and the selection; then waits."""
    bench.start(
        bench.net(
            "input0 input1 input2 select allow0 allow1 allow2",
            *(f"GateCalculator ALLOW:allow{i} input{i} -> output{i}" for i in range(3)),
            mux(bench, 3, "output"),
        ),
        watch=["output"],
    )

    def send(at, select, allow, values=(1000, 900, 800)):
        for i, value in enumerate(values):
            bench.add(f"input{i}", (at, value))
        bench.add("select", (at, select))
        for i, is_allowed in enumerate(allow):
            bench.add(f"allow{i}", (at, is_allowed == "1"))
        bench.idle()
        return bench.seen["output"]

    return send


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.BasicMuxing",
    "MuxInputStreamHandlerTest.MuxingNonEmptyInputs",
)
@pytest.mark.parametrize("gates", [["100", "010", "001"], ["111", "111", "111"]])
def test_s38_the_selected_value_goes_on_at_once(bench, gated, gates):
    expected = [(1, 1000), (2, 900), (3, 800)]

    for at, allow in enumerate(gates, 1):
        assert gated(at, at - 1, allow) == expected[:at]
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.MuxingAllTimestampBoundUpdates",
    "MuxInputStreamHandlerTest.MuxingSlectedTimestampBoundUpdates",
)
@pytest.mark.parametrize("gates", [["000", "000", "000"], ["011", "101", "110"]])
def test_s38_the_bound_of_the_selected_stream_gives_nothing_whatever_the_others_have(bench, gated, gates):
    for at, allow in enumerate(gates, 1):
        assert gated(at, at - 1, allow) == []
    bench.end()
    assert bench.seen["output"] == []


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.MuxingSometimesTimestampBoundUpdates",
)
def test_s38_values_and_bounds_of_the_selected_stream_follow_each_other(bench, gated):
    assert gated(1, 0, "000") == []
    assert gated(2, 1, "010") == [(2, 900)]
    assert gated(3, 2, "110") == [(2, 900)]
    assert gated(4, 2, "111") == [(2, 900), (4, 800)]
    assert gated(5, 0, "100", (700, 600, 500)) == [(2, 900), (4, 800), (5, 700)]
    bench.end()


# --- bounds behind a mux -------------------------------------------------------------------------


def pairs(bench):
    """Return the pairs so far, as timestamp, select, and the mux's value or None."""
    halves = [(at, *pair) for at, pair in bench.seen["pair"]]
    assert all(first.timestamp == second.timestamp == at for at, first, second in halves)
    return [
        (at, first.payload, None if second.is_empty() else second.payload) for at, first, second in halves
    ]


FOUR = [(1, 0, None), (2, 0, 1000), (3, 1, None), (4, 1, 800)]


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.TimestampBoundUpdateWhenControlPacketEarlierThanDataPacket",
    "MuxInputStreamHandlerTest.TimestampBoundUpdateWhenControlPacketEarlierThanDataPacketPacketsAtOnce",
)
@pytest.mark.parametrize("waits", [True, False])
def test_s38_a_control_packet_without_a_value_settles_its_time(bench, waits):
    bench.start(bench.net("input0 input1 select", mux(bench, 2), PAIR), watch=["pair"])
    steps = [
        ([("select", 1, 0)], 0),
        ([("input0", 2, 1000)], 1),
        ([("input1", 1, 900), ("input1", 4, 800)], 1),
        ([("select", 2, 0)], 2),
        ([("select", 3, 1)], 3),
        ([("select", 4, 1)], 4),
    ]
    for packets, known in steps:
        for stream, at, value in packets:
            bench.add(stream, (at, value))
        if waits:
            bench.idle()
            assert pairs(bench) == FOUR[:known]
    bench.idle()

    assert pairs(bench) == FOUR
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.TimestampBoundUpdateTriggersTimestampBoundUpdate",
)
def test_s38_the_bound_of_a_closed_gate_settles_the_time_behind_the_mux(bench):
    gates = (f"GateCalculator ALLOW:allow{i} input{i} -> output{i}" for i in range(2))
    bench.start(
        bench.net("input0 input1 select allow0 allow1", *gates, mux(bench, 2, "output"), PAIR), watch=["pair"]
    )
    for at, value, is_allowed, expected in (
        (1, 1000, False, [(1, 0, None)]),
        (2, 900, True, [(1, 0, None), (2, 0, 900)]),
    ):
        bench.add("select", (at, 0))
        bench.add("input0", (at, value))
        bench.add("allow0", (at, is_allowed))
        bench.idle()
        assert pairs(bench) == expected
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/mux_input_stream_handler_test.cc",
    "MuxInputStreamHandlerTest.RemovesUnusedDataStreamPackets",
)
def test_s38_late_packets_of_another_stream_do_not_fill_its_queue(bench):
    bench.start(
        bench.net("input0 input1 select", mux(bench, 2), more="max_queue_size: 1 report_deadlock: true\n"),
        watch=["output"],
    )
    # both are there before anything works: a full queue beside idle nodes is what `report_deadlock` reports
    bench.graph.pause()
    bench.add("select", (2, 0))
    bench.add("input0", (2, 1000))
    bench.graph.resume()
    bench.idle()

    bench.add("input1", (1, 900))
    bench.add("input1", (2, 900))
    bench.idle()

    assert bench.seen["output"] == [(2, 1000)]
    assert bench.drops() == [("input1", "not selected", 2)]
    bench.end()
