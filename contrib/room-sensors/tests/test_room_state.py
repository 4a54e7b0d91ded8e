"""RoomStateCalculator, run alone."""

from __future__ import annotations

import pytest

import penstock
from penstock_room_sensors.calibration import CALIBRATION, RoomCalibration, RoomThresholds
from penstock_room_sensors.room_state import RoomState, RoomStateCalculator
from penstock_testing import check_calculator, run_calculator

QUIET_AND_BRIGHT = RoomState(is_loud=False, is_dark=False)
LOUD_AND_BRIGHT = RoomState(is_loud=True, is_dark=False)
QUIET_AND_DARK = RoomState(is_loud=False, is_dark=True)


def states(loudness, brightness, **kwargs):
    run = run_calculator(
        RoomStateCalculator, {"LOUDNESS": loudness, "BRIGHTNESS": brightness}, outputs=["STATE"], **kwargs
    )
    return [(packet.timestamp, packet.payload) for packet in run.outputs["STATE"]]


def test_there_is_no_state_before_both_sensors_have_reported():
    assert states([(1, 40.0), (2, 90.0)], []) == []


def test_the_first_state_has_the_timestamp_of_the_reading_that_completes_it():
    assert states([(1, 40.0)], [(3, 300)]) == [(3, QUIET_AND_BRIGHT)]


def test_only_a_change_is_sent():
    sent = states([(1, 40.0), (2, 45.5), (3, 90.0), (4, 91.0), (5, 40.0)], [(1, 300), (4, 310)])

    assert sent == [(1, QUIET_AND_BRIGHT), (3, LOUD_AND_BRIGHT), (5, QUIET_AND_BRIGHT)]


def test_readings_of_one_timestamp_change_the_state_once():
    sent = states([(1, 90.0), (2, 40.0)], [(1, 300), (2, 10)])

    assert sent == [(1, LOUD_AND_BRIGHT), (2, QUIET_AND_DARK)]


def test_a_reading_at_the_threshold_is_loud_and_is_not_dark():
    assert states([(1, 70.0)], [(1, 50)]) == [(1, LOUD_AND_BRIGHT)]


def test_the_thresholds_come_from_side_packets():
    side_packets = {"LOUD_FROM_DB": 30.0, "DARK_BELOW_LUX": 1}

    assert states([(1, 40.0)], [(1, 10)], side_packets=side_packets) == [(1, LOUD_AND_BRIGHT)]


GRAPH = """
input_stream: "loudness"
input_stream: "brightness"
input_side_packet: "loud_from"
node {
  calculator: "RoomStateCalculator"
  input_stream: "LOUDNESS:loudness"
  input_stream: "BRIGHTNESS:brightness"
  input_side_packet: "LOUD_FROM_DB:loud_from"
  output_stream: "STATE:state"
  node_options {
    [type.googleapis.com/penstock_room_sensors.RoomStateCalculatorOptions] { room: "cinema" }
  }
}
"""


def states_in_a_cinema(calibration, side_packets):
    """Return the states that a graph sends for readings of 90 dB and 10 lux."""
    seen = []
    with penstock.CalculatorGraph(GRAPH) as graph:
        graph.set_service(CALIBRATION, calibration)
        graph.observe_output_stream("state", lambda _, packet: seen.append(packet.payload))
        graph.start_run(side_packets)
        graph.add_packet_to_input_stream("loudness", penstock.Packet(90.0, 1))
        graph.add_packet_to_input_stream("brightness", penstock.Packet(10, 1))
    return seen


def test_the_thresholds_of_its_room_come_from_the_calibration_and_a_side_packet_overrides_them():
    calibration = RoomCalibration({"cinema": RoomThresholds(loud_from_db=95.0, dark_below_lux=1)})

    assert states_in_a_cinema(calibration, {}) == [QUIET_AND_BRIGHT]
    assert states_in_a_cinema(calibration, {"loud_from": 80.0}) == [LOUD_AND_BRIGHT]


def test_an_unknown_room_ends_the_run_and_the_error_names_the_known_ones():
    calibration = RoomCalibration({"cinemas": RoomThresholds()})

    with pytest.raises(
        penstock.GraphRunError, match=r"no room 'cinema' is calibrated \(did you mean 'cinemas'\?\)"
    ):
        states_in_a_cinema(calibration, {})


def test_a_missing_sensor_is_refused():
    with pytest.raises(penstock.PenstockError, match="BRIGHTNESS"):
        run_calculator(RoomStateCalculator, {"LOUDNESS": [(1, 40.0)]}, outputs=["STATE"])


def test_it_follows_the_rules_for_calculators():
    check_calculator(RoomStateCalculator, services={CALIBRATION: RoomCalibration()})
