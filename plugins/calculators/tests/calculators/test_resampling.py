"""Jitter with given numbers, and properties for all numbers; even sampling is tested in graphs."""

from __future__ import annotations

import itertools
import re

import pytest

from penstock import Packet
from penstock.errors import ResourceExhaustedError
from penstock_calculators.timing.resampling import (
    EvenSampling,
    JitteredSampling,
    ReflectedSampling,
    ReproducibleSampling,
    reflected_step,
)
from penstock_calculators.timing.seeded_random import SeededRandom

PERIOD = 1000


class Given:
    """Numbers that a test gives, in order; integers are taken modulo the requested limit."""

    def __init__(self, *numbers):
        self._numbers = iter(numbers)

    def below(self, count):
        return next(self._numbers) % count

    def fraction(self):
        return next(self._numbers)


def sampled(sampling, timestamps):
    """Return (timestamp of the packet, timestamp of the sample) for a whole stream."""
    samples = [sample for t in timestamps for sample in sampling.take(Packet(t, t))]
    return [(packet.stamp, stamp) for packet, stamp in [*samples, *sampling.finish()]]


def never():
    return Given(*[1] * 1000)


def test_the_step_to_the_next_sample_is_reflected_at_both_ends_of_its_period():
    # spread 400: below(801) - 400 is added to a period
    assert reflected_step(500, 1000, 400, 1000, Given(400)) == 1500
    assert reflected_step(100, 1000, 400, 1000, Given(0)) == 1299  # 700 is 300 before 1000
    assert reflected_step(900, 1000, 400, 1000, Given(800)) == 1699  # 2300 is 300 after 2000
    assert reflected_step(0, 1000, 1000, 1000, Given(0)) == 1999
    assert reflected_step(999, 1000, 1000, 1000, Given(2000)) == 1000


def test_jittered_samples_follow_one_another_at_the_drawn_distances():
    # the first half a period after the first packet, then 0.75, 1.25 and 1 periods on
    sampling = JitteredSampling(PERIOD, 0.25, Given(0.5, 0.0, 1.0, 0.5, 0.5), never())

    assert sampled(sampling, range(0, 3600, 100)) == [(500, 500), (1300, 1250), (2500, 2500), (3500, 3500)]


def test_jittered_samples_never_stand_still():
    sampling = JitteredSampling(PERIOD, 1.0, Given(*[0.0] * 100), never())

    stamps = [stamp for _, stamp in sampled(sampling, [0, 5])]

    assert stamps == [0, 1, 2, 3, 4, 5]


def test_the_packet_nearest_to_a_sample_is_taken_the_later_of_two():
    sampling = JitteredSampling(PERIOD, 0.5, Given(0.1, 0.5, 0.5), never())

    assert sampled(sampling, [0, 200, 1000, 1201]) == [(200, 100), (1000, 1100)]


@pytest.mark.parametrize(("choices", "kept"), [([0, 1, 1], 10), ([0, 0, 1], 20), ([0, 0, 0], 30)])
def test_a_stream_that_ends_before_its_first_sample_gives_a_packet_at_random(choices, kept):
    sampling = JitteredSampling(PERIOD, 0.5, Given(0.9), Given(*choices))

    assert sampled(sampling, [10, 20, 30]) == [(kept, kept)]


def test_nothing_is_kept_any_more_once_there_is_a_jittered_sample():
    sampling = JitteredSampling(PERIOD, 0.5, Given(0.0, 0.5), Given(*[0] * 10))

    assert sampled(sampling, [10, 20, 30]) == [(10, 10)]
    assert [packet.stamp for packet in sampling.held()] == [30]


def test_reflected_sampling_keeps_a_packet_for_the_period_that_the_stream_ends_in():
    # samples at 300 and 1600 (1300 + 300); the second is not reached
    sampling = ReflectedSampling(PERIOD, 400, Given(300, 700), never())

    assert sampled(sampling, [0, 250, 350, 990, 1010, 1500]) == [(350, 300), (1010, 1010)]


def test_a_reflected_sample_settles_the_rest_of_its_period():
    sampling = ReflectedSampling(PERIOD, 400, Given(300, 700), never())
    sampled(sampling, [70, 400])

    assert sampling.bound == 1070


