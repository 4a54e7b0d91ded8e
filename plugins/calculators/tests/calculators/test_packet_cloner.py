"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock_calculators.limiting.gate import GateCalculator
from penstock_calculators.messages.packet_cloner_pb2 import PacketClonerCalculatorOptions
from penstock_calculators.routing.packet_cloner import PacketClonerCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import OneSetInputStreamHandler, ScheduleHarness, node, run_calculator, wired

A = [(1, "a1"), (4, "a4")]
B = [(2, "b2"), (6, "b6")]
TICKS = [(1, 0), (3, 0), (5, 0)]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


@pytest.mark.parametrize("tick", [2, "TICK"])
def test_the_latest_packet_of_each_stream_comes_at_each_tick(tick):
    run = run_calculator(PacketClonerCalculator, {0: A, 1: B, tick: TICKS}, outputs=[0, 1])

    assert values(run.outputs[0]) == [(1, "a1"), (3, "a1"), (5, "a4")]
    assert values(run.outputs[1]) == [(3, "b2"), (5, "b2")]


@pytest.mark.parametrize(
    "field", ["output_only_when_all_inputs_received", "output_packets_only_when_all_inputs_received"]
)
def test_nothing_comes_before_every_input_has_had_a_packet_where_the_options_say_so(field):
    run = run_calculator(
        PacketClonerCalculator,
        {0: A, 1: B, 2: TICKS},
        outputs=[0, 1],
        options=PacketClonerCalculatorOptions(**{field: True}),
    )

    assert values(run.outputs[0]) == [(3, "a1"), (5, "a4")]
    assert values(run.outputs[1]) == [(3, "b2"), (5, "b2")]


def test_headers_are_forwarded():
    run = run_calculator(PacketClonerCalculator, {0: A, 1: TICKS}, outputs=[0], headers={0: "header"})

    assert run.headers[0] == "header"


def cloner(count, *, tag, handler=OneSetInputStreamHandler):
    """Start a cloner of so many streams; its tick has a tag or is the last untagged input."""
    names = [f"in{i + 1}" for i in range(count)]
    line = node(
        PacketClonerCalculator,
        [*names, "TICK:tick" if tag else "tick"],
        [f"out{i + 1}" for i in range(count)],
        handler=handler,
    )
    return ScheduleHarness(wired(line, inputs=[*names, "tick"])).start()


def add(harness, *events):
    """Add packets (stream, payload, timestamp), then run."""
    for stream, payload, timestamp in events:
        harness.add(stream, payload, timestamp)
    harness.run()


TICK_PORT = pytest.mark.parametrize("tag", [False, True], ids=["untagged", "TICK"])


@pytest.mark.reference(
    "calculators/core/packet_cloner_calculator_test.cc",
    "PacketClonerCalculatorTest.ClonesSingleInputSameTimestamps",
)
@TICK_PORT
def test_a_packet_at_the_time_of_the_tick_is_the_latest(tag):
    harness = cloner(1, tag=tag)
    add(harness, ("in1", 1, 10000), ("tick", 1000, 10000))

    assert harness.carried("out1") == [(10000, 1)]


@pytest.mark.reference(
    "calculators/core/packet_cloner_calculator_test.cc",
    "PacketClonerCalculatorTest.ClonesSingleInputEarlierTimestamps",
)
@TICK_PORT
def test_ticks_wait_until_their_time_is_settled_on_the_other_inputs(tag):
    harness = cloner(1, tag=tag)
    add(harness, ("in1", 1, 5000), ("tick", 1000, 10000), ("tick", 1001, 10001), ("tick", 1002, 10002))
    assert harness.carried("out1") == []

    add(harness, ("in1", 2, 15000))

    assert harness.carried("out1") == [(10000, 1), (10001, 1), (10002, 1)]


