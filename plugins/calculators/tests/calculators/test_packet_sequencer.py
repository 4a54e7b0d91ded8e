"""Expected values from runs of the reference (mediapipe 0.10.21, case sequencer and further ones)."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, Timestamp
from penstock.packs import default_registry
from penstock_calculators.timing.packet_sequencer import PacketSequencerCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, node, run_calculator, wired

MIN = int(Timestamp.MIN)


def sequencer(inputs, outputs):
    line = node(PacketSequencerCalculator, inputs, outputs, handler=ImmediateInputStreamHandler)
    plan = wired(line, inputs=[entry.rpartition(":")[2] for entry in inputs.split()])
    return ScheduleHarness(plan, bounds_of=[entry.rpartition(":")[2] for entry in outputs.split()]).start()


def feed(harness, *events):
    for stream, timestamp in events:
        harness.add(stream, f"{stream}{timestamp}", timestamp)
        harness.run()


@pytest.mark.reference(
    "calculators/core/packet_sequencer_calculator_test.cc", "PacketSequencerCalculatorTest.ChannelEarly"
)
def test_packets_get_the_next_timestamp_that_no_tick_has_settled():
    harness = sequencer("INPUT:p TICK:0:frame TICK:1:mask", "OUTPUT:out")

    feed(harness, ("p", 10), ("p", 20), ("mask", 10), ("frame", 20), ("p", 30), ("p", 40))

    assert harness.carried("out") == [
        (MIN, "p10"), (MIN + 1, "p20"), (10, None), (20, None), (21, "p30"), (22, "p40"),
    ]  # fmt: skip
    harness.finish()


def test_each_pair_of_ports_counts_for_itself_once_its_first_timestamp_is_settled():
    harness = sequencer("INPUT:0:a INPUT:1:b TICK:t", "OUTPUT:0:x OUTPUT:1:y")

    feed(harness, ("a", 10), ("a", 11), ("b", 12), ("t", 5), ("b", 20), ("t", 30), ("a", 31))

    assert harness.carried("x") == [(MIN, "a10"), (MIN + 1, "a11"), (5, None), (30, None), (31, "a31")]
    assert harness.carried("y") == [(MIN, None), (MIN + 1, "b12"), (5, None), (6, "b20"), (30, None)]
    harness.finish()


def test_a_packet_that_comes_together_with_a_tick_counts_for_that_tick():
    harness = sequencer("INPUT:p TICK:t", "OUTPUT:out")
    harness.add("t", "tick", 10)
    held = harness.call(harness.take())
    harness.add("t", "tick", 20)  # both come while the node runs
    harness.add("p", "p", 20)
    harness.complete(held)
    harness.finish()

    assert harness.carried("out") == [(10, None), (11, "p"), (20, None)]


def test_a_tick_just_after_another_settles_its_timestamp_too():
    harness = sequencer("INPUT:p TICK:t", "OUTPUT:out")

    feed(harness, ("t", 5), ("t", 6), ("p", 1))

    assert harness.carried("out") == [(5, None), (6, None), (7, "p1")]
    harness.finish()


@pytest.mark.parametrize(
    ("timestamp", "dropped"),
    [
        (Timestamp.PRESTREAM, {}),
        (Timestamp.MAX, {"no timestamp is left": 1}),
        (Timestamp.POSTSTREAM, {"no timestamp is left": 1}),
    ],
)
def test_packets_are_dropped_once_a_tick_has_left_no_timestamp(timestamp, dropped):
    harness = sequencer("INPUT:p TICK:t", "OUTPUT:out")
    feed(harness, ("p", 1), ("t", timestamp), ("p", 2))
    harness.finish()

    assert harness.stream("p").readers[0].dropped == dropped


def test_each_input_needs_an_output():
    with pytest.raises(GraphConfigError, match="the sequencer has 1 inputs INPUT, but 0 outputs OUTPUT"):
        run_calculator(PacketSequencerCalculator, {"INPUT": [], "TICK": []})


@pytest.mark.reference(
    "calculators/core/packet_sequencer_calculator_test.cc", "PacketSequencerCalculatorTest.IsRegistered"
)
def test_a_graph_finds_it_by_its_name():
    assert default_registry().find("calculator", "PacketSequencerCalculator") is PacketSequencerCalculator
