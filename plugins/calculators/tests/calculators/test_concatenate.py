"""Joined lists of several streams. Expected values from the reference's description and runs of it."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError, Packet
from penstock.errors import PacketTypeError
from penstock_calculators.lists.concatenate import (
    ConcatenateFloatVectorCalculator,
    ConcatenateInt32VectorCalculator,
    ConcatenateLandmarkVectorCalculator,
    ConcatenateNormalizedLandmarkListCalculator,
)
from penstock_calculators.messages.concatenate_pb2 import ConcatenateVectorCalculatorOptions
from penstock_formats import NormalizedLandmark, NormalizedLandmarkList
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

ALL = ConcatenateVectorCalculatorOptions(only_emit_if_all_present=True)


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def landmarks(*xs):
    return NormalizedLandmarkList(landmark=[NormalizedLandmark(x=x) for x in xs])


def concatenate(first, second, options=None, calculator=ConcatenateFloatVectorCalculator):
    run = run_calculator(calculator, {0: first, 1: second}, outputs=[0], options=options)
    return values(run.outputs[0])


def test_lists_are_joined_in_the_order_of_the_inputs_and_missing_ones_left_out():
    first, second = [(1, [1.0, 2.0]), (2, [4.0])], [(1, [3.0]), (3, [])]

    assert concatenate(first, second) == [(1, [1.0, 2.0, 3.0]), (2, [4.0]), (3, [])]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (1.0, [2.0, 3.0], [1.0, 2.0, 3.0]),
        ([2.0, 3.0], 1.0, [2.0, 3.0, 1.0]),
        (1.0, 2.0, [1.0, 2.0]),
        (0.0, [], [0.0]),
    ],
)
def test_an_input_holds_single_elements_or_lists(first, second, joined):
    assert concatenate([(1, first)], [(1, second)]) == [(1, joined)]


def test_only_a_bound_comes_where_an_input_is_missing_if_the_option_says_so():
    plan = wired(node(ConcatenateFloatVectorCalculator, "a b", "o", options=[ALL]), inputs="a b")
    harness = ScheduleHarness(plan, bounds_of=["o"]).start()
    for timestamp in (1, 2, 3):
        harness.add("a", [float(timestamp)], timestamp)
    for timestamp in (1, 3):
        harness.add("b", 0.5, timestamp)
        harness.run()

    (first,), (second,) = harness.stream("a").readers, harness.stream("b").readers
    assert harness.carried("o") == [(1, [1.0, 0.5]), (2, None), (3, [3.0, 0.5])]
    assert (first.delivered, first.dropped) == (2, {"an input had no packet": 1})
    assert (second.delivered, second.dropped) == (2, {})
    harness.finish()


def test_without_the_option_no_packet_counts_as_dropped():
    harness = ScheduleHarness(wired(node(ConcatenateFloatVectorCalculator, "a b", "o"), inputs="a b")).start()
    harness.add("a", [1.0], 1)
    harness.finish()

    (first,) = harness.stream("a").readers
    assert (first.delivered, first.dropped) == (1, {})


def test_an_empty_packet_makes_no_list():
    harness = ScheduleHarness(
        wired(node(ConcatenateFloatVectorCalculator, "a b", "o"), inputs="a b"), bounds_of=["o"]
    ).start()
    for stream, payload, timestamp in [
        ("a", None, 1), ("b", None, 1), ("a", None, 5), ("b", [1.0], 7), ("a", [2.0], 8),
    ]:  # fmt: skip
        harness.add_packet(
            stream, Packet(timestamp=timestamp) if payload is None else Packet(payload, timestamp)
        )
        harness.run()
    harness.finish()

    assert harness.carried("o")[:4] == [(1, None), (5, None), (7, [1.0]), (8, [2.0])]


def test_the_list_is_a_new_one_and_its_elements_are_the_same():
    one, many = NormalizedLandmark(x=1), [NormalizedLandmark(x=2)]

    ((_, joined),) = concatenate([(1, one)], [(1, many)], calculator=ConcatenateLandmarkVectorCalculator)

    assert joined is not many
    assert joined[0] is one
    assert joined[1] is many[0]


def test_messages_are_joined_into_a_new_one():
    first, second = landmarks(0.25, 0.5), landmarks(0.75)

    joined = concatenate(
        [(1, first), (2, landmarks())],
        [(1, second), (3, second)],
        calculator=ConcatenateNormalizedLandmarkListCalculator,
    )

    assert joined == [(1, landmarks(0.25, 0.5, 0.75)), (2, landmarks()), (3, second)]
    assert first == landmarks(0.25, 0.5)
    assert joined[2][1] is not second


def test_messages_too_wait_for_all_if_the_option_says_so():
    joined = concatenate(
        [(1, landmarks(0.25)), (2, landmarks(0.5))],
        [(2, landmarks())],
        ALL,
        ConcatenateNormalizedLandmarkListCalculator,
    )

    assert joined == [(2, landmarks(0.5))]


def test_the_output_does_not_depend_on_the_order_of_arrival():
    plan = wired(node(ConcatenateFloatVectorCalculator, "a b", "o"), inputs="a b")

    def drive(harness):
        harness.start()
        for stream, timestamps in [("a", (1, 2, 4)), ("b", (2, 3, 4))]:
            for timestamp in timestamps:
                harness.add(stream, [float(timestamp)], timestamp)
                harness.step()
        harness.finish()

    assert explore(plan, drive)["o"] == [(1, [1.0]), (2, [2.0, 2.0]), (3, [3.0]), (4, [4.0, 4.0])]


@pytest.mark.parametrize(
    ("calculator", "payload", "message"),
    [
        (ConcatenateFloatVectorCalculator, "1", r"'str'.*float"),
        (ConcatenateInt32VectorCalculator, 1.5, r"'float'.*int"),
        (ConcatenateInt32VectorCalculator, True, r"'bool'.*int"),
        (ConcatenateNormalizedLandmarkListCalculator, NormalizedLandmark(), "NormalizedLandmark"),
    ],
)
def test_a_packet_of_another_type_is_refused(calculator, payload, message):
    with pytest.raises(PacketTypeError, match=message):
        run_calculator(calculator, {0: [(1, payload)]}, outputs=[0])


def test_a_list_of_other_elements_is_refused():
    with pytest.raises(GraphRunError, match=r"'in_1': element 1 of the list is a 'float', not a 'int'"):
        concatenate([(1, 1)], [(1, [2, 0.5])], calculator=ConcatenateInt32VectorCalculator)


def test_a_calculator_without_inputs_is_refused():
    with pytest.raises(GraphConfigError, match="input"):
        run_calculator(ConcatenateFloatVectorCalculator, {}, outputs=[0])
