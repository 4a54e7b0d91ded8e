"""RoomPresenceCalculator: which sensors vote, and how many votes are needed."""

from __future__ import annotations

import pytest

import penstock
from penstock_room_sensors.calibration import CALIBRATION, RoomCalibration
from penstock_room_sensors.messages.options_pb2 import RoomPresenceCalculatorOptions
from penstock_room_sensors.room_presence import RoomPresence
from penstock_testing import check_calculator, run_calculator

S = 1_000_000
LOUD, QUIET = 80.0, 40.0
BRIGHT, DARK = 300, 10


def presence(ticks, loudness=((),), brightness=((),), **options):
    """Return the verdicts, and the counters; `loudness` and `brightness` are lists of sensors' readings."""
    inputs = {"TICK": [(at, "frame") for at in ticks]}
    inputs |= {("LOUDNESS", index): list(readings) for index, readings in enumerate(loudness)}
    inputs |= {("BRIGHTNESS", index): list(readings) for index, readings in enumerate(brightness)}
    run = run_calculator(
        "RoomPresenceCalculator",
        inputs,
        outputs=["PRESENCE"],
        options=RoomPresenceCalculatorOptions(**options),
    )
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs["PRESENCE"]], run.counters


@pytest.mark.parametrize(
    ("loudness", "brightness", "votes"),
    [(LOUD, BRIGHT, 2), (LOUD, DARK, 1), (QUIET, BRIGHT, 1), (QUIET, DARK, 0), (70.0, 50, 2), (69.9, 49, 0)],
)
@pytest.mark.parametrize("needed", [1, 2])
def test_a_loud_room_and_a_bright_room_are_a_vote_each(loudness, brightness, votes, needed):
    verdicts, _ = presence([5], [[(1, loudness)]], [[(2, brightness)]], votes=needed)

    assert verdicts == [(5, RoomPresence(votes >= needed, votes, 2))]


def test_every_tick_has_a_verdict_by_the_last_readings():
    verdicts, _ = presence([1, 3, 5], [[(1, LOUD), (2, QUIET)]], [[(1, DARK), (5, BRIGHT)]])

    assert [(at, one.is_occupied) for at, one in verdicts] == [(1, True), (3, False), (5, True)]


def test_a_sensor_that_has_failed_does_not_keep_the_room_occupied():
    verdicts, _ = presence([10 * S, 10 * S + 1], [[(0, LOUD)]], [[(0, DARK), (10 * S, DARK)]])

    assert verdicts == [(10 * S, RoomPresence(True, 1, 2)), (10 * S + 1, RoomPresence(False, 0, 1))]


def test_with_too_few_fresh_readings_nothing_is_sent_and_the_tick_is_counted():
    verdicts, counters = presence([1, 2, 9], [[(1, LOUD)]], [[(2, BRIGHT)]], votes=2, max_age=3)

    assert verdicts == [(2, RoomPresence(True, 2, 2))]
    assert counters == {"undecided": 2}


def test_two_of_three_microphones_are_enough_or_not_enough():
    verdicts, _ = presence([5, 6], [[(5, LOUD)], [(5, LOUD), (6, QUIET)], [(5, QUIET)]], [], votes=2)

    assert verdicts == [(5, RoomPresence(True, 2, 3)), (6, RoomPresence(False, 1, 3))]


@pytest.mark.parametrize(
    ("votes", "sensors", "message"),
    [
        (0, 1, "votes is 0, but must be 1 up to the number of sensors, 1; change it in"),
        (3, 2, "votes is 3, but must be 1 up to the number of sensors, 2; change it in"),
        (1, 0, "votes is 1, but must be 1 up to the number of sensors, 0; change it in"),
    ],
)
def test_impossible_numbers_of_votes_are_refused_when_the_graph_is_loaded(votes, sensors, message):
    with pytest.raises(penstock.GraphConfigError, match=message):
        presence([1], [[]] * sensors, [], votes=votes)


def test_a_negative_age_ends_the_run_with_the_node():
    with pytest.raises(
        penstock.PenstockError,
        match="node 'RoomPresenceCalculator': max_age of fresh readings is -1, but must be",
    ):
        presence([1], [[]], [], max_age=-1)


def test_it_follows_the_rules_for_calculators():
    shown = check_calculator("RoomPresenceCalculator", services={CALIBRATION: RoomCalibration()})

    assert shown.packets_out > 0
