"""LogicCalculator: bools joined."""

from __future__ import annotations

from itertools import product

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_calculators.messages.logic_pb2 import LogicCalculatorOptions
from penstock_calculators.values.logic import LogicCalculator
from penstock_testing import run_calculator

EVERY = list(product([False, True], repeat=3))
RULES = {"AND": all, "OR": any, "XOR": lambda values: sum(values) % 2 == 1}


def joined(streams, sides=(), **options):
    run = run_calculator(
        LogicCalculator,
        {
            i: [(t, value) for t, value in enumerate(values) if value is not None]
            for i, values in enumerate(streams)
        },
        outputs=[0],
        side_packets=dict(enumerate(sides)),
        options=LogicCalculatorOptions(**options),
    )
    assert [int(packet.timestamp) for packet in run.outputs[0]] == list(range(len(streams[0])))
    return [packet.payload for packet in run.outputs[0]]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("op", RULES)
def test_streams_are_joined_at_each_timestamp(op, negate):
    found = joined(list(zip(*EVERY, strict=True)), op=op, negate=negate)

    assert found == [RULES[op](values) != negate for values in EVERY]


@pytest.mark.parametrize("op", RULES)
@pytest.mark.parametrize(("one", "side", "option"), EVERY)
def test_side_packets_and_options_count_like_streams(op, one, side, option):
    assert joined([[one]], [side], op=op, input_value=[option]) == [RULES[op]([one, side, option])]


def test_without_options_all_must_be_true():
    assert joined([[True, True], [True, False]]) == [True, False]


def test_an_input_without_a_packet_is_refused():
    with pytest.raises(
        GraphRunError,
        match="logic operation's input 'in_1' has no packet at timestamp 1, but others have one",
    ):
        joined([[True, True], [True, None]])


def test_an_input_is_needed():
    with pytest.raises(
        GraphConfigError, match="the logic operation has 0 untagged inputs, but its result has their"
    ):
        run_calculator(LogicCalculator, {}, outputs=[0], options=LogicCalculatorOptions(input_value=[True]))
