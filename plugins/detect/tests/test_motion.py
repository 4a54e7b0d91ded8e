"""The filter of boxes: it finds speeds, and knows no frames."""

from __future__ import annotations

import numpy as np
import pytest

from penstock_detect.tracking.motion import begun, observed, predicted, seen_again, unseen

BOX = np.array([[0.1, 0.2, 0.3, 0.6]])


def moved(seconds, speed=(0.1, -0.05)):
    x, y = seconds * speed[0], seconds * speed[1]
    return BOX + np.array([x, y, x, y])


def followed(times, box=moved):
    motion, before = begun(box(times[0])), times[0]
    for time in times[1:]:
        motion = observed(predicted(motion, time - before), box(time))
        before = time
    return motion


@pytest.mark.parametrize(
    "times", [np.arange(0, 2, 0.04), np.arange(0, 2, 0.2), np.cumsum([0.01, 0.2, 0.05, 0.4, 0.03] * 4)]
)
def test_a_speed_is_found_at_any_rate(times):
    motion = followed(times)

    assert motion.speed[0, :2] == pytest.approx((0.1, -0.05), rel=0.03)
    assert motion.speed[0, 2:] == pytest.approx((0, 0), abs=1e-3)
    assert predicted(motion, 0.5).corners()[0] == pytest.approx(moved(times[-1] + 0.5)[0], abs=5e-3)


def test_two_steps_are_one():
    motion = followed([0, 0.1, 0.2])

    once, twice = predicted(motion, 0.3), predicted(predicted(motion, 0.1), 0.2)

    for one, other in zip(once, twice, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_numbers_are_those_of_the_matrices_of_the_textbook():
    """x = F x, P = F P F' + Q; K = P H' / (H P H' + R), for the first of the four numbers."""
    width, seconds = 0.2, 0.1
    f = np.array([[1, seconds], [0, 1]])
    q = (1.5 * width) ** 2 * np.array([[seconds**3 / 3, seconds**2 / 2], [seconds**2 / 2, seconds]])
    x, p = np.array([0.2, 0.0]), np.diag([(0.05 * width) ** 2, (2 * width) ** 2])
    for at in (0.1, 0.2, 0.3):
        x, p = f @ x, f @ p @ f.T + q
        gain = p[:, 0] / (p[0, 0] + (0.05 * width) ** 2)
        x, p = x + gain * (0.2 + 0.1 * at - x[0]), p - np.outer(gain, p[0])

    motion = followed([0, 0.1, 0.2, 0.3])

    assert (motion.place[0, 0], motion.speed[0, 0]) == pytest.approx(tuple(x), rel=1e-9)
    assert motion.spread[:, 0, 0] == pytest.approx((p[0, 0], p[0, 1], p[1, 1]), rel=1e-9)


def test_the_size_of_a_covered_box_stays():
    def growing(time):
        return BOX + np.array([-0.05, -0.05, 0.05, 0.05]) * time

    motion = followed(np.arange(0, 1, 0.1), growing)

    assert motion.speed[0, 2] > 0.05
    covered = predicted(unseen(motion, np.array([0])), 1.0)
    assert covered.place[0, 2:] == pytest.approx(motion.place[0, 2:])


def test_a_size_is_never_predicted_below_nothing():
    def shrinking(time):
        return BOX + np.array([0.19, 0.19, 0, 0]) * time

    motion = predicted(followed(np.arange(0, 0.9, 0.1), shrinking), 3.0)

    assert (motion.place[0, 2:] > 0).all()


def test_a_track_that_is_seen_again_was_on_a_straight_line():
    motion = followed(np.arange(0, 1.01, 0.1))  # then it turns, while it is covered
    last, now = moved(1.0), moved(1.0) + np.array([-0.2, 0.1, -0.2, 0.1])

    again = seen_again(motion, last, now, 2.0, 20)

    assert again.speed[0, :2] == pytest.approx((-0.1, 0.05), rel=0.05)
    plain = observed(predicted(motion, 2.0), now)
    assert abs(plain.speed[0, 0] + 0.1) > 2 * abs(again.speed[0, 0] + 0.1)


def test_pixels_and_fractions_move_alike():
    scale = np.array([1280, 720] * 2)
    some = followed([0, 0.1, 0.3])
    others = followed([0, 0.1, 0.3], lambda time: moved(time) * scale)

    np.testing.assert_allclose(some.corners() * scale, others.corners(), rtol=1e-12)
