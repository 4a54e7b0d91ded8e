"""Expected values from runs of the reference (cases presence_gate and presence_direct)."""

from __future__ import annotations

import pytest

from penstock_calculators.limiting.gate import GateCalculator
from penstock_calculators.routing.packet_presence import PacketPresenceCalculator
from penstock_testing import ScheduleHarness, node, run_calculator, wired


def test_each_packet_and_each_timestamp_settled_without_one_gives_an_answer():
    plan = wired(
        node(GateCalculator, "x ALLOW:c", "y"),
        node(PacketPresenceCalculator, "PACKET:y", "PRESENCE:p"),
        inputs="x c",
    )
    harness = ScheduleHarness(plan).start()
    for timestamp, is_open in ((10, False), (11, True)):
        harness.add("x", "frame", timestamp)
        harness.add("c", is_open, timestamp)
        harness.run()
    harness.add("x", "frame", 15)
    harness.add("c", True, 20)
    harness.finish()

    assert harness.carried("p") == [(10, False), (11, True), (15, False), (20, False)]


def test_a_stream_that_jumps_gives_no_answers_between_and_none_at_its_end():
    run = run_calculator(PacketPresenceCalculator, {"PACKET": [(1, "a"), (5, "b")]}, outputs=["PRESENCE"])

    assert [(p.stamp, p.payload) for p in run.outputs["PRESENCE"]] == [(1, True), (5, True)]


@pytest.mark.reference(
    "calculators/core/packet_presence_calculator_test.cc", "PreviousLoopbackCalculator.CorrectTimestamps"
)
def test_an_answer_comes_as_soon_as_the_timestamp_is_settled():
    plan = wired(
        node(GateCalculator, "value ALLOW:allow", "gated"),
        node(PacketPresenceCalculator, "PACKET:gated", "PRESENCE:presence"),
        inputs="allow value",
    )
    harness = ScheduleHarness(plan).start()
    for i, (timestamp, value, allow) in enumerate([(10, 10, False), (11, 20, True)]):
        harness.add("value", value, timestamp)
        harness.add("allow", allow, timestamp)
        harness.run()
        assert harness.carried("presence")[i:] == [(timestamp, allow)]
    harness.finish()
