"""The samplings of a resampled stream: which packet gets which timestamp at the new rate.

A `Sampling` takes the packets of one stream in order, and returns packets with their new timestamps,
which ascend. It does not depend on ports or limits. All times are microseconds.

Source of the rules: MediaPipe `calculators/core/packet_resampler_calculator.cc`. The reference has no
source of random numbers, so there only `EvenSampling` runs; here `SeededRandom` provides them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from penstock.errors import ResourceExhaustedError
from penstock.lowlevel import PRESTREAM, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import Packet

#: A packet of the input, and the timestamp at which it is to be written.
Sample: TypeAlias = "tuple[Packet, int]"

SECOND = 1_000_000


class RandomNumbers(Protocol):
    """The source of random numbers for sampling."""

    def below(self, count: int) -> int:
        """Return one of 0 .. `count` - 1."""

    def fraction(self) -> float:
        """Return a number from 0 to below 1."""


class Sampling:
    """The common part: the last packet, the bound, and how many samples one packet may determine.

    Args:
        period: mean distance of two samples.
    """

    def __init__(self, period: float) -> None:
        #: No further sample is below it.
        self.bound = PRESTREAM
        #: The latest packet.
        self.last: Packet | None = None
        #: The most periods between two packets, or that are stepped through before the first one.
        self.max_periods = 1_000_000
        self._mean_period = period

    def take(self, packet: Packet) -> Iterator[Sample]:
        """Take a packet, and return the samples that it determines; the caller takes them all.

        Raises:
            ResourceExhaustedError: there are more than `max_periods` since the last packet.
        """
        if self.last is not None:
            self._check(self.last.stamp, packet.stamp, "between two packets", "lower frame_rate")
        return self._taken(packet)

    def _taken(self, packet: Packet) -> Iterator[Sample]:
        yield from self._samples(packet)
        self.last = packet

    def _check(self, start: int, end: int, where: str, cure: str) -> None:
        periods = int((end - start) / self._mean_period)
        if periods > self.max_periods:
            raise ResourceExhaustedError(
                f"resampling makes {periods} periods of {self._mean_period:g} us {where}, at {show(start)} "
                f"and {show(end)}, but max_periods is {self.max_periods}; {cure}, or raise the option "
                "max_periods",
                timestamp=end,
            )

    def finish(self) -> list[Sample]:
        """Return the samples that remain at the end of the stream."""
        return []

    def held(self) -> tuple[Packet, ...]:
        """Return the packets that later samples may still be."""
        return () if self.last is None else (self.last,)

    def _samples(self, packet: Packet) -> Iterator[Sample]:
        raise NotImplementedError


class EvenSampling(Sampling):
    """Samples at equal distances: first, first + 1/rate, ... rounded to microseconds.

    Each sample is the packet nearest to its timestamp, the later one of two; if there is no packet within
    half a period, it is the last packet before.

    Args:
        rate: samples per second.
        base: one of the timestamps, or None for the first packet's.
        flush: whether the last packet is written for a sample whose timestamp it does not reach.
    """

    def __init__(self, rate: float, base: int | None, *, flush: bool) -> None:
        super().__init__(SECOND / rate)
        self._rate = rate
        self._base = base
        self._flush = flush
        self._first: int | None = None
        self._count = 0

    def _samples(self, packet: Packet) -> Iterator[Sample]:
        stamp, last = packet.stamp, self.last
        if self._first is None:
            self._first = stamp
            if self._base is not None:
                periods = _rounded((stamp - self._base) / SECOND * self._rate)
                self._first = self._base + _rounded(periods / self._rate * SECOND)
        index = self._index(self._first, stamp)
        if index < self._count:
            return
        while index > self._count and last is not None:
            yield last, self._stamp(self._first)
            self._count += 1
        target = self._stamp(self._first)
        if stamp >= target:
            is_nearer = last is None or stamp - target <= target - last.stamp
            yield packet if is_nearer or last is None else last, target
            self._count += 1
        self.bound = self._stamp(self._first)

    def finish(self) -> list[Sample]:
        """Return the last packet if its sample has not been written, and `flush` is set."""
        if self._first is None or self.last is None or not self._flush:
            return []
        if self._index(self._first, self.last.stamp) != self._count:
            return []
        return [(self.last, self._stamp(self._first))]

    def _stamp(self, first: int) -> int:
        """Return the timestamp of the next sample."""
        return first + _rounded(self._count / self._rate * SECOND)

    def _index(self, first: int, stamp: int) -> int:
        """Return the number of the sample that a timestamp is nearest to."""
        return _rounded((stamp - first) / SECOND * self._rate)


class _JitteredSampling(Sampling):
    """Samples at random distances: the packet nearest to each time, the later one of two.

    Until the next sample is due a packet is kept at random: a stream that ends before gives that packet,
    at the packet's own timestamp.
    """

    def __init__(self, period: int, random: RandomNumbers, choice: RandomNumbers) -> None:
        super().__init__(period)
        self._period = period
        self._random = random
        self._choice = choice
        self._next: int | None = None
        #: Packets before this are not kept.
        self._least = PRESTREAM
        self._seen = 0
        self._kept: Packet | None = None

    def _samples(self, packet: Packet) -> Iterator[Sample]:
        self._keep(packet)
        stamp, last = packet.stamp, self.last
        if self._next is None or last is None:
            self._least = stamp
            self._next = self._begin(stamp)
            if self._next == stamp:
                yield packet, stamp
                self._advance()
            return
        while self._next <= stamp:
            yield last if stamp - self._next > self._next - last.stamp else packet, self._next
            self._advance()

    def finish(self) -> list[Sample]:
        """Return the packet that was kept since the last sample."""
        return [] if self._kept is None else [(self._kept, self._kept.stamp)]

    def held(self) -> tuple[Packet, ...]:
        """Return the packets that later samples may still be."""
        return super().held() if self._kept is None else (*super().held(), self._kept)

    def _keeps(self, packet: Packet) -> bool:
        return packet.stamp >= self._least

    def _keep(self, packet: Packet) -> None:
        """Replace the kept packet by the k-th with probability 1/k, so all are equally likely."""
        if self._keeps(packet):
            self._seen += 1
            if self._choice.below(self._seen) == 0:
                self._kept = packet

    def _advance(self) -> None:
        """Go to the next sample."""
        self._seen, self._kept = 0, None
        assert self._next is not None  # it is set with the first packet  # noqa: S101
        self._next = self._after(self._next)

    def _begin(self, first: int) -> int:
        raise NotImplementedError

    def _after(self, stamp: int) -> int:
        """Return the sample after that at `stamp`, and set the bound."""
        raise NotImplementedError


class JitteredSampling(_JitteredSampling):
    """Samples whose distances are random, (1 - jitter) to (1 + jitter) periods.

    The first is random within the period that begins with the first packet. Errors add up: after k
    samples the mean distance is a period, but there may be more or fewer than k periods.

    Args:
        period: mean distance of two samples.
        jitter: from 0 to 1.
        random: for the distances.
        choice: for the packet that is kept until the first sample.
    """

    def __init__(self, period: int, jitter: float, random: RandomNumbers, choice: RandomNumbers) -> None:
        super().__init__(period, random, choice)
        self._jitter = jitter
        self._has_sample = False

    def _keeps(self, packet: Packet) -> bool:
        return not self._has_sample and super()._keeps(packet)

    def _begin(self, first: int) -> int:
        return first + int(self._period * self._random.fraction())

    def _after(self, stamp: int) -> int:
        self._has_sample = True
        share = (1.0 - self._jitter) + 2.0 * self._jitter * self._random.fraction()
        self.bound = stamp + max(1, int(self._period * share))  # jitter 1 could stay where it is
        return self.bound


class ReflectedSampling(_JitteredSampling):
    """Samples whose distances are random, but one in each period, counted from the first packet.

    A sample that would leave its period is reflected at the period's end, so all its times in the period
    have equal probability. Source: arXiv 2002.01147.

    Args:
        period: mean distance of two samples.
        spread: how far the distance of two samples may be from it.
        random: for the distances.
        choice: for the packet that is kept until a period's sample.
    """

    def __init__(self, period: int, spread: int, random: RandomNumbers, choice: RandomNumbers) -> None:
        super().__init__(period, random, choice)
        self._spread = spread

    def _begin(self, first: int) -> int:
        return first + self._random.below(self._period)

    def _after(self, stamp: int) -> int:
        self._least += self._period
        self.bound = self._least
        return reflected_step(stamp, self._period, self._spread, self._least, self._random)


class ReproducibleSampling(Sampling):
    """As ReflectedSampling, but periods are counted from a fixed time, and a stream may begin anywhere.

    Two streams get the same samples where they overlap, if they share whole periods and one more packet at
    either end: a sample depends only on its time and the random numbers. To find the first sample, the
    object steps through all periods since `origin`.

    Args:
        period: mean distance of two samples.
        spread: how far the distance of two samples may be from it.
        origin: the start of the first period.
        random: for the distances.
    """

    def __init__(self, period: int, spread: int, origin: int, random: RandomNumbers) -> None:
        super().__init__(period)
        self._period = period
        self._spread = spread
        self._origin = self._least = origin
        self._random = random
        self._next = origin
        #: Whether the present period has had its sample.
        self._is_done = False

    def _samples(self, packet: Packet) -> Iterator[Sample]:
        stamp, last = packet.stamp, self.last
        if last is None:
            self._begin(stamp)
            if self._next < stamp:
                self._is_done = True
                yield packet, self._next
            return
        self._advance(stamp)
        while not self._is_done and self._next <= stamp:
            self._is_done = True
            yield packet if stamp - self._next < self._next - last.stamp else last, self._next
            self._advance(stamp)
        self.bound = max(self.bound, self._next)

    def finish(self) -> list[Sample]:
        """Return the last packet if its period has had no sample."""
        return [] if self._is_done or self.last is None else [(self.last, self._next)]

    def _begin(self, stamp: int) -> None:
        cure = "give a base_timestamp nearer to the packet, the same one for all runs that must agree"
        self._check(self._origin, stamp, "that reproducible_sampling steps through", cure)
        self._next = self._origin + self._random.below(self._period)
        while stamp >= self._least + self._period:
            self._step()

    def _advance(self, stamp: int) -> None:
        """Go to the next period if this one is done, but not past that of `stamp`."""
        if self._is_done and stamp >= self._least + self._period:
            self._step()
            self._is_done = False

    def _step(self) -> None:
        self._least += self._period
        self._next = reflected_step(self._next, self._period, self._spread, self._least, self._random)


def reflected_step(stamp: int, period: int, spread: int, least: int, random: RandomNumbers) -> int:
    """Return a sample about a period after `stamp`, within the period that begins at `least`.

    Args:
        stamp: the sample of the period before.
        period: the length of a period.
        spread: how far the distance may be from a period; at most `period`.
        least: the start of the new period.
        random: for the distance.
    """
    stamp += period + random.below(2 * spread + 1) - spread
    end = least + period
    if stamp < least:
        return 2 * least - stamp - 1
    return 2 * end - stamp - 1 if stamp >= end else stamp


def _rounded(value: float) -> int:
    """Round half away from zero."""
    whole = int(value)
    rest = value - whole
    return whole + (rest >= 0.5) - (rest <= -0.5)  # noqa: PLR2004  # a half
