"""Which names errors suggest for one that does not exist."""

from __future__ import annotations

import time

import pytest

from penstock.near_names import did_you_mean, near_names

CALCULATORS = [
    "PassThroughCalculator", "MergeCalculator", "PacketThinnerCalculator", "GateCalculator", "MuxCalculator",
    "SwitchMuxCalculator", "RoundRobinDemuxCalculator", "GlScalerCalculator", "Latest", "ThreadPoolExecutor",
]  # fmt: skip
OPTIONS = [
    "penstock.TimeoutOptions",
    "penstock.GateCalculatorOptions",
    "penstock.LatestOptions",
    "my.BlurOptions",
]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("PasThroughCalculator", ["PassThroughCalculator"]),
        ("GateCalculater", ["GateCalculator"]),
        ("passthroughcalculator", ["PassThroughCalculator"]),
        ("Gate", ["GateCalculator"]),
        ("gate", ["GateCalculator"]),
        ("Mux", ["MuxCalculator", "SwitchMuxCalculator", "RoundRobinDemuxCalculator"]),
        ("ThreadPoolExecuter", ["ThreadPoolExecutor"]),
        ("BlurCalculator", []),
        ("GC", []),
        ("", []),
    ],
)
def test_similar_names_are_near_and_names_that_contain_the_word(name, near):
    assert near_names(name, CALCULATORS) == near


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("RunningMaxCalculator", ["LuminanceCalculatorCpu"], []),
        ("LuminancCalculatorCpu", ["LuminanceCalculatorCpu"], ["LuminanceCalculatorCpu"]),
        ("Luminance", ["LuminanceCalculatorCpu"], ["LuminanceCalculatorCpu"]),
        (
            "Inverse",
            ["InverseMatrixCalculator", "PoseLandmarksAndSegmentationInverseProjection"],
            ["InverseMatrixCalculator"],
        ),
    ],
)
def test_a_common_word_or_a_small_part_of_a_long_name_makes_no_names_near(name, known, near):
    assert near_names(name, known) == near


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("penstock.Foo", []),
        ("penstock.FactorOptions", []),
        ("penstock.GateOptions", ["penstock.GateCalculatorOptions"]),
        ("myapp.GateCalculatorOptions", ["penstock.GateCalculatorOptions"]),
        ("penstock.BlurOptions", ["my.BlurOptions"]),
    ],
)
def test_neither_a_package_nor_a_common_ending_makes_names_near(name, near):
    assert near_names(name, OPTIONS) == near


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("bye", ["by"], "by"),
        ("inn", ["in", "out"], "in"),
        ("INTPUT", ["INPUT"], "INPUT"),
        ("poll", ["pool"], "pool"),
    ],
)
def test_one_slip_in_a_short_name_is_near(name, known, near):
    assert near_names(name, known) == [near]


def test_so_many_names_are_suggested_as_asked_for_and_the_best_come_first():
    known = ["frame_rates", "frame_rate", "frame_rated"]

    assert near_names("frame_rat", known, 2) == ["frame_rate", "frame_rates"]
    assert did_you_mean("frame_rat", known, 1) == " (did you mean 'frame_rate'?)"
    assert did_you_mean("zoom", known) == ""


@pytest.mark.timing
def test_thousands_of_long_names_that_are_much_alike_are_compared_in_no_time():
    known = ["_".join(f"s{i}_{number >> i & 1}" for i in range(20)) for number in range(10_000)]
    start = time.process_time()

    assert near_names(f"{known[3]}x", known)[0] == known[3]
    assert time.process_time() - start < 1  # many seconds where all are compared


def test_a_very_long_name_is_compared_with_none():
    assert near_names("a" * 199 + "c", ["a" * 199 + "b"]) == ["a" * 199 + "b"]
    assert near_names("a" * 200 + "c", ["a" * 200 + "b"]) == []


def test_a_name_that_begins_with_what_was_typed_wins_over_one_that_shares_half_of_its_letters() -> None:
    assert near_names("gate", ["Negative", "GateCalculator"]) == ["GateCalculator"]
