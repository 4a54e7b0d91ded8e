"""Drivers that share the partitions of a log and die, simulated event by event: at least once.

Each driver visits its partitions in turns, reads what is there, and commits what was delivered at intervals.
When one has died the others notice it by the time-out of its session. Then all stop, the partitions are dealt
out again, and each goes on after what was committed: what was delivered since then is delivered again.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np
import simpy

from scale.keys import first_partitions
from scale.model import Driver, Host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scale.costs import Costs
    from scale.model import Steps
    from scale.work import Layout


@attrs.frozen
class GroupTimes:
    """How long a group of drivers takes for what, in seconds."""

    #: librdkafka's default for session.timeout.ms.
    #: Until it notices that a member has died: Kafka's session.timeout.ms.
    notice_s: float = 45.0
    #: librdkafka's heartbeat.interval.ms: every member has heard of it by then. Tried with its mock brokers,
    #: two members and a session of 6 s: 6.2 s until the other one noticed, 2.0 s until it read on.
    #: During which nobody reads, when partitions are dealt out again.
    rebalance_s: float = 3.0
    #: Until another host stands in for one that has died.
    back_s: float = 300.0
    #: penstock_kafka's default for commit_interval_ms.
    #: Between two commits.
    commit_s: float = 1.0


@attrs.frozen(eq=False)
class Log:
    """What is in a log, in the order of time."""

    #: (n,) seconds at which each event was written.
    at: NDArray[np.float64]
    #: (n,) integers, where it is.
    partitions: NDArray[np.int64]
    #: (n,) integers, the replica that it goes to in its driver.
    shards: NDArray[np.int64]
    #: How many partitions there are.
    partition_count: int


@attrs.frozen(eq=False)
class Deliveries:
    """What became of the events of a log."""

    #: (n,) integers, how often each was delivered.
    counts: NDArray[np.int64]
    #: (n,) seconds at which it was delivered first.
    first: NDArray[np.float64]


def simulate_group(  # noqa: PLR0913  # what a simulation is made of
    layout: Layout,
    costs: Costs,
    log: Log,
    *,
    drivers: int,
    times: GroupTimes,
    deaths: Sequence[tuple[float, int]] = (),
) -> Deliveries:
    """Simulate drivers, each on a host of its own, until every event was delivered.

    Args:
        layout: of each driver.
        costs: of each driver.
        log: what they read.
        drivers: how many.
        times: how long things take.
        deaths: seconds, and the number of the driver that dies then.

    Raises:
        RuntimeError: an event can no longer be delivered: nobody is left to do it.
    """
    group = _Group(simpy.Environment(), layout, costs, log, times)
    group.start(drivers)
    for at, number in deaths:
        group.env.process(group.death(at, number))
    group.env.run(group.all_delivered)
    return Deliveries(group.counts, group.first)


class _Group:
    """The log, its readers, and how far they are."""

    def __init__(
        self, env: simpy.Environment, layout: Layout, costs: Costs, log: Log, times: GroupTimes
    ) -> None:
        self.env: Final = env
        self.layout: Final = layout
        self.costs: Final = costs
        self.log: Final = log
        self.times: Final = times
        self.counts: Final = np.zeros(len(log.at), np.int64)
        self.first: Final = np.full(len(log.at), np.nan)
        self.all_delivered: Final = env.event()
        #: Partition → its events, when they were written, and how many of them are committed.
        self.events: Final = [
            np.flatnonzero(log.partitions == number).tolist() for number in range(log.partition_count)
        ]
        self.times_of: Final[list[list[float]]] = [log.at[numbers].tolist() for numbers in self.events]
        self.committed: Final = [0] * log.partition_count
        self._left = len(log.at)
        self._members: list[_Member] = []
        self._reading_from = 0.0

    def start(self, drivers: int) -> None:
        """Let drivers join, and read."""
        self._members = [_Member(self) for _ in range(drivers)]
        self._deal()

    def delivered(self, event: int) -> None:
        """Count a delivery."""
        self.counts[event] += 1
        if self.counts[event] == 1:
            self.first[event] = self.env.now
            self._left -= 1
            if not self._left:
                self.all_delivered.succeed()

    def death(self, at: float, number: int) -> Steps:
        """Let a driver die, and another one take its place on another host."""
        yield self.env.timeout(at)
        self._members[number].is_alive = False
        yield self.env.timeout(self.times.notice_s)
        yield from self._rebalance()
        yield self.env.timeout(max(0.0, self.times.back_s - self.times.notice_s - self.times.rebalance_s))
        self._members[number] = _Member(self)
        yield from self._rebalance()

    def _rebalance(self) -> Steps:
        """Stop all, and deal the partitions out; one that begins meanwhile deals for both."""
        for member in self._members:
            member.read([])
        self._reading_from = self.env.now + self.times.rebalance_s
        yield self.env.timeout(self.times.rebalance_s)
        if self.env.now >= self._reading_from:
            self._deal()

    def _deal(self) -> None:
        alive = [member for member in self._members if member.is_alive]
        if not alive:
            return
        starts = first_partitions(len(self.events), len(alive)).tolist()
        for number, member in enumerate(alive):
            member.read(range(starts[number], starts[number + 1]))


class _Member:
    """A driver, and how far it is in its partitions."""

    def __init__(self, group: _Group) -> None:
        self._group: Final = group
        env = group.env
        self.is_alive = True
        #: Counts how often partitions were dealt out: what was read before is no longer committed.
        self._term = 0
        #: Partition → the number of its next event, in the order in which they are visited.
        self._next: dict[int, int] = {}
        #: The partition that is visited, and how many of its events are still to be read.
        self._visited, self._left = -1, 0
        #: Partition → numbers of events that were delivered, and are not committed.
        self._done: dict[int, set[int]] = {}
        self._dealt = env.event()
        Driver(Host(env), group.layout, group.costs, self, self._deliver)
        env.process(self._commit())

    def read(self, partitions: Sequence[int]) -> None:
        """Read these partitions from where they are committed, and no others."""
        self._term += 1
        self._left = 0
        self._next = {number: self._group.committed[number] for number in partitions}
        self._done = {number: set() for number in partitions}
        self._dealt.succeed()
        self._dealt = self._group.env.event()

    def take(self) -> tuple[tuple[int, int, int], int] | None:
        """Return the next event of the partition that is visited, or of the next one that has any."""
        if not self.is_alive or (not self._left and not self._visit()):
            return None
        self._left -= 1
        partition = self._visited
        number = self._next[partition]
        self._next[partition] += 1
        shard = int(self._group.log.shards[self._group.events[partition][number]])
        return (self._term, partition, number), shard

    def _visit(self) -> bool:
        """Visit the next partition that has events, for all that it has now; return whether there is one."""
        for partition in list(self._next):
            number = self._next[partition] = self._next.pop(partition)  # to the end of the order
            there = bisect_right(self._group.times_of[partition], self._group.env.now)
            if there > number:
                self._visited, self._left = partition, there - number
                return True
        return False

    def later(self) -> simpy.Event | None:
        """Return what happens when partitions are dealt out, or the next event is there."""
        if not self.is_alive:
            return None
        times = [
            self._group.times_of[partition][number]
            for partition, number in self._next.items()
            if number < len(self._group.events[partition])
        ]
        if not times:
            return self._dealt
        env = self._group.env
        return env.any_of([env.timeout(max(0.0, min(times) - env.now)), self._dealt])

    def _deliver(self, what: tuple[int, int, int]) -> None:
        if not self.is_alive:
            return
        term, partition, number = what
        self._group.delivered(self._group.events[partition][number])
        if term == self._term:
            self._done[partition].add(number)

    def _commit(self) -> Steps:
        """Commit as far as all events of a partition were delivered."""
        committed = self._group.committed
        while True:
            yield self._group.env.timeout(self._group.times.commit_s)
            if not self.is_alive:
                return
            for partition, done in self._done.items():
                while committed[partition] in done:
                    done.remove(committed[partition])
                    committed[partition] += 1
