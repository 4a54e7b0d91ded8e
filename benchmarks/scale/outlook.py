"""Simulated drivers, 1 to 1,000: how much they do, how long events wait, where it bends, what deaths cost."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from scale.capacity import Limit, bounds, capacity, waits
from scale.failing import Cluster, simulate_weeks
from scale.keys import PARTITIONS, Places, of_drivers, zipf
from scale.model import Death, Trace, simulate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from scale.capacity import Capacity, Waits
    from scale.costs import Costs
    from scale.failing import Losses
    from scale.log_group import GroupTimes
    from scale.work import Layout

#: More drivers than these do not bring a tenth more.
_ENOUGH: Final = 0.9
DAY_S: Final = 86_400.0


@attrs.frozen(eq=False)
class Kind:
    """What all drivers are."""

    #: In the tables.
    name: str
    #: `layout`, `costs`: of each.
    layout: Layout
    costs: Costs


@attrs.frozen
class Question:
    """What is to be simulated."""

    #: How many there are, ascending.
    drivers: Sequence[int] = (1, 2, 4, 10, 30, 100, 300, 1000)
    #: How many there are where hosts die, ascending.
    groups: Sequence[int] = (2, 10, 100, 1000)
    #: How unevenly events fall on keys.
    skews: Sequence[float] = (0.0, 0.5, 0.8, 1.0)
    #: How many there are.
    keys: int = 200_000
    #: The part of what they can do that drivers have to do.
    load: float = 0.7
    #: Mean days until a host dies.
    mtbf_days: float = 30.0
    #: The seed of all that is drawn.
    seed: int = 1
    #: Simulated of each driver.
    events: int = 1500


@attrs.frozen
class Cell:
    """What so many drivers do with keys of some skew."""

    #: `drivers`, `skew`: how many, and which.
    drivers: int
    skew: float
    #: What they can do.
    capacity: Capacity
    #: How long events wait at the question's load.
    waits: Waits


@attrs.frozen
class Curve:
    """The cells of a kind of drivers at a skew, and where they bend."""

    #: The skew of the keys.
    skew: float
    #: By number of drivers, ascending.
    cells: Sequence[Cell]
    #: The part of all events that its key has.
    hottest_key: float

    def full_first(self, cell: Cell) -> str:
        """Return what is full first at a cell: "driver", "worker", "replica", or "one key" of a replica."""
        found = cell.capacity
        if found.limit is Limit.REPLICA and self.hottest_key > found.replica_part / 2:
            return "one key"
        return found.limit.value

    def half_idle(self) -> int | None:
        """Return the first number of drivers that each do less than half of what one alone does, if any."""
        alone = self.cells[0].capacity.rate / self.cells[0].drivers
        idle = (cell.drivers for cell in self.cells if cell.capacity.rate / cell.drivers < alone / 2)
        return next(idle, None)

    def enough(self) -> int:
        """Return the number of drivers beyond which more bring less than a tenth."""
        most = max(cell.capacity.rate for cell in self.cells)
        return next(cell.drivers for cell in self.cells if cell.capacity.rate >= _ENOUGH * most)


def curves(kind: Kind, asked: Question) -> list[Curve]:
    """Simulate a kind of drivers: each number of them at each skew."""
    places = _places(asked.keys, kind.layout.shards)
    found = []
    for skew in asked.skews:
        loads = places.loads(skew)
        cells = [_cell(kind, asked, loads, skew, drivers) for drivers in asked.drivers]
        found.append(Curve(skew, cells, float(zipf(asked.keys, skew)[0])))
    return found


@lru_cache
def _places(keys: int, shards: int) -> Places:
    return Places.of(keys, shards, PARTITIONS)


def _cell(kind: Kind, asked: Question, loads: NDArray[np.float64], skew: float, drivers: int) -> Cell:
    rng = np.random.default_rng([asked.seed, drivers])
    parts = of_drivers(loads, drivers)
    most = capacity(kind.layout, kind.costs, parts, rng, 2 * asked.events)
    rate = asked.load * most.rate
    waiting = waits(kind.layout, kind.costs, parts, rate, rng, events=asked.events)
    return Cell(drivers, skew, most, waiting)


@attrs.frozen
class Interruption:
    """What the death of some workers does to the driver that they belong to."""

    #: The longest that an event waits, in seconds.
    longest_s: float
    #: Seconds from the death until no event waits longer than before.
    caught_up_s: float
    #: Events that were given to workers again.
    again: int


#: When workers die in a simulation, in seconds: when queues are as they always are.
_DIES_AT_S: Final = 0.5


def interruption(kind: Kind, workers: int, back_after_s: float, asked: Question) -> Interruption:
    """Simulate a driver some of whose workers die, at the question's load and with all keys alike.

    Args:
        kind: the driver.
        workers: how many die.
        back_after_s: seconds until others have taken their place.
        asked: the load and the seed.
    """
    rng = np.random.default_rng(asked.seed)
    parts = np.full((1, kind.layout.shards), 1 / kind.layout.shards)
    rate = asked.load * capacity(kind.layout, kind.costs, parts, rng, 2 * asked.events).rate
    after = back_after_s / (1 - asked.load)
    count = round(rate * (_DIES_AT_S + back_after_s + 2 * after + 1))
    at = np.cumsum(rng.exponential(1 / rate, count))
    shards = rng.integers(0, kind.layout.shards, count)
    death = Death(_DIES_AT_S, range(workers), back_after_s)
    [outcome] = simulate(kind.layout, kind.costs, [Trace(shards, at)], deaths=[death])
    waited = outcome.waits()
    usual = float(np.quantile(waited[at < 0.8 * _DIES_AT_S], 0.99))
    slow = outcome.done[waited > 2 * usual]
    caught_up = float(slow.max()) - _DIES_AT_S if len(slow) else 0.0
    return Interruption(float(waited.max()), caught_up, outcome.repeated)


@attrs.frozen
class Scale:
    """All that was simulated."""

    #: What was asked for.
    asked: Question
    #: Where the costs of actors are from.
    actors_from: str
    #: The curves of each kind of drivers.
    curves: Mapping[Kind, Sequence[Curve]]
    #: What died, and what that did to its driver.
    interruptions: Mapping[str, Interruption]
    #: Seconds until a group notices a death → what deaths cost, for each of the groups.
    losses: Mapping[float, Sequence[Losses]]

    def as_json(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        return {
            "asked": attrs.asdict(self.asked),
            "costs of actors": self.actors_from,
            "kinds": [
                {
                    **attrs.asdict(kind),
                    "curves": [
                        {
                            "skew": curve.skew,
                            "half idle": curve.half_idle(),
                            "enough": curve.enough(),
                            "cells": [_cell_data(curve, cell) for cell in curve.cells],
                        }
                        for curve in found
                    ],
                }
                for kind, found in self.curves.items()
            ],
            "interruptions": {name: attrs.asdict(one) for name, one in self.interruptions.items()},
            "losses": [
                {"notice_s": notice_s, "drivers": drivers, **attrs.asdict(one)}
                for notice_s, found in self.losses.items()
                for drivers, one in zip(self.asked.groups, found, strict=True)
            ],
        }


def _cell_data(curve: Curve, cell: Cell) -> dict[str, Any]:
    found = cell.capacity
    return {
        "drivers": cell.drivers,
        "rate": found.rate,
        "full first": curve.full_first(cell),
        "hottest driver, x the mean": found.part * cell.drivers,
        "median_s": cell.waits.median,
        "p99_s": cell.waits.p99,
    }


def losses(kind: Kind, asked: Question, times: GroupTimes, drivers: int, deaths: int = 30) -> Losses:
    """Simulate weeks in which hosts of drivers die, with all keys alike, at the question's load."""
    loads = _places(asked.keys, kind.layout.shards).loads(0.0)
    rng = np.random.default_rng([asked.seed, drivers])
    parts = of_drivers(loads, drivers)
    most = capacity(kind.layout, kind.costs, parts, rng, 2 * asked.events).rate
    speed = most / float(bounds(kind.layout, kind.costs, parts).min())
    cluster = Cluster(kind.layout, kind.costs, loads, speed)
    return simulate_weeks(
        cluster, asked.load * most, drivers, times, mtbf_s=asked.mtbf_days * DAY_S, rng=rng, deaths=deaths
    )
