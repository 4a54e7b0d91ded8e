"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock_calculators.messages.packet_cloner_pb2 import PacketClonerCalculatorOptions
from penstock_calculators.routing.packet_cloner import PacketClonerCalculator
from penstock_testing import run_calculator

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
