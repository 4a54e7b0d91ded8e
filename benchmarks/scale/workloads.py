"""What drivers do while they are checked: which events, of which keys, and how long each works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from penstock_shards import shard_of
from scale.keys import driver_of, zipf
from scale.measuring import MEASURED
from scale.model import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scale.work import Layout

#: How many drivers run at the same time.
DRIVERS: Final = (1, 2, 4)
#: Of the log that they share.
_PARTITIONS: Final = 64


@attrs.frozen
class Workload:
    """Events of drivers."""

    #: In the table.
    name: str
    #: `compute_us`, `wait_us`: how long each works: in Python, and on a device.
    compute_us: float
    wait_us: float
    #: `keys`, `skew`: how many keys there are, and how unevenly events fall on them.
    keys: int
    skew: float
    #: How many there are.
    events: int
    #: Whether these are all; else each driver adds so many.
    is_shared: bool = False

    def of_drivers(self, drivers: int, times: float) -> list[list[str]]:
        """Return the keys of each driver's events, the same in every process.

        Args:
            drivers: how many.
            times: what `events` is multiplied with.
        """
        count = round(self.events * times) * (1 if self.is_shared else drivers)
        rng = np.random.default_rng(drivers)
        found: list[list[str]] = [[] for _ in range(drivers)]
        for rank in rng.choice(self.keys, count, p=zipf(self.keys, self.skew)).tolist():
            found[driver_of(str(rank), drivers, _PARTITIONS)].append(str(rank))
        return found

    def layout(self) -> Layout:
        """Return what a driver has, and what an event costs it."""
        return attrs.evolve(MEASURED, compute_us=self.compute_us, wait_us=self.wait_us)


SMALL: Final = Workload("small events", 0, 0, 1000, 0, 4000)
PYTHON: Final = Workload("1 ms of Python", 1000, 0, 1000, 0, 700)
DEVICE: Final = Workload("5 ms on a device, skew 1", 0, 5000, 200, 1, 600, is_shared=True)
WORKLOADS: Final = {one.name: one for one in (SMALL, PYTHON, DEVICE)}


def traces(keys: Sequence[Sequence[str]]) -> list[Trace]:
    """Return what drivers with these keys have to do, for a simulation."""
    count = MEASURED.shards
    return [Trace(np.array([shard_of(key, count) for key in some], np.int64)) for some in keys]
