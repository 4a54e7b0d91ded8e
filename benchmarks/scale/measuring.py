"""Costs measured on this machine, with drivers that run.

Processor time is what other work on the machine disturbs least. Where time counts, what other work takes of
the processors meanwhile is measured too.
"""

from __future__ import annotations

import os
import statistics
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import attrs
import numpy as np

from penstock_shards import shard_of
from scale.costs import MICRO, Costs
from scale.drivers import Driver
from scale.model import Trace, simulate
from scale.work import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scale.drivers import Ran
    from scale.work import Where

_Result = TypeVar("_Result")

#: What is measured.
MEASURED: Final = Layout(shards=4, workers=1)
#: Keys of the events that are measured: so many that all replicas have their part.
_KEYS: Final = 1000
#: Events that are given one at a time, at least.
_LEAST: Final = 20
#: What a call computes where busy workers are measured, in microseconds.
_COMPUTE_US: Final = 300.0
#: Processors that other work may keep busy while gaps are measured.
_MOST_OTHERS: Final = 0.5
#: A gap that is longer is none.
_MOST_GAP_US: Final = 200.0
#: Workers that are killed. A node may have three new ones in a minute.
_DEATHS: Final = 3


def measure(events: int, repeats: int = 5) -> Costs:
    """Measure a driver with four replicas in one worker.

    What is busy is measured with as many events as the graph takes; what has slept, with one at a time. The
    worker is busy all the time only where it shares a processor with its driver; and where it does, no
    processor sleeps. All is the median of the repeats, but the gaps: those are what a simulation of one run
    with busy drivers, and of one with busy workers, needs to take as long as they did.

    Args:
        events: of a repeat.
        repeats: how many.
    """
    keys = [str(number % _KEYS) for number in range(events)]
    crowded, lone_crowded = _on_one_processor(partial(busy_and_alone, MEASURED, "workers", keys, repeats))
    local = _runs(MEASURED, "driver", keys, repeats)
    busy, alone = busy_and_alone(MEASURED, "workers", keys, repeats)
    working = attrs.evolve(MEASURED, compute_us=_COMPUTE_US)
    few = keys[: max(_LEAST, len(keys) // 4)]
    at_work = _runs(working, "workers", few, repeats)
    ingest, whole = median_us(local, "driver_s"), median_us(busy, "driver_s")
    worker = median_us(crowded, "workers_s")
    sleep = _more(lone_crowded, crowded, "driver_s") / 2
    worker_sleep = _more(lone_crowded, crowded, "workers_s")
    costs = Costs(
        ingest_us=ingest,
        call_us=max(0.0, whole - ingest),
        gap_us=0.0,
        sleep_us=sleep,
        wake_us=max(0.0, _more(alone, busy, "driver_s") / 2 - sleep),
        worker_us=worker,
        worker_gap_us=0.0,
        worker_sleep_us=worker_sleep,
        worker_wake_us=max(0.0, _more(alone, crowded, "workers_s") - worker_sleep),
        wire_us=wire_us(alone),
    )
    costs = fitted(costs, "gap_us", MEASURED, busy, keys)
    return fitted(costs, "worker_gap_us", working, at_work, few)


def fitted(costs: Costs, field: str, layout: Layout, runs: Sequence[Ran], keys: Sequence[str]) -> Costs:
    """Return the costs with the field with which a simulation of a run takes as long as it did.

    Args:
        costs: all others.
        field: in microseconds; 0 where the simulation takes longer in any case, and where other work kept
            so many processors busy that nothing can be measured.
        layout: of the driver that ran.
        runs: the one that other work disturbed least counts.
        keys: of each run.
    """
    trace = Trace(np.array([shard_of(key, layout.shards) for key in keys]))
    ran = min(runs, key=lambda one: one.others)
    if ran.others > _MOST_OTHERS:
        return attrs.evolve(costs, **{field: 0.0})

    def is_too_short(value: float) -> bool:
        tried = attrs.evolve(costs, **{field: value})
        [outcome] = simulate(layout, tried, [trace], processors=processors(), others=ran.others)
        return bool(outcome.done.max() < ran.ended - ran.began)

    low, high = 0.0, _MOST_GAP_US
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_short(middle) else (low, middle)
    return attrs.evolve(costs, **{field: low})


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def measure_restart() -> float:
    """Return the seconds from the death of a worker to the next event that its successor has done."""
    driver = Driver(Layout(shards=1, workers=1, stateless=True, in_flight=1))
    try:
        return statistics.median(driver.restart_s() for _ in range(_DEATHS))
    finally:
        driver.close()


def median_us(runs: Sequence[Ran], field: str) -> float:
    """Return the median of a field of the runs, in microseconds an event."""
    return float(statistics.median(getattr(one, field) / one.events for one in runs)) / MICRO


def _more(some: Sequence[Ran], others: Sequence[Ran], field: str) -> float:
    """Return by how much a field of some runs is more than in others, in microseconds an event."""
    return max(0.0, median_us(some, field) - median_us(others, field))


def wire_us(alone: Sequence[Ran]) -> float:
    """Return the time each way, from events that were alone, in which neither driver nor worker worked."""
    trip = statistics.median(one.trip_s for one in alone) / MICRO
    return max(0.0, trip - median_us(alone, "driver_s") - median_us(alone, "workers_s")) / 2


def busy_and_alone(
    layout: Layout, where: Where, keys: Sequence[str], repeats: int
) -> tuple[list[Ran], list[Ran]]:
    """Run a driver in turns with all events at once, and with a tenth of them one at a time."""
    few = keys[: max(_LEAST, len(keys) // 10)]
    driver = Driver(layout, where)
    try:
        pairs = [(driver.run(keys), driver.run(few, one_by_one=True)) for _ in range(repeats)]
    finally:
        driver.close()
    return [one for one, _ in pairs], [one for _, one in pairs]


def _runs(layout: Layout, where: Where, keys: Sequence[str], repeats: int) -> list[Ran]:
    """Run a driver as often."""
    driver = Driver(layout, where)
    try:
        return [driver.run(keys, layout.compute_us, layout.wait_us) for _ in range(repeats)]
    finally:
        driver.close()


def _on_one_processor(measure: Callable[[], _Result]) -> _Result:
    """Call a function that runs, with all processes that it starts, on one of the processors."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})
    try:
        return measure()
    finally:
        os.sched_setaffinity(0, processors)