@pytest.mark.parametrize("seed", range(5))
def test_reflected_samples_stand_one_in_each_period(seed):
    random, choice = SeededRandom(str(seed), "a"), SeededRandom(str(seed), "b")
    sampling = ReflectedSampling(PERIOD, 900, random, choice)

    stamps = [stamp for _, stamp in sampled(sampling, range(70, 40_070, 10))]

    assert [(stamp - 70) // PERIOD for stamp in stamps] == list(range(40))
    assert len({stamp % PERIOD for stamp in stamps}) > 30


def test_reproducible_samples_stand_where_the_numbers_say():
    # samples at 300, 1250 (1300 - 50), 2350 (2250 + 100)
    sampling = ReproducibleSampling(PERIOD, 100, 0, Given(300, 50, 200, 100))

    assert sampled(sampling, [0, 400, 900, 1200, 1290, 2000, 2300, 2900]) == [
        (400, 300), (1290, 1250), (2300, 2350),
    ]  # fmt: skip


def test_reproducible_samples_repeat_packets_where_there_are_too_few():
    sampling = ReproducibleSampling(PERIOD, 100, 0, Given(300, 100, 100, 100, 100))

    assert sampled(sampling, [0, 3400]) == [(0, 300), (0, 1300), (3400, 2300), (3400, 3300)]


@pytest.mark.parametrize(("begin", "end"), [(0, 20), (3, 20), (0, 9), (7, 15)])
def test_part_of_a_stream_gives_the_samples_that_the_whole_gives_there(begin, end):
    def run(timestamps):
        return sampled(ReproducibleSampling(PERIOD, 600, -2 * PERIOD, SeededRandom("s", "d")), timestamps)

    whole = run(range(0, 20 * PERIOD, 50))
    part = run(range(begin * PERIOD, end * PERIOD, 50))

    inner = range((begin + 1) * PERIOD, (end - 1) * PERIOD)
    assert [sample for sample in part if sample[1] in inner] == [
        sample for sample in whole if sample[1] in inner
    ]
    assert len(part) == end - begin


def test_a_walk_that_would_take_very_long_is_refused():
    sampling = ReproducibleSampling(10, 1, 0, SeededRandom("s", "d"))
    said = (
        "1000001 periods of 10 us that reproducible_sampling steps through, at 0 and 10000010, but "
        "max_periods is 1000000; give a base_timestamp nearer to the packet, the same one for all runs that "
        "must agree, or raise the option max_periods"
    )

    with pytest.raises(ResourceExhaustedError, match=re.escape(said)):
        list(sampling.take(Packet("x", 10 * 1_000_001)))


SAMPLINGS = {
    "even": lambda: EvenSampling(1e6 / PERIOD, None, flush=True),
    "jittered": lambda: JitteredSampling(PERIOD, 0.5, SeededRandom("a", "d"), SeededRandom("b", "c")),
    "reflected": lambda: ReflectedSampling(PERIOD, 400, SeededRandom("a", "d"), SeededRandom("b", "c")),
    "reproducible": lambda: ReproducibleSampling(PERIOD, 400, 0, SeededRandom("a", "d")),
}


@pytest.mark.parametrize("make", SAMPLINGS.values(), ids=SAMPLINGS)
def test_more_periods_between_two_packets_than_max_periods_are_refused_and_as_many_are_not(make):
    sampling = make()
    sampling.max_periods = 7
    sampled(sampling, [500])
    said = (
        f"8 periods of {PERIOD} us between two packets, at 500 and {500 + 8 * PERIOD}, but max_periods is 7"
    )
    with pytest.raises(ResourceExhaustedError, match=said) as caught:
        sampled(sampling, [500 + 8 * PERIOD])
    assert caught.value.timestamp == 500 + 8 * PERIOD

    assert len(sampled(sampling, [500 + 8 * PERIOD - 1])) >= 4
    assert sampling.last.stamp == 500 + 8 * PERIOD - 1


@pytest.mark.parametrize("seed", range(8))
def test_samples_ascend_and_none_is_below_the_bound_before_it(seed):
    steps = SeededRandom(str(seed), "steps")
    timestamps = list(itertools.accumulate(steps.below(700) + 1 for _ in range(200)))
    samplings = [
        EvenSampling(1e6 / PERIOD, None, flush=True),
        JitteredSampling(PERIOD, 1.0, SeededRandom("a", str(seed)), SeededRandom("b", str(seed))),
        ReflectedSampling(PERIOD, PERIOD, SeededRandom("a", str(seed)), SeededRandom("b", str(seed))),
        ReproducibleSampling(PERIOD, PERIOD, 0, SeededRandom("a", str(seed))),
    ]
    for sampling in samplings:
        last, bound, count = -1, sampling.bound, 0
        for t in [*timestamps, None]:
            samples = sampling.finish() if t is None else sampling.take(Packet(t, t))
            for _, stamp in samples:
                assert stamp > last
                assert stamp >= bound
                last, count = stamp, count + 1
            bound = sampling.bound
        assert count > 50
