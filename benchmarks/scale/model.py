"""Drivers simulated event by event, with simpy: what waits for what, and for how long.

A driver does one thing at a time (its interpreter's lock), and so does a worker. A replica has one call under
way, or as many as its layout says, and a queue that stops the driver's source when it is full. Processes that
share a host share its processors. Nothing here is random: who calls says when events come, and to which
replica they go.
"""

from __future__ import annotations

from functools import partial
from math import log2
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs
import numpy as np
import simpy

from scale.costs import MICRO

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray
    from simpy.resources.resource import PriorityRequest

    from scale.costs import Costs
    from scale.work import Layout

    Steps = Generator[simpy.Event, Any, None]

#: How long other work keeps a processor before it makes room, in seconds, with one processor; with more it is
#: 1 + log2 of their number times as long. Source: Linux, kernel/sched/fair.c, sysctl_sched_base_slice.
SLICE_S: Final = 0.7e-3
_MOST_LOG: Final = 3
#: Who gets a processor that becomes free; other work comes first when it is owed two slices.
_FIRST, _OURS, _LAST = range(3)
#: How long a thread keeps the lock while others wait for it, in seconds: `sys.getswitchinterval()`.
SWITCH_S: Final = 0.005


class Host:
    """A machine with so many processors; None: as many as its processes need.

    Args:
        env: the simulation.
        processors: how many.
        others: the part of all its time that other work keeps processors busy, in processors.
    """

    def __init__(self, env: simpy.Environment, processors: int | None = None, others: float = 0.0) -> None:
        self.env: Final = env
        self._processors: Final = None if processors is None else simpy.PriorityResource(env, processors)
        while others > 0 and self._processors is not None:
            env.process(self._other_work(self._processors, min(others, 1.0)))
            others -= 1

    def has_idle_processor(self) -> bool:
        """Return whether a process that wakes up finds a processor asleep."""
        return self._processors is None or self._processors.count < self._processors.capacity

    def work(self, seconds: float) -> Steps:
        """Keep a processor busy."""
        if self._processors is None:
            yield self.env.timeout(seconds)
            return
        with self._processors.request(priority=_OURS) as processor:
            yield processor
            yield self.env.timeout(seconds)

    def _other_work(self, processors: simpy.PriorityResource, part: float) -> Steps:
        """Keep a processor busy for a part of the time, in slices."""
        env = self.env
        slice_s = SLICE_S * (1 + min(_MOST_LOG, int(log2(processors.capacity))))
        had = 0.0
        while True:
            if (ahead := had - part * env.now) > 0:
                yield env.timeout(ahead / part)
            priority = _FIRST if -ahead > 2 * slice_s else _LAST
            with processors.request(priority=priority) as processor:
                yield processor | env.timeout(2 * slice_s)
                if processor.triggered:
                    yield env.timeout(slice_s)
                    had += slice_s


class Process:
    """A process that does one thing at a time.

    Args:
        host: where it runs.
        sleep_s: what it costs more when it had slept.
        wake_s: the same, if a processor had slept too.
        gap_s: time in which it does nothing when one task follows another one that it has waited for.
    """

    def __init__(self, host: Host, sleep_s: float = 0.0, wake_s: float = 0.0, gap_s: float = 0.0) -> None:
        self._host: Final = host
        self._lock: Final = simpy.PriorityResource(host.env, 1)
        self._sleep_s: Final = sleep_s
        self._wake_s: Final = wake_s
        self._gap_s: Final = gap_s
        self._busy_until = -1.0
        #: How often it has died, and when the last new one is ready.
        self.deaths = 0
        self.back_at = 0.0

    def turn(self, *, is_urgent: bool = False) -> PriorityRequest:
        """Return a request to have the process alone; what is urgent comes before what waits already."""
        return self._lock.request(priority=0 if is_urgent else 1)

    def spend(self, seconds: float, *, has_slept: bool = False) -> Steps:
        """Work so many seconds of a processor; during a turn."""
        env = self._host.env
        if has_slept or env.now > self._busy_until:
            seconds += self._sleep_s + (self._wake_s if self._host.has_idle_processor() else 0.0)
        yield from self._host.work(seconds)
        self._busy_until = env.now

    def work(self, seconds: Callable[[], float], *, has_slept: bool = False) -> Steps:
        """Work in a turn; `seconds` is asked when the turn has come.

        What had to wait for its turn waits for the gap too. `has_slept` says that the thread which does it
        had slept, even if the process had not.
        """
        with self.turn() as turn:
            waits = not turn.triggered
            yield turn
            if waits and self._gap_s:
                yield self._host.env.timeout(self._gap_s)
                self._busy_until = self._host.env.now
            yield from self.spend(seconds(), has_slept=has_slept)

    def die(self, back_after: float) -> None:
        """Lose all calls under way; a new process is there after so many seconds."""
        self.deaths += 1
        self.back_at = max(self.back_at, self._host.env.now + back_after)


