"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError
from penstock_calculators.routing.mux import MuxCalculator
from penstock_calculators.routing.round_robin_demux import RoundRobinDemuxCalculator
from penstock_stream_handlers.mux import MuxInputStreamHandler
from penstock_testing import ScheduleHarness, node, run_calculator, wired

PACKETS = [(10, "a"), (20, "b"), (30, "c"), (40, "d"), (50, "e")]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def test_packets_are_distributed_in_turn():
    run = run_calculator(
        RoundRobinDemuxCalculator, {0: PACKETS}, outputs=["OUTPUT:0", "OUTPUT:1", "OUTPUT:2", "SELECT"]
    )

    assert values(run.outputs["OUTPUT:0"]) == [(10, "a"), (40, "d")]
    assert values(run.outputs["OUTPUT:1"]) == [(20, "b"), (50, "e")]
    assert values(run.outputs["OUTPUT:2"]) == [(30, "c")]
    assert values(run.outputs["SELECT"]) == [(10, 0), (20, 1), (30, 2), (40, 0), (50, 1)]


def test_the_outputs_whose_turn_it_is_not_are_settled():
    plan = wired(node(RoundRobinDemuxCalculator, "in", "OUTPUT:0:a OUTPUT:1:b"), inputs="in")
    harness = ScheduleHarness(plan, bounds_of="ab").start()
    for timestamp, payload in PACKETS[:3]:
        harness.add("in", payload, timestamp)
        harness.run()

    assert harness.carried("a") == [(10, "a"), (20, None), (30, "c")]
    assert harness.carried("b") == [(10, None), (20, "b"), (30, None)]
    harness.finish()


def test_a_mux_joins_the_distributed_packets_again():
    plan = wired(
        node(RoundRobinDemuxCalculator, "in", "OUTPUT:0:a OUTPUT:1:b SELECT:s"),
        node(MuxCalculator, "INPUT:0:a INPUT:1:b SELECT:s", "OUTPUT:out", handler=MuxInputStreamHandler),
        inputs="in",
    )
    harness = ScheduleHarness(plan).start()
    for timestamp, payload in PACKETS:
        harness.add("in", payload, timestamp)
    harness.finish()

    assert harness.carried("out") == PACKETS


def test_a_demux_without_outputs_is_refused():
    with pytest.raises(GraphConfigError, match="the round-robin demux has no output OUTPUT"):
        run_calculator(RoundRobinDemuxCalculator, {0: []}, outputs=["SELECT"])
