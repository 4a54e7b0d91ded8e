"""RoomCalibration: thresholds and calibrations by name, from several threads."""

from __future__ import annotations

import concurrent.futures

import pytest

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock_room_sensors.calibration import (
    CALIBRATION,
    RoomCalibration,
    RoomThresholds,
    SensorCalibration,
)

CINEMA = RoomThresholds(loud_from_db=95.0, dark_below_lux=1)
NOISY = SensorCalibration(gain=0.5, offset=-1.0, noise_variance=4.0)


def test_rooms_and_sensors_without_a_name_have_the_defaults():
    calibration = RoomCalibration()

    assert calibration.thresholds_of("") == RoomThresholds(loud_from_db=70.0, dark_below_lux=50)
    assert calibration.of("") == SensorCalibration(gain=1.0, offset=0.0, noise_variance=1.0)


def test_the_key_makes_an_empty_calibration_for_a_graph_without_one():
    made = CALIBRATION.create()

    assert isinstance(made, RoomCalibration)
    assert (dict(made.rooms), dict(made.sensors)) == ({"": RoomThresholds()}, {"": SensorCalibration()})
    assert CALIBRATION.create() is not made


def test_given_values_are_found_by_name_and_the_defaults_may_be_given_too():
    calibration = RoomCalibration({"cinema": CINEMA, "": CINEMA}, {"door": NOISY})

    assert calibration.thresholds_of("cinema") is calibration.thresholds_of("") is CINEMA
    assert calibration.of("door") is NOISY


def test_a_reading_is_corrected_by_gain_and_offset():
    assert NOISY.corrected(20) == 9.0


def test_a_table_that_was_read_before_a_change_stays_unchanged():
    calibration = RoomCalibration()
    rooms, sensors = calibration.rooms, calibration.sensors

    calibration.set_thresholds("cinema", CINEMA)
    calibration.calibrate("door", NOISY)

    assert (list(rooms), list(sensors)) == ([""], [""])
    assert (calibration.thresholds_of("cinema"), calibration.of("door")) == (CINEMA, NOISY)
    with pytest.raises(TypeError):
        calibration.rooms["kitchen"] = CINEMA


def test_changes_from_many_threads_are_all_kept():
    calibration = RoomCalibration()

    def change(number):
        for each in range(50):
            calibration.calibrate(f"{number}/{each}", SensorCalibration(offset=each))
            calibration.set_thresholds(f"{number}/{each}", CINEMA)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(change, number) for number in range(4)]:
            done.result()

    assert len(calibration.sensors) == len(calibration.rooms) == 201
    assert calibration.of("3/49").offset == 49


def test_an_unknown_name_is_refused_with_the_known_ones():
    calibration = RoomCalibration(sensors={"window": NOISY, "door": NOISY})

    with pytest.raises(NotFoundError) as sensor:
        calibration.of("dor")
    with pytest.raises(NotFoundError) as room:
        calibration.thresholds_of("hall")

    assert str(sensor.value) == (
        "no sensor 'dor' is calibrated (did you mean 'door'?); known are: 'door', 'window'; add it with "
        "RoomCalibration.calibrate, and pass that to graph.set_service(CALIBRATION, ...)"
    )
    assert str(room.value).startswith(
        "no room 'hall' is calibrated; known are: none; add it with RoomCalibration."
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SensorCalibration(noise_variance=0.0),
            "noise_variance is 0.0, but must be above 0 and finite",
        ),
        (
            lambda: SensorCalibration(noise_variance=float("inf")),
            "noise_variance is inf, but must be above 0",
        ),
        (lambda: SensorCalibration(gain=0.0), "gain is 0, but every reading would be the same then"),
        (
            lambda: SensorCalibration(offset=float("nan")),
            "SensorCalibration: offset is nan, but must be finite",
        ),
        (
            lambda: RoomThresholds(loud_from_db=float("inf")),
            "RoomThresholds: loud_from_db is inf, but must be",
        ),
    ],
)
def test_numbers_out_of_range_are_refused(make, message):
    with pytest.raises(InvalidArgumentError, match=message):
        make()
