"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError
from penstock_calculators.routing.packet_inner_join import PacketInnerJoinCalculator
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

A = [0, 1, 2, 3, 4, 6]
B = [0, 2, 4, 5, 6]
PLAN = wired(node(PacketInnerJoinCalculator, "a b", "x y"), inputs="a b")


def drive(harness):
    harness.start()
    for stream, timestamps in (("b", B), ("a", A)):
        for timestamp in timestamps:
            harness.add(stream, f"{stream}{timestamp}", timestamp)
            harness.step()
    harness.finish()


def test_only_timestamps_with_a_packet_on_every_input_pass_under_every_order():
    carried = explore(PLAN, drive)

    assert carried["x"] == [(t, f"a{t}") for t in (0, 2, 4, 6)]
    assert carried["y"] == [(t, f"b{t}") for t in (0, 2, 4, 6)]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        pytest.param(
            [0, 1, 2, 3],
            [0, 1, 2, 3],
            [0, 1, 2, 3],
            marks=pytest.mark.reference(
                "calculators/core/packet_inner_join_calculator_test.cc",
                "PacketInnerJoinCalculatorTest.AllMatching",
            ),
        ),
        pytest.param(
            [0, 2],
            [1, 3],
            [],
            marks=pytest.mark.reference(
                "calculators/core/packet_inner_join_calculator_test.cc",
                "PacketInnerJoinCalculatorTest.NoneMatching",
            ),
        ),
        pytest.param(
            [0, 1, 2, 3, 4, 6],
            [0, 2, 4, 5, 6],
            [0, 2, 4, 6],
            marks=pytest.mark.reference(
                "calculators/core/packet_inner_join_calculator_test.cc",
                "PacketInnerJoinCalculatorTest.SomeMatching",
            ),
        ),
    ],
)
def test_packets_with_a_partner_keep_payload_and_timestamp(first, second, joined):
    run = run_calculator(
        PacketInnerJoinCalculator,
        {0: [(t, t) for t in first], 1: [(t, t) for t in second]},
        outputs=[0, 1],
    )

    for packets in run.outputs.values():
        assert [(packet.stamp, packet.payload) for packet in packets] == [(t, t) for t in joined]


def test_a_packet_without_a_partner_is_dropped_and_its_timestamp_settled():
    harness = ScheduleHarness(PLAN, bounds_of="xy")
    drive(harness)

    assert [reader.dropped for s in "ab" for reader in harness.stream(s).readers] == [
        {"not in every input": 2},
        {"not in every input": 1},
    ]
    assert [t for t, payload in harness.carried("x") if payload is None] == [1, 3, 5]


@pytest.mark.parametrize(("inputs", "outputs"), [({}, []), ({0: [], 1: []}, [0]), ({0: []}, [0, 1])])
def test_inputs_and_outputs_must_be_as_many(inputs, outputs):
    with pytest.raises(
        GraphConfigError,
        match=f"the inner join has {len(inputs)} untagged inputs and {len(outputs)} untagged out|no ports",
    ):
        run_calculator(PacketInnerJoinCalculator, inputs, outputs=outputs)
