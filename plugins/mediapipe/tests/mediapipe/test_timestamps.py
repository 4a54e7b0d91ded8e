"""Timestamps with the values that MediaPipe's own tests give them."""

from __future__ import annotations

import time

import pytest

from penstock_mediapipe import Timestamp


@pytest.mark.reference(
    "python/timestamp_test.py",
    "TimestampTest.test_timestamp",
    "TimestampTest.test_timestamp_copy_constructor",
)
def test_a_timestamp_has_a_value_a_text_and_copies():
    made = Timestamp(100)

    assert made.value == 100
    assert made == 100
    assert str(made) == "<mediapipe.Timestamp with value: 100>"
    assert Timestamp(made) == made
    assert Timestamp(made) is not made


@pytest.mark.reference(
    "python/timestamp_test.py",
    "TimestampTest.test_timestamp_comparsion",
    "TimestampTest.test_timestamp_comparisons",
)
def test_timestamps_are_ordered_by_their_values():
    first, again, second = Timestamp(100), Timestamp(100), Timestamp(101)

    assert first == again
    assert first != Timestamp(200)
    assert first != second
    assert not first == second  # noqa: SIM201  # the operator is tested
    assert second > first
    assert second >= first
    assert first < second
    assert first <= second
    assert not second < first
    assert not second <= first


@pytest.mark.reference("python/timestamp_test.py", "TimestampTest.test_timestamp_special_values")
@pytest.mark.parametrize("name", ["UNSET", "UNSTARTED", "PRESTREAM", "MIN", "MAX", "POSTSTREAM", "DONE"])
def test_a_special_timestamp_shows_its_name(name):
    assert str(getattr(Timestamp, name)) == f"<mediapipe.Timestamp with value: {name}>"


@pytest.mark.reference("python/timestamp_test.py", "TimestampTest.test_from_seconds")
def test_seconds_come_back():
    now = time.time()

    assert Timestamp.from_seconds(now).seconds() == pytest.approx(now, abs=1e-6)


def test_seconds_are_rounded_half_away_from_zero():
    found = [Timestamp.from_seconds(micros / 1e6).value for micros in (1.9, -1.9, 2.5, -2.5, 0.4, 3)]

    assert found == [2, -2, 3, -3, 0, 3]
    with pytest.raises(ValueError, match="out of range"):
        Timestamp.from_seconds(1e30)
    with pytest.raises(TypeError, match=r"mp.Timestamp.from_seconds\('3'\): the seconds must be a number"):
        Timestamp.from_seconds("3")


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_a_number_of_more_than_64_bits_is_refused(value):
    with pytest.raises(TypeError, match=rf"mp.Timestamp\({value}\) must be an int from"):
        Timestamp(value)
