"""How keys fall on the partitions of a log, on drivers, and on the replicas in each.

A key's partition is what Kafka's C client, and so penstock_kafka's sink, makes of it: CRC-32 modulo the
number of partitions (librdkafka's default partitioner). Its replica is `penstock_shards.shard_of`. Drivers
have ranges of partitions; the first ones have one more where they do not divide (Kafka's range assignor).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from penstock_shards import shard_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of the log that is simulated.
PARTITIONS: Final = 4096


def zipf(count: int, skew: float) -> NDArray[np.float64]:
    """Return (count,) parts of all events, of the most frequent key first; they sum to 1.

    The key of rank r has a part in proportion to r ** -skew: 0 makes all alike.
    """
    weights = np.arange(1, count + 1, dtype=np.float64) ** -skew
    parts: NDArray[np.float64] = weights / weights.sum()
    return parts


def partition_of(key: str, partitions: int) -> int:
    """Return the partition of a key."""
    return zlib.crc32(key.encode()) % partitions


def first_partitions(partitions: int, drivers: int) -> NDArray[np.int64]:
    """Return (drivers + 1,) numbers: of the first partition of each driver, and at last `partitions`."""
    sizes = np.full(drivers, partitions // drivers)
    sizes[: partitions % drivers] += 1
    return np.concatenate([[0], np.cumsum(sizes)])


def driver_of(key: str, drivers: int, partitions: int = PARTITIONS) -> int:
    """Return the number of the driver that has the partition of a key."""
    starts = first_partitions(partitions, drivers)
    return int(np.searchsorted(starts, partition_of(key, partitions), side="right")) - 1


@attrs.frozen(eq=False)
class Places:
    """Where each key of a set is."""

    #: (keys,) integers, the partition of each.
    partitions: NDArray[np.int64]
    #: (keys,) integers, the replica of each in its driver.
    shards: NDArray[np.int64]
    #: `partition_count`, `shard_count`: how many there are.
    partition_count: int
    shard_count: int

    @classmethod
    def of(cls, keys: int, shards: int, partitions: int = PARTITIONS) -> Places:
        """Place keys named by their rank, "0" and on."""
        names = [str(rank) for rank in range(keys)]
        return cls(
            np.array([partition_of(name, partitions) for name in names]),
            np.array([shard_of(name, shards) for name in names]),
            partitions,
            shards,
        )

    def loads(self, skew: float) -> NDArray[np.float64]:
        """Return (partitions, shards) parts of all events, if keys have the skew."""
        cells = self.partitions * self.shard_count + self.shards
        size = self.partition_count * self.shard_count
        summed: NDArray[np.float64] = np.zeros(size)
        np.add.at(summed, cells, zipf(len(self.shards), skew))
        return summed.reshape(self.partition_count, self.shard_count)


def of_drivers(loads: NDArray[np.float64], drivers: int) -> NDArray[np.float64]:
    """Return (drivers, shards) parts of all events, from (partitions, shards) such parts.

    Raises:
        ValueError: there are more drivers than partitions.
    """
    partitions = len(loads)
    if drivers > partitions:
        raise ValueError(f"{drivers} drivers cannot share {partitions} partitions; have more partitions")
    return np.add.reduceat(loads, first_partitions(partitions, drivers)[:-1], axis=0)
