"""Many drivers whose hosts die, over weeks: how late events are, and how many come again.

Event by event this would take years. So events flow here like water, in steps of half a second: each
partition has a part of the rate, a driver takes as much in a step as it can, and what it cannot take waits.
What happens at a death is what `log_group` simulates event by event; a test compares both.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from scale.capacity import bounds
from scale.keys import first_partitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scale.costs import Costs
    from scale.log_group import GroupTimes
    from scale.work import Layout

#: A step, in seconds.
STEP_S: Final = 0.5
#: An event that waits longer is late, in seconds.
LATE_S: Final = 2.0
DAY_S: Final = 86_400.0
#: How long the last ones get to catch up, in seconds.
_PATIENCE_S: Final = 600.0
#: Backlogs below this many events count as none.
_NONE: Final = 1e-6


@attrs.frozen
class Losses:
    """What deaths of hosts cost."""

    #: The deaths a day of all hosts.
    deaths_a_day: float
    #: The part of all events that waited longer than `LATE_S`.
    late: float
    #: The longest that an event waited, in seconds.
    longest_s: float
    #: Seconds from a death until nothing waits, the median.
    caught_up_s: float
    #: The part of all events that were delivered again.
    again: float
    #: Whether all was done at the end.
    keeps_up: bool


@attrs.frozen(eq=False)
class Cluster:
    """What drivers are made of, and what they are to do."""

    #: `layout`, `costs`: of each driver.
    layout: Layout
    costs: Costs
    #: (partitions, replicas) parts of all events.
    loads: NDArray[np.float64]
    #: What the drivers can do, of what `capacity.bounds` says.
    speed: float = 1.0


class _Group:
    """Drivers, their partitions, and what waits there."""

    def __init__(self, cluster: Cluster, rate: float, drivers: int) -> None:
        self._cluster: Final = cluster
        loads = self._loads = cluster.loads
        #: (partitions,) events that come in a second.
        self.coming: Final = loads.sum(axis=1) * rate
        #: (partitions,) events that wait; and seconds that the oldest of them did before the last step.
        self.waiting: Final = np.zeros(len(loads))
        self.oldest = np.zeros(len(loads))
        self.is_alive: Final = np.ones(drivers, bool)
        self.deal(np.ones(drivers, bool))

    def deal(self, members: NDArray[np.bool_]) -> None:
        """Deal the partitions out to these drivers."""
        numbers = np.flatnonzero(members)
        if not len(numbers):
            return
        starts = first_partitions(len(self._loads), len(numbers))[:-1]
        parts = np.add.reduceat(self._loads, starts, axis=0)
        own = parts.sum(axis=1)
        cluster = self._cluster
        most = bounds(cluster.layout, cluster.costs, parts).min(axis=1) * cluster.speed
        self._starts = starts
        self._numbers = numbers
        self._most = np.multiply(most, own, where=own > 0, out=np.zeros_like(own)) * STEP_S
        self._sizes = np.diff(np.append(starts, len(self._loads)))

    def ages(self) -> NDArray[np.float64]:
        """Return (partitions,) seconds that the oldest event of each waits."""
        ages: NDArray[np.float64] = self.waiting / np.maximum(self.coming, _NONE)
        return ages

    def step(self, *, stopped: bool) -> None:
        """Let a step pass."""
        self.waiting[:] += self.coming * STEP_S
        self.oldest = self.ages()
        if stopped:
            return
        most = np.where(self.is_alive[self._numbers], self._most, 0.0)
        there = np.add.reduceat(self.waiting, self._starts)
        part = np.minimum(1.0, most / np.maximum(there, _NONE))
        self.waiting[:] *= 1 - np.repeat(part, self._sizes)


def simulate_weeks(  # noqa: PLR0913  # what is simulated
    cluster: Cluster,
    rate: float,
    drivers: int,
    times: GroupTimes,
    *,
    mtbf_s: float,
    rng: np.random.Generator,
    deaths: int,
) -> Losses:
    """Simulate drivers whose hosts die at random.

    Args:
        cluster: what they are.
        rate: events a second of all partitions.
        drivers: how many.
        times: how long the group takes for what.
        mtbf_s: mean seconds until a host dies.
        rng: what draws when, and how long ago offsets were committed.
        deaths: how many hosts die.
    """
    gaps = rng.exponential(mtbf_s / drivers, deaths)
    weeks = _Weeks(_Group(cluster, rate, drivers), times, rng)
    for at in np.cumsum(gaps).tolist():
        weeks.run_until(at)
        weeks.kill()
    end = weeks.now + 2 * times.back_s + _PATIENCE_S
    weeks.run_until(end)
    all_events = rate * weeks.now
    return Losses(
        deaths_a_day=DAY_S * drivers / mtbf_s,
        late=weeks.late / all_events,
        longest_s=weeks.longest_s,
        caught_up_s=float(np.median(weeks.caught_up)) if weeks.caught_up else float("inf"),
        again=weeks.again / all_events,
        keeps_up=not weeks.is_behind(),
    )


class _Weeks:
    """Time that passes for a group: steps while something is wrong, and none while nothing is."""

    def __init__(self, group: _Group, times: GroupTimes, rng: np.random.Generator) -> None:
        self._group: Final = group
        self._times: Final = times
        self._rng: Final = rng
        self.now = 0.0
        self.late = 0.0
        self.again = 0.0
        self.longest_s = 0.0
        self.caught_up: Final[list[float]] = []
        #: (when, number, what is to be done) in order of time.
        self._numbers: Final = itertools.count()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._stopped_until = -1.0
        #: Those that the group believes to be alive.
        self._members: Final = group.is_alive.copy()
        self._behind_since: float | None = None

    def is_behind(self) -> bool:
        """Return whether events wait that a step should have done."""
        return bool(self._group.waiting.sum() > _NONE)

    def kill(self) -> None:
        """Let a host die that is alive; none if there is none."""
        alive = np.flatnonzero(self._group.is_alive)
        if not len(alive):
            return
        number = int(self._rng.choice(alive))
        self._group.is_alive[number] = False
        if self._behind_since is None:
            self._behind_since = self.now
        self._later(self._times.notice_s, lambda: self._rebalance(number, is_member=False))
        self._later(self._times.back_s, lambda: self._return(number))

    def run_until(self, end: float) -> None:
        """Let time pass."""
        while self.now < end:
            if not self._due and not self.is_behind():
                self.now = end
                return
            while self._due and self._due[0][0] <= self.now:
                heapq.heappop(self._due)[2]()
            self._step()

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self.now + seconds, next(self._numbers), what))

    def _return(self, number: int) -> None:
        self._group.is_alive[number] = True
        self._rebalance(number, is_member=True)

    def _rebalance(self, number: int, *, is_member: bool) -> None:
        """Stop all for a while, and then deal the partitions out."""
        self._members[number] = is_member
        self._stopped_until = self.now + self._times.rebalance_s
        self._later(self._times.rebalance_s, self._deal)

    def _deal(self) -> None:
        """Deal out; what was done since the last commit comes again."""
        group = self._group
        group.deal(self._members)
        since = self._rng.uniform(0, self._times.commit_s, len(group.coming))
        again = group.coming * since
        group.waiting[:] += again
        self.again += float(again.sum())

    def _step(self) -> None:
        """Let a step pass; what is done in it are the oldest events of each partition."""
        group = self._group
        group.step(stopped=self.now < self._stopped_until)
        self.now += STEP_S
        self.longest_s = max(self.longest_s, float(group.oldest.max()))
        late = group.oldest - np.maximum(group.ages(), LATE_S)
        self.late += float((group.coming * late)[late > 0].sum())
        if self._behind_since is not None and not self.is_behind():
            self.caught_up.append(self.now - self._behind_since)
            self._behind_since = None