class Source(Protocol):
    """Where a driver has its events from."""

    def take(self) -> tuple[Any, int] | None:
        """Return the next event and the number of its replica; None: there is none now."""

    def later(self) -> simpy.Event | None:
        """Return what happens when there may be more; None: there will be no more."""


class Driver:
    """A driver and its workers.

    Args:
        host: of the driver and of its workers.
        layout: what it has.
        costs: what that costs.
        source: of its events.
        deliver: gets each event when its result is there.
    """

    def __init__(
        self, host: Host, layout: Layout, costs: Costs, source: Source, deliver: Callable[[Any], object]
    ) -> None:
        env = self._env = host.env
        self._layout: Final = layout
        self._costs: Final = costs
        self._source: Final = source
        self._deliver: Final = deliver
        # A call has two turns.
        self._process: Final = Process(
            host, costs.sleep_us * MICRO, costs.wake_us * MICRO, costs.gap_us / 2 * MICRO
        )
        worker_gap = costs.worker_gap_us * MICRO if layout.compute_us else 0.0
        self.workers: Final = [
            Process(host, costs.worker_sleep_us * MICRO, costs.worker_wake_us * MICRO, worker_gap)
            for _ in range(layout.workers)
        ]
        self.repeated = 0
        room = layout.queue or float("inf")
        self._queues: Final = [simpy.Store(env, room) for _ in range(layout.shards)]
        most = layout.in_flight or float("inf")
        self._slots: Final = simpy.Container(env, most, most)
        for number, queue in enumerate(self._queues):
            for _ in range(layout.messages):
                env.process(self._replica(queue, self.workers[number % layout.workers]))
        env.process(self._read())

    def _read(self) -> Steps:
        """Give events to replicas, in order; wait where there is no room.

        What is there is taken before messages are sent, so that it goes with them.
        """
        ingest = self._costs.ingest_us * MICRO
        while True:
            found = self._source.take()
            if found is None:
                later = self._source.later()
                if later is None:
                    return
                yield later
                continue
            with self._process.turn(is_urgent=True) as turn:
                yield turn
                until = self._env.now + SWITCH_S
                while found is not None:
                    yield from self._process.spend(ingest)
                    room = self._give(*found)
                    if not room.triggered or self._env.now >= until:
                        break
                    found = self._source.take()
            yield room

    def _give(self, event: object, shard: int) -> simpy.Event:
        """Give an event to a replica; return what happens when there is room for it."""
        put = self._queues[shard].put(event)
        return self._slots.get(1) if self._layout.in_flight else put

    def _replica(self, queue: simpy.Store, worker: Process) -> Steps:
        """Call the worker for one message after the other; what waits when it is sent goes with it."""
        wire = self._costs.wire_us * MICRO
        while True:
            events = [(yield queue.get())]
            yield from self._process.work(partial(self._send_s, events, queue))
            yield self._env.timeout(wire)
            yield from self._call(worker, len(events))
            yield self._env.timeout(wire)
            yield from self._process.work(partial(self._half_s, len(events)))
            for event in events:
                self._deliver(event)
            if self._layout.in_flight:
                self._slots.put(len(events))

    def _send_s(self, events: list[object], queue: simpy.Store) -> float:
        """Add what waits to the events of a message; return the driver's seconds for sending it."""
        while queue.items and len(events) < self._layout.batch:
            events.append(queue.get().value)
        return self._half_s(len(events))

    def _half_s(self, count: int) -> float:
        """Return the driver's seconds for sending a message, or for taking its reply."""
        return (self._costs.call_us + self._costs.each_us * count) / 2 * MICRO

    def _call_s(self, count: int) -> float:
        """Return the worker's seconds for a call of so many events."""
        return self._costs.worker_s(self._layout, count) * count

    def _call(self, worker: Process, count: int) -> Steps:
        """Let a worker do events; again, where it died meanwhile."""
        while True:
            if worker.back_at > self._env.now:
                yield self._env.timeout(worker.back_at - self._env.now)
            deaths = worker.deaths
            yield from worker.work(partial(self._call_s, count), has_slept=self._layout.compute_us > 0)
            if self._layout.wait_us:
                yield self._env.timeout(self._layout.wait_us * count * MICRO)
            if worker.deaths == deaths:
                return
            self.repeated += count


