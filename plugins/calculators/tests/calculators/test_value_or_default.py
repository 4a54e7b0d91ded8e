"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError
from penstock_calculators.routing.value_or_default import ValueOrDefaultCalculator
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

TICKS = [0, 1, 5, 8, 12, 231]
VALUES = [(1, 1), (5, 2), (12, 3)]
LINE = node(ValueOrDefaultCalculator, "IN:v TICK:t", "OUT:out FLAG:flag", side_inputs="d")


def drive(harness):
    harness.start()
    for timestamp, value in VALUES:
        harness.add("v", value, timestamp)
        harness.step()
    for timestamp in TICKS:
        harness.add("t", "tick", timestamp)
        harness.step()
    harness.add("v", "lost", 230)
    harness.finish()
    dropped.append(harness.stream("v").readers[0].dropped)


dropped: list[dict[str, int]] = []


def test_each_tick_has_a_value_under_every_order():
    dropped.clear()
    carried = explore(wired(LINE, inputs="v t"), drive, seeds=range(12), side_packets={"d": "default"})

    assert carried["out"] == [(0, "default"), *VALUES[:2], (8, "default"), VALUES[2], (231, "default")]
    assert carried["flag"] == [(0, True), (8, True), (231, True)]
    assert dropped == [{"no tick": 1}] * 13


def test_a_timestamp_without_a_tick_is_settled():
    harness = ScheduleHarness(wired(LINE, inputs="v t"), bounds_of=["out", "flag"], side_packets={"d": 0})
    harness.start()
    for stream in "vt":
        harness.set_bound(stream, 6)
    harness.run()

    assert harness.carried("out") == harness.carried("flag") == [(5, None)]
    harness.finish()


def test_the_header_of_the_values_is_forwarded():
    run = run_calculator(
        ValueOrDefaultCalculator,
        {"IN": [], "TICK": []},
        outputs=["OUT", "FLAG"],
        side_packets={0: "d"},
        headers={"IN": "header"},
    )

    assert run.headers == {"OUT": "header", "FLAG": None}


@pytest.mark.parametrize("missing", ["OUT", "FLAG"])
def test_both_outputs_must_be_connected(missing):
    outputs = [port for port in ("OUT", "FLAG") if port != missing]

    with pytest.raises(GraphConfigError, match=f"'{missing}'"):
        run_calculator(ValueOrDefaultCalculator, {"IN": [], "TICK": []}, outputs=outputs, side_packets={0: 1})


@pytest.mark.parametrize(
    ("ticks", "stamps", "values", "defaults"),
    [
        pytest.param(
            [0, 1, 2, 5, 8, 12, 33, 231],
            [],
            [0] * 8,
            [0, 1, 2, 5, 8, 12, 33, 231],
            marks=pytest.mark.reference(
                "calculators/core/value_or_default_calculator_test.cc",
                "ValueOrDefaultCalculatorTest.NoInputs",
            ),
        ),
        pytest.param(
            [0, 1, 2, 5, 8, 12, 33, 231],
            [0, 1, 2, 5, 8, 12, 33, 231],
            [1, 2, 3, 4, 5, 6, 7, 8],
            [],
            marks=pytest.mark.reference(
                "calculators/core/value_or_default_calculator_test.cc",
                "ValueOrDefaultCalculatorTest.NeverDefault",
            ),
        ),
        pytest.param(
            [0, 1, 5, 8, 12, 231],
            [1, 5, 12],
            [0, 1, 2, 0, 3, 0],
            [0, 8, 231],
            marks=pytest.mark.reference(
                "calculators/core/value_or_default_calculator_test.cc",
                "ValueOrDefaultCalculatorTest.DefaultAndValues",
            ),
        ),
        pytest.param(
            [1, 2, 5, 8, 12, 33, 231],
            [0, 3, 4, 6, 7, 9, 10, 11, 13, 14, 15, 16, 232],
            [0] * 7,
            [1, 2, 5, 8, 12, 33, 231],
            marks=pytest.mark.reference(
                "calculators/core/value_or_default_calculator_test.cc",
                "ValueOrDefaultCalculatorTest.TimestampsMismatch",
            ),
        ),
        pytest.param(
            [0],
            [],
            [0],
            [0],
            marks=pytest.mark.reference(
                "calculators/core/value_or_default_calculator_test.cc",
                "ValueOrDefaultCalculatorTest.FlagValue",
            ),
        ),
        pytest.param(
            [1, 2, 5, 8, 12, 33, 231],
            [0, 2, 4, 6, 8, 9, 12, 33, 54, 232],
            [0, 2, 0, 5, 7, 8, 0],
            [1, 5, 231],
            marks=pytest.mark.reference(
                "calculators/core/value_or_default_calculator_test.cc",
                "ValueOrDefaultCalculatorTest.FullTest",
            ),
        ),
    ],
)
def test_a_value_counts_only_at_the_time_of_a_tick(ticks, stamps, values, defaults):
    run = run_calculator(
        ValueOrDefaultCalculator,
        {
            "IN": [(timestamp, value) for value, timestamp in enumerate(stamps, 1)],
            "TICK": [(timestamp, False) for timestamp in ticks],
        },
        outputs=["OUT", "FLAG"],
        side_packets={0: 0},
    )

    found = [(packet.stamp, packet.payload) for packet in run.outputs["OUT"]]
    flags = [(packet.stamp, packet.payload) for packet in run.outputs["FLAG"]]
    assert found == list(zip(ticks, values, strict=True))
    assert flags == [(timestamp, True) for timestamp in defaults]
