"""RandomWalkFilter against sums, and against Kalman's equations written out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock_room_sensors.kalman import Estimate, RandomWalkFilter

readings = st.tuples(st.floats(-1e3, 1e3), st.floats(1e-2, 1e2))


def estimate_of(taken, drift=0.0, seconds=0.0):
    followed = RandomWalkFilter(drift)
    for reading, variance in taken:
        followed.wait(seconds)
        assert followed.take(reading, variance)
    return followed.estimate


def test_there_is_no_estimate_before_the_first_reading_however_long_it_takes():
    followed = RandomWalkFilter(drift_variance_per_s=1.0)
    followed.wait(3600.0)

    assert followed.estimate is None


def test_the_first_reading_is_the_estimate():
    assert estimate_of([(21.5, 0.25)]) == Estimate(21.5, 0.25)


@settings(max_examples=60)
@given(st.lists(readings, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_without_drift_it_is_the_mean_weighted_by_the_inverse_variance_in_any_order(taken, order):
    weight = math.fsum(1 / variance for _, variance in taken)
    mean = math.fsum(reading / variance for reading, variance in taken) / weight
    order.shuffle(taken)

    found = estimate_of(taken)

    assert found.variance == pytest.approx(1 / weight, rel=1e-9)
    assert found.value == pytest.approx(mean, rel=1e-9, abs=1e-7)


@settings(max_examples=60)
@given(st.lists(st.tuples(readings, st.floats(0, 100)), min_size=1, max_size=12), st.floats(0, 10, width=32))
def test_with_drift_it_follows_the_equations_of_the_filter(steps, drift):
    followed = RandomWalkFilter(drift)
    x = p = None
    for (z, r), seconds in steps:
        followed.wait(seconds)
        followed.take(z, r)
        if p is None:
            x, p = z, r
        else:
            p += drift * seconds
            k = p / (p + r)
            x, p = x + k * (z - x), (1 - k) * p

    assert followed.estimate.value == pytest.approx(x, rel=1e-6, abs=1e-6)
    assert followed.estimate.variance == pytest.approx(p, rel=1e-6)


def test_time_increases_the_variance_and_keeps_the_value():
    followed = RandomWalkFilter(drift_variance_per_s=0.5)
    followed.take(20.0, 1.0)
    followed.wait(4.0)

    assert followed.estimate == Estimate(20.0, 3.0)


def test_after_an_infinite_time_the_estimate_is_the_next_reading():
    followed = RandomWalkFilter(drift_variance_per_s=1e300)
    followed.take(1e308, 1.0)
    followed.wait(1e13)
    followed.take(-1e308, 2.0)

    assert followed.estimate == Estimate(-1e308, 2.0)


@pytest.mark.parametrize("reading", [math.nan, math.inf, -math.inf])
def test_a_reading_that_is_not_finite_is_refused_and_changes_nothing(reading):
    followed = RandomWalkFilter()

    assert not followed.take(reading, 1.0)
    assert followed.estimate is None
    followed.take(20.0, 1.0)
    assert not followed.take(reading, 1.0)
    assert followed.estimate == Estimate(20.0, 1.0)


@pytest.mark.parametrize(
    ("reading", "is_used"), [(20.0 + 6.0, True), (20.0 + 6.01, False), (20.0 - 6.01, False)]
)
def test_the_gate_counts_standard_deviations_of_estimate_and_reading_together(reading, is_used):
    followed = RandomWalkFilter(gate_sigmas=3.0)
    followed.take(20.0, 1.0)  # with a reading of variance 3 the expected deviation is 2

    assert followed.take(reading, 3.0) is is_used
    assert (followed.estimate == Estimate(20.0, 1.0)) is not is_used


def test_with_drift_a_gate_opens_again_in_time():
    followed = RandomWalkFilter(drift_variance_per_s=1.0, gate_sigmas=3.0)
    followed.take(20.0, 1.0)
    assert not followed.take(30.0, 1.0)

    followed.wait(10.0)
    assert followed.take(30.0, 1.0)