# --- drivers with the events that they are to have --------------------------------------------------


@attrs.frozen(eq=False)
class Trace:
    """Events of one driver, in the order of its log."""

    #: (n,) integers, the replica of each.
    shards: NDArray[np.int64]
    #: (n,) seconds at which each is in the log, not descending; None: all are there from the beginning.
    at: NDArray[np.float64] | None = None


@attrs.frozen(eq=False)
class Outcome:
    """What became of a driver's events."""

    #: `at`, `done`: (n,) seconds at which each was in the log, and at which its result was delivered; results
    #: of a stateless node are delivered in order.
    at: NDArray[np.float64]
    done: NDArray[np.float64]
    #: Events that were in a call when its worker died, and were given to the next one.
    repeated: int

    def waits(self) -> NDArray[np.float64]:
        """Return (n,) seconds from the log to the result."""
        return self.done - self.at

    def rate(self) -> float:
        """Return events a second, without the first tenth and the last tenth of what was done."""
        times = np.sort(self.done)
        first, last = len(times) // 10, len(times) - 1 - len(times) // 10
        return float((last - first) / (times[last] - times[first]))


@attrs.frozen
class Death:
    """The death of workers."""

    #: When.
    at_s: float
    #: The numbers of those that die.
    workers: Sequence[int]
    #: Seconds until it is noticed and new ones are ready.
    back_after_s: float


def simulate(  # noqa: PLR0913  # what a simulation is made of
    layout: Layout,
    costs: Costs,
    traces: Sequence[Trace],
    *,
    processors: int | None = None,
    others: float = 0.0,
    deaths: Sequence[Death] = (),
) -> list[Outcome]:
    """Simulate drivers on one host, one for each trace, until all events are done.

    Args:
        layout: of each driver.
        costs: of each driver.
        traces: their events; a trace without events is a driver that has nothing to do.
        processors: of the host; None: as many as there are processes.
        others: processors of the host that other work keeps busy.
        deaths: of workers of the first driver.
    """
    env = simpy.Environment()
    host = Host(env, processors, others)
    runs = [_Run(host, layout, costs, trace) for trace in traces]
    for death in deaths:
        env.process(_kill(env, runs[0].driver, death))
    env.run(env.all_of([run.end for run in runs]))
    return [
        Outcome(
            run.at,
            np.maximum.accumulate(run.done) if layout.stateless else run.done,
            run.driver.repeated,
        )
        for run in runs
    ]


class _Run:
    """A driver with a trace, and the source of its events."""

    def __init__(self, host: Host, layout: Layout, costs: Costs, trace: Trace) -> None:
        self._env: Final = host.env
        count = len(trace.shards)
        self.at: Final = np.zeros(count) if trace.at is None else trace.at
        self.done: Final = np.full(count, np.nan)
        self.end: Final = host.env.event()
        self._times: Final[list[float]] = self.at.tolist()
        self._shards: Final[list[int]] = trace.shards.tolist()
        self._next = 0
        self._left = count
        if not count:
            self.end.succeed()
        self.driver: Final = Driver(host, layout, costs, self, self._deliver)

    def take(self) -> tuple[int, int] | None:
        """Return the next event if it is in the log."""
        event = self._next
        if event == len(self._times) or self._times[event] > self._env.now:
            return None
        self._next += 1
        return event, self._shards[event]

    def later(self) -> simpy.Event | None:
        """Return what happens when the next event is in the log."""
        if self._next == len(self._times):
            return None
        return self._env.timeout(self._times[self._next] - self._env.now)

    def _deliver(self, event: int) -> None:
        self.done[event] = self._env.now
        self._left -= 1
        if not self._left:
            self.end.succeed()


def _kill(env: simpy.Environment, driver: Driver, death: Death) -> Steps:
    yield env.timeout(death.at_s)
    for number in death.workers:
        driver.workers[number].die(death.back_after_s)
