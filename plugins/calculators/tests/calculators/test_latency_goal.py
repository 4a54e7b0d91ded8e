"""LatencyGoal on simulated paths: the goal is held, and the rate is near that of one who knows the path."""

from __future__ import annotations

import heapq
import random
from collections import deque

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock_calculators.limiting.latency_goal import WINDOW, Distribution, Frame, LatencyGoal

pytestmark = pytest.mark.heavy

MS = 0.001
CAMERA = {"period_s": 1 / 30, "frames": 900}


class FixedLimit:
    """What one would write who knows the path: a number in flight, and the greatest age of a frame."""

    def __init__(self, in_flight, oldest_s):
        self._most, self._oldest_s = in_flight, oldest_s
        self.in_flight = deque()

    def arrive(self, now_s):
        """Learn nothing."""

    def finish(self, frame, now_s):
        """Learn nothing."""

    def is_too_late(self, arrived_s, now_s):
        return now_s - arrived_s > self._oldest_s

    def may_enter(self, arrived_s, now_s):  # as LatencyGoal has it
        return len(self.in_flight) < self._most

    def release(self, stamp, arrived_s, now_s):
        self.in_flight.append(Frame(stamp, arrived_s, now_s, now_s))


def simulate(  # noqa: PLR0913  # each is one thing that a path can have
    control, stages_s, *, period_s, frames, jitter=0.0, uneven=0.0, seed=0
):
    """Send frames to a path; return (when done, latency) of each that came through.

    Args:
        control: a LatencyGoal or a FixedLimit.
        stages_s: how long each stage takes, one frame at a time.
        period_s, frames: how far apart frames come, and how many.
        jitter: by which share of its time a stage is shorter or longer at most.
        uneven: by which share of the period a frame comes later at most.
        seed: of both.
    """
    chance = random.Random(seed)  # noqa: S311  # a simulation
    free_s = [0.0] * len(stages_s)
    events = [((n + uneven * chance.random()) * period_s, 1, n) for n in range(frames)]
    heapq.heapify(events)
    waiting, done, dropped = None, [], 0
    while events:
        now_s, is_arrival, stamp = heapq.heappop(events)
        if is_arrival:
            control.arrive(now_s)
            dropped += waiting is not None
            waiting = (stamp, now_s)
        else:
            frame = control.in_flight.popleft()
            assert frame.stamp == stamp
            control.finish(frame, now_s)
            done.append((now_s, now_s - frame.arrived_s))
        if waiting is None:
            continue
        if control.is_too_late(waiting[1], now_s):
            waiting, dropped = None, dropped + 1
        elif control.may_enter(waiting[1], now_s):
            control.release(*waiting, now_s)
            at_s = now_s
            for i, stage_s in enumerate(stages_s):
                at_s = max(at_s, free_s[i]) + stage_s * (1 + jitter * chance.uniform(-1, 1))
                free_s[i] = at_s
            heapq.heappush(events, (at_s, 0, waiting[0]))
            waiting = None
    assert len(done) + dropped + (waiting is not None) == frames
    return done


def settled(done, since_s):
    """Return frames per second and the latencies after the first seconds."""
    latencies = [latency_s for at_s, latency_s in done if at_s >= since_s]
    return (len(latencies) / (done[-1][0] - since_s) if latencies else 0.0), latencies


def best_rate(stages_s, goal_s, since_s, **path):
    """Return the highest rate that a FixedLimit reaches with 99 of 100 frames within the goal."""
    best = 0.0
    for most in range(1, len(stages_s) + 3):
        for part in (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8):
            done = simulate(FixedLimit(most, part * goal_s), stages_s, **path)
            rate, latencies = settled(done, since_s)
            if sum(one > goal_s for one in latencies) <= len(latencies) / 100:
                best = max(best, rate)
    return best


@pytest.mark.parametrize(
    ("stages_ms", "goal_ms", "rate"),
    [
        ([36], 80, 27.7),
        ([36], 60, 26),  # some frames are too old when the one before is done
        ([36, 36], 120, 27.7),  # two are in flight
        ([10, 36], 80, 27.7),
        ([36, 10], 80, 27.7),
        ([5], 50, 29.9),
        ([100], 150, 9.9),
    ],
)
def test_the_rate_is_that_of_the_slowest_stage_and_the_goal_is_held(stages_ms, goal_ms, rate):
    goal = LatencyGoal(goal_ms * MS, 8)

    got, latencies = settled(simulate(goal, [one * MS for one in stages_ms], **CAMERA), 2.0)

    assert got >= rate
    assert max(latencies) <= goal_ms * MS + 1e-9
    assert goal.is_held
    assert goal.work_s == pytest.approx(sum(stages_ms) * MS)


def test_a_limit_without_queue_gives_half_of_that():
    rate, latencies = settled(simulate(FixedLimit(1, 0), [36 * MS], **CAMERA), 2.0)

    assert rate == pytest.approx(15, abs=0.2)
    assert max(latencies) == pytest.approx(36 * MS)


def test_work_longer_than_the_goal_goes_on_with_one_in_flight_and_the_newest_frame():
    goal = LatencyGoal(30 * MS, 8)

    rate, latencies = settled(simulate(goal, [36 * MS], **CAMERA), 2.0)

    assert not goal.is_held
    assert rate >= 27.7
    assert max(latencies) <= (36 + 34) * MS


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_the_goal_is_tight_and_times_vary_one_in_a_hundred_frames_is_late(seed):
    path = {"period_s": 1 / 60, "frames": 3000, "jitter": 0.3, "seed": seed}

    rate, latencies = settled(simulate(LatencyGoal(90 * MS, 8), [20 * MS, 36 * MS], **path), 5.0)

    assert sum(one > 90 * MS for one in latencies) <= 0.012 * len(latencies)
    assert rate > 24  # one at a time would be 18


