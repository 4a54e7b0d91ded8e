"""How many events a second drivers can do together, and what stops them from doing more."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from scale.model import Trace, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scale.costs import Costs
    from scale.work import Layout

#: Drivers that are simulated because they may be the first to be full.
_CANDIDATES: Final = 3


#: How often all that may be in flight comes and goes in a simulation.
_ROUNDS: Final = 15


class Limit(Enum):
    """What is full first."""

    DRIVER = "driver"
    WORKER = "worker"
    REPLICA = "replica"


@attrs.frozen
class Capacity:
    """What drivers can do together."""

    #: Events a second of all keys, up to which no driver falls behind.
    rate: float
    #: The number of the driver that is full first.
    hottest: int
    #: `part`, `replica_part`: the parts of all events that it has, and that its busiest replica has.
    part: float
    replica_part: float
    #: What of it is full.
    limit: Limit


def bounds(layout: Layout, costs: Costs, parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (drivers, 3) events a second of all keys at which each driver's `Limit`s are reached.

    These are the bounds of a network of queues: no station can be busy for more than all of the time.

    Args:
        layout: of each driver.
        costs: of each driver.
        parts: (drivers, shards) parts of all events.
    """
    of_driver = parts.sum(axis=1)
    busy = np.empty((len(parts), 3))
    busy[:, 0] = of_driver * costs.driver_s(layout.batch)
    if layout.stateless:
        busy[:, 1] = of_driver * costs.worker_s(layout, layout.batch) / layout.workers
        busy[:, 2] = 0
    else:
        workers = np.zeros((len(parts), layout.workers))
        for shard in range(layout.shards):
            workers[:, shard % layout.workers] += parts[:, shard]
        busy[:, 1] = workers.max(axis=1) * costs.worker_s(layout)
        busy[:, 2] = parts.max(axis=1) * costs.round_trip_s(layout)
    with np.errstate(divide="ignore"):
        return 1 / busy


def capacity(
    layout: Layout, costs: Costs, parts: NDArray[np.float64], rng: np.random.Generator, events: int = 3000
) -> Capacity:
    """Return what drivers can do, each on a host of its own.

    The drivers that are full first by their bounds are simulated with a log that always has more; which
    keys come next is drawn.

    Args:
        layout: of each driver.
        costs: of each driver.
        parts: (drivers, shards) parts of all events.
        rng: what draws.
        events: simulated of each, at least; more where many may be in flight.
    """
    events = max(events, _ROUNDS * layout.in_flight)
    limits = bounds(layout, costs, parts)
    lowest = limits.min(axis=1)
    found = []
    for driver in np.argsort(lowest, kind="stable")[:_CANDIDATES].tolist():
        part = float(parts[driver].sum())
        if not part:  # and all after it have nothing to do either
            break
        if layout.stateless:
            rate = _without_keys(layout, costs, events)
        else:
            rate = _rate(layout, costs, draw(layout, parts[driver], events, rng))
        limit = list(Limit)[int(limits[driver].argmin())]
        found.append(Capacity(rate / part, driver, part, float(parts[driver].max()), limit))
    return min(found, key=lambda one: one.rate)


@lru_cache
def _without_keys(layout: Layout, costs: Costs, events: int) -> float:
    """Return events a second of a driver any of whose replicas may take any event: whatever its keys are."""
    return _rate(layout, costs, np.arange(events) % layout.shards)


def _rate(layout: Layout, costs: Costs, shards: NDArray[np.int64]) -> float:
    """Return events a second of a driver that always has more to do."""
    [outcome] = simulate(layout, costs, [Trace(shards)])
    return outcome.rate()


def draw(
    layout: Layout, parts: NDArray[np.float64], events: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return (events,) replicas: drawn in proportion to their parts, or in turns where any will do."""
    if layout.stateless:
        return np.arange(events) % layout.shards
    return rng.choice(len(parts), events, p=parts / parts.sum())


@attrs.frozen
class Waits:
    """Seconds from an event's arrival in the log to its result: the median and 99 % of all events."""

    median: float
    p99: float


def waits(  # noqa: PLR0913  # what is simulated
    layout: Layout,
    costs: Costs,
    parts: NDArray[np.float64],
    rate: float,
    rng: np.random.Generator,
    *,
    sample: int = 6,
    events: int = 1500,
) -> Waits:
    """Return how long events wait, if they come at random at a rate.

    Drivers share nothing but the log, so only some of them are simulated. The drivers are sorted by their
    part of the events and cut into groups that have equal parts together; the one in the middle of each group
    is simulated. Events come to it at random moments (a Poisson process).

    Args:
        layout: of each driver.
        costs: of each driver.
        parts: (drivers, shards) parts of all events.
        rate: events a second of all drivers together.
        rng: what draws.
        sample: drivers that are simulated, at most.
        events: simulated of each; the first tenth does not count.
    """
    told = []
    for driver in _sample(parts.sum(axis=1), sample):
        own = rate * parts[driver].sum()
        at = np.cumsum(rng.exponential(1 / own, events))
        [outcome] = simulate(layout, costs, [Trace(draw(layout, parts[driver], events, rng), at)])
        told.append(outcome.waits()[events // 10 :])
    median, p99 = np.quantile(np.concatenate(told), (0.5, 0.99))
    return Waits(float(median), float(p99))


def _sample(parts: NDArray[np.float64], most: int) -> list[int]:
    """Return the numbers of drivers that stand for all, each for the same part of the events."""
    order = np.argsort(parts, kind="stable")
    upto = np.cumsum(parts[order])
    middles = (np.arange(most) + 0.5) / most * upto[-1]
    found: list[int] = order[np.searchsorted(upto, middles)].tolist()
    return found
