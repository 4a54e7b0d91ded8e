"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.messages.sequence_shift_pb2 import SequenceShiftCalculatorOptions
from penstock_calculators.timing.sequence_shift import SequenceShiftCalculator
from penstock_testing import ScheduleHarness, node, run_calculator, wired

PACKETS = [(t, t) for t in range(10)]


def options(offset=None, **fields):
    if offset is not None:
        fields["packet_offset"] = offset
    return SequenceShiftCalculatorOptions(**fields)


def shifted(given=None, **arguments):
    run = run_calculator(SequenceShiftCalculator, {0: PACKETS}, outputs=[0], options=given, **arguments)
    return [(packet.stamp, packet.payload) for packet in run.outputs[0]]


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        pytest.param(
            3,
            list(zip(range(3, 10), range(7), strict=True)),
            marks=pytest.mark.reference(
                "calculators/core/sequence_shift_calculator_test.cc",
                "SequenceShiftCalculatorTest.PositiveShift",
            ),
        ),
        pytest.param(
            -2,
            list(zip(range(8), range(2, 10), strict=True)),
            marks=pytest.mark.reference(
                "calculators/core/sequence_shift_calculator_test.cc",
                "SequenceShiftCalculatorTest.NegativeShift",
            ),
        ),
        pytest.param(
            0,
            PACKETS,
            marks=pytest.mark.reference(
                "calculators/core/sequence_shift_calculator_test.cc", "SequenceShiftCalculatorTest.ZeroShift"
            ),
        ),
        (10, []),
        (-10, []),
        (None, list(zip(range(9), range(1, 10), strict=True))),
    ],
)
def test_packets_get_the_timestamps_of_others(offset, expected):
    assert shifted(options(offset)) == expected


@pytest.mark.reference(
    "calculators/core/sequence_shift_calculator_test.cc", "SequenceShiftCalculatorTest.SidePacketOffset"
)
def test_the_side_packet_replaces_the_option():
    shifted_by_two = list(zip(range(8), range(2, 10), strict=True))
    assert shifted(side_packets={"PACKET_OFFSET": -2}) == shifted_by_two
    assert shifted(options(3), side_packets={"PACKET_OFFSET": -2}) == shifted(options(-2))


@pytest.mark.parametrize(("offset", "count"), [(3, 3), (-2, 2), (0, 0)])
def test_packets_without_a_new_timestamp_are_counted_as_dropped(offset, count):
    plan = wired(node(SequenceShiftCalculator, "in", "out", options=[options(offset)]), inputs="in")
    harness = ScheduleHarness(plan).start()
    for timestamp, payload in PACKETS:
        harness.add("in", payload, timestamp)
    harness.finish()

    (reader,) = harness.stream("in").readers
    assert reader.dropped == ({"no packet so far away": count} if count else {})


@pytest.mark.parametrize(("offset", "bounds"), [(0, [5]), (1, []), (-1, [])])
def test_bounds_are_forwarded_only_where_no_packet_is_shifted(offset, bounds):
    plan = wired(node(SequenceShiftCalculator, "in", "out", options=[options(offset)]), inputs="in")
    harness = ScheduleHarness(plan, bounds_of=["out"]).start()
    harness.set_bound("in", 6)
    harness.run()

    assert [timestamp for timestamp, _ in harness.carried("out")] == bounds
    harness.finish()


def test_empty_packets_before_the_first_are_refused_where_there_would_be_some():
    given = options(2, emit_empty_packets_before_first_packet=True)

    with pytest.raises(GraphConfigError, match="not go with a shift by packet_offset 2"):
        shifted(given)
    with pytest.raises(GraphRunError, match="not go with a shift by packet_offset 4"):
        shifted(given, side_packets={"PACKET_OFFSET": 4})
    assert shifted(given, side_packets={"PACKET_OFFSET": 0}) == PACKETS