def test_a_second_frame_is_tried_where_the_first_model_would_never_let_one_in():
    goal = LatencyGoal(215 * MS, 8)  # one behind the other they would take up to 400

    rate, latencies = settled(simulate(goal, [50 * MS] * 4, period_s=0.1, frames=600), 10.0)

    assert rate > 9.5  # one at a time would be 5
    assert max(latencies) <= 215 * MS


def test_a_path_that_becomes_slower_and_faster_again_is_followed():
    goal = LatencyGoal(100 * MS, 8)
    stages = [20 * MS]
    simulate(goal, stages, **CAMERA)
    fast = goal.work_s
    goal.in_flight.clear()

    later = LatencyGoal(100 * MS, 8)
    simulate(later, [60 * MS], **CAMERA)
    for n in range(400):  # the same object, fed with a fast path from now on
        at_s = 100 + n * 0.1
        later.release(n, at_s, at_s)
        later.finish(later.in_flight.popleft(), at_s + 20 * MS)

    assert fast == pytest.approx(20 * MS)
    assert later.work_s == pytest.approx(20 * MS)
    assert later.expected_s == pytest.approx(20 * MS)


@pytest.mark.parametrize(
    ("stages_ms", "goal_ms", "rate"),
    [
        ([7, 40, 17], 87, 23.9),  # for the first model two frames would always be too late
        ([8, 40, 15], 83, 23.6),
        ([14, 26], 60, 29.9),  # for the first model a second frame waits for the first just a little too long
    ],
)
def test_a_second_frame_is_tried_where_the_first_model_sees_no_use_in_it(stages_ms, goal_ms, rate):
    goal = LatencyGoal(goal_ms * MS, 8)

    got, latencies = settled(simulate(goal, [one * MS for one in stages_ms], **CAMERA), 2.0)

    assert got >= rate
    assert sum(one > goal_ms * MS + 1e-9 for one in latencies) <= len(latencies) / 100


def test_a_path_of_one_stage_has_no_more_than_a_few_late_frames_of_tries():
    goal = LatencyGoal(150 * MS, 8)

    latencies = [latency_s for _, latency_s in simulate(goal, [100 * MS], period_s=0.03, frames=30_000)]

    assert 1 <= sum(one > 150 * MS for one in latencies) <= 5 + len(latencies) / 4800


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    stages_ms=st.lists(st.integers(4, 60), min_size=1, max_size=3),
    fps=st.sampled_from([10, 30, 60]),
    noise=st.fixed_dictionaries(
        {
            "jitter": st.sampled_from([0.0, 0.1, 0.2]),
            "uneven": st.sampled_from([0.0, 0.3]),
            "seed": st.integers(0, 1000),
        }
    ),
    slack=st.floats(1.3, 3.0),
)
def test_the_goal_is_held_and_the_rate_is_within_a_tenth_of_the_best(stages_ms, fps, noise, slack):
    stages_s = [one * MS for one in stages_ms]
    goal_s = sum(stages_s) * (1 + noise["jitter"]) * slack
    path = {"period_s": 1 / fps, "frames": 1000, **noise}
    since_s = 300 / fps  # the first frames are those that it learns from

    goal = LatencyGoal(goal_s, 8)
    rate, latencies = settled(simulate(goal, stages_s, **path), since_s)

    late = sum(one > goal_s + 1e-9 for one in latencies)
    assert late <= len(latencies) / 100 + 3
    assert rate >= 0.9 * best_rate(stages_s, goal_s, since_s, **path)
    assert not goal.in_flight


def test_nothing_follows_a_frame_that_is_held_up_inside():
    goal = LatencyGoal(1.0, 8)
    for stamp in (0, 1, 2):
        goal.release(stamp, stamp, stamp)
        goal.finish(goal.in_flight.popleft(), stamp + 0.04)
    goal.release(3, 3.0, 3.0)

    assert goal.may_enter(3.039, 3.039)  # it is nearly done
    assert not goal.may_enter(3.1, 3.1)


def test_nothing_is_learnt_from_the_first_frame():
    goal = LatencyGoal(0.1, 8)

    for at_s, took_s in ((0.0, 9.0), (10.0, 0.02)):
        goal.release(int(at_s), at_s, at_s)
        goal.finish(goal.in_flight.popleft(), at_s + took_s)

    assert goal.work_s == pytest.approx(0.02)
    assert goal.is_held


def test_no_more_frames_are_inside_than_allowed():
    for most in (1, 2):
        goal = LatencyGoal(1.0, most)
        inside = []
        release = goal.release
        goal.release = lambda *given, release=release, goal=goal, inside=inside: (
            release(*given),
            inside.append(len(goal.in_flight)),
        )

        simulate(goal, [30 * MS] * 4, **CAMERA)

        assert max(inside) == most


def test_a_distribution_has_the_rank_of_a_conformal_prediction_among_the_last_values():
    values = Distribution()
    assert values.bound_of(0.99) == 0

    for value in [1000, *range(1, 99)]:
        values.add(value)
    few = values.bound_of(0.99)
    for value in range(WINDOW):
        values.add(value)

    assert few == 1000  # 99 values: rank 99
    assert values.bound_of(0.99) == 297  # 300 values: rank 298
    assert values.bound_of(0.5) == 150


def test_a_frame_is_too_late_when_its_age_and_the_work_exceed_the_goal():
    goal = LatencyGoal(0.1, 8)
    for stamp in (0, 1):
        goal.in_flight.append(Frame(stamp, stamp, stamp, stamp))
        goal.finish(goal.in_flight.popleft(), stamp + 0.04)

    assert not goal.is_too_late(10.0, 10.059)
    assert goal.is_too_late(10.0, 10.061)
