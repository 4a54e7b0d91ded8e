from __future__ import annotations

import pytest

from penstock import GraphConfigError
from penstock_calculators.lists.make_pair import MakePairCalculator
from penstock_testing import run_calculator


def test_the_packets_of_a_timestamp_come_as_a_tuple_with_an_empty_one_where_there_is_none():
    run = run_calculator(MakePairCalculator, {0: [(1, "a"), (3, "c")], 1: [(1, 1), (2, 2)]}, outputs=[0])

    pairs = [(int(packet.timestamp), packet.payload) for packet in run.outputs[0]]
    assert [(t, one.payload if not one.is_empty() else None) for t, (one, _) in pairs] == [
        (1, "a"),
        (2, None),
        (3, "c"),
    ]
    assert [(t, other.payload if not other.is_empty() else None) for t, (_, other) in pairs] == [
        (1, 1),
        (2, 2),
        (3, None),
    ]
    assert all(type(pair) is tuple for _, pair in pairs)


def test_the_packets_of_a_pair_carry_their_timestamp():
    run = run_calculator(MakePairCalculator, {0: [(4, "a")], 1: [(4, "b")]}, outputs=[0])

    assert [int(packet.timestamp) for packet in run.outputs[0][0].payload] == [4, 4]


@pytest.mark.reference(
    "calculators/core/make_pair_calculator_test.cc", "MakePairCalculatorTest.ProducesExpectedPairs"
)
def test_texts_and_numbers_make_pairs():
    run = run_calculator(
        MakePairCalculator,
        {0: [(1, "first packet"), (5, "second packet")], 1: [(1, 10), (5, 20)]},
        outputs=[0],
    )

    pairs = [
        (packet.stamp, [(one.stamp, one.payload) for one in packet.payload]) for packet in run.outputs[0]
    ]
    assert pairs == [(1, [(1, "first packet"), (1, 10)]), (5, [(5, "second packet"), (5, 20)])]


@pytest.mark.parametrize("count", [1, 3])
def test_a_pair_has_two(count):
    with pytest.raises(GraphConfigError, match=f"there are {count} untagged inputs, but a pair has two"):
        run_calculator(MakePairCalculator, {i: [] for i in range(count)}, outputs=[0])