@pytest.mark.reference(
    "calculators/core/packet_cloner_calculator_test.cc", "PacketClonerCalculatorTest.ClonesFiveInputs"
)
@TICK_PORT
def test_five_streams_are_cloned(tag):
    harness = cloner(5, tag=tag)
    payloads = [10, 20.0, 30, 40.0, 50]
    wanted = [[] for _ in payloads]
    for factor, start in ((1, 10000), (10, 20000)):
        for i, payload in enumerate(payloads):
            harness.add(f"in{i + 1}", payload * factor, start)
        add(harness, *(("tick", start // 10 + i, start + i) for i in range(3)))
        for i, payload in enumerate(payloads):
            wanted[i].append((start, payload * factor))
            assert harness.carried(f"out{i + 1}") == wanted[i]
            # the two ticks after it come once the next packets have settled their times
            wanted[i] += [(start + 1, payload * factor), (start + 2, payload * factor)]


@pytest.mark.reference(
    "calculators/core/packet_cloner_calculator_test.cc",
    "PacketClonerCalculatorTest.ClonesTwoInputsWithImmediateInputStreamHandler",
)
@TICK_PORT
def test_ticks_do_not_wait_with_the_immediate_policy(tag):
    harness = cloner(2, tag=tag, handler=ImmediateInputStreamHandler)
    add(harness, ("tick", 0, 0))
    add(harness, ("in1", 1, 10000), ("in2", 10.0, 10000), ("tick", 1000, 10000))
    add(harness, ("tick", 1500, 15000))
    add(harness, ("in1", 2, 10001), ("in2", 20.0, 10001), ("tick", 2000, 20000))
    add(harness, ("in1", 3, 30000), ("in2", 30.0, 30000))
    add(harness, ("tick", 3000, 25000))
    add(harness, ("in1", 4, 38000), ("in2", 40.0, 39000), ("tick", 4000, 40000))

    assert harness.carried("out1") == [(10000, 1), (15000, 1), (20000, 2), (25000, 3), (40000, 4)]
    assert harness.carried("out2") == [
        (10000, 10.0), (15000, 10.0), (20000, 20.0), (25000, 30.0), (40000, 40.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "carried"),
    [
        pytest.param(
            [("tick", 0, 100, False), ("input", 1, 200, False)],
            [(100, None)],
            marks=pytest.mark.reference(
                "calculators/core/packet_cloner_calculator_test.cc",
                "PacketClonerCalculatorGatedInputTest.PropagatesTimestampBoundsWithEmptyInput",
            ),
        ),
        pytest.param(
            [
                ("input", 1, 100, True),
                ("tick", 0, 100, True),
                ("tick", 0, 110, False),
                ("input", 2, 200, False),
            ],
            [(100, 1), (110, None)],
            marks=pytest.mark.reference(
                "calculators/core/packet_cloner_calculator_test.cc",
                "PacketClonerCalculatorGatedInputTest.PropagatesTimestampBoundsWithInput",
            ),
        ),
        pytest.param(
            [
                ("input", 1, 100, True),
                ("tick", 0, 100, True),
                ("input", 2, 110, True),
                ("tick", 0, 200, False),
                ("input", 2, 200, False),
            ],
            [(100, 1), (200, None)],
            marks=pytest.mark.reference(
                "calculators/core/packet_cloner_calculator_test.cc",
                "PacketClonerCalculatorGatedInputTest.PropagatesTimestampBoundsFromTick",
            ),
        ),
    ],
)
def test_the_output_is_settled_up_to_where_no_tick_can_come(events, carried):
    plan = wired(
        node(GateCalculator, "tick ALLOW:tick_enabled", "tick_gated"),
        node(GateCalculator, "input ALLOW:input_enabled", "input_gated"),
        node(PacketClonerCalculator, "input_gated TICK:tick_gated", "output"),
        inputs="input input_enabled tick tick_enabled",
    )
    harness = ScheduleHarness(plan, bounds_of=["output"]).start()
    for stream, payload, timestamp, allow in events:
        harness.add(f"{stream}_enabled", allow, timestamp)
        harness.add(stream, payload, timestamp)
    harness.run()

    assert harness.carried("output") == carried
