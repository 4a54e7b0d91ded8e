"""What a node costs in actors of a Ray cluster, one call or 32 in a message. Needs Ray, imported here.

What Ray's own processes of a host (raylet, the store of objects, the head) use is not counted.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

# Before Ray is imported, as in cluster.py.
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"

import attrs
import ray

from scale.costs import Costs
from scale.drivers import Driver
from scale.measuring import busy_and_alone, median_us, wire_us
from scale.work import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scale.drivers import Ran

#: One actor. A message goes as soon as fewer than two are under way; so those with one event and those with
#: all others take turns, and the mean is half of the most.
SINGLE: Final = Layout(shards=1, workers=1, stateless=True, in_flight=8)
BATCHED: Final = Layout(shards=1, workers=1, stateless=True, in_flight=64, batch=32, messages=2)
MEAN_BATCH: Final = BATCHED.batch / 2


def figures(events: int, repeats: int) -> dict[str, float]:
    """Return the fields of `Costs`, and `restart_s`: seconds from the death of an actor to the next event."""
    return {**attrs.asdict(measure(events, repeats)), "restart_s": measure_restart()}


def measure(events: int, repeats: int = 3) -> Costs:
    """Measure a driver with one actor on this machine.

    Args:
        events: of a repeat.
        repeats: how many.
    """
    keys = [str(number) for number in range(events)]
    with _cluster():
        local, _ = busy_and_alone(SINGLE, "driver", keys, repeats)
        single, alone = busy_and_alone(SINGLE, "cluster", keys, repeats)
        batched, _ = busy_and_alone(BATCHED, "cluster", keys, repeats)
    ingest = median_us(local, "driver_s")
    call, each = _split(single, batched, "driver_s")
    worker, worker_each = _split(single, batched, "workers_s")
    return Costs(
        ingest_us=ingest,
        call_us=call,
        each_us=max(0.0, each - ingest),
        gap_us=0.0,
        sleep_us=0.0,
        wake_us=max(0.0, median_us(alone, "driver_s") - median_us(single, "driver_s")) / 2,
        worker_us=worker,
        worker_each_us=worker_each,
        worker_gap_us=0.0,
        worker_sleep_us=0.0,
        worker_wake_us=max(0.0, median_us(alone, "workers_s") - median_us(single, "workers_s")),
        wire_us=wire_us(alone),
    )


def measure_restart() -> float:
    """Return the seconds from the death of an actor to the next event that its successor has done."""
    with _cluster():
        driver = Driver(SINGLE, "cluster")
        try:
            return driver.restart_s()
        finally:
            driver.close()


def _split(single: Sequence[Ran], batched: Sequence[Ran], field: str) -> tuple[float, float]:
    """Return microseconds for each message, and for each event."""
    one, many = median_us(single, field), median_us(batched, field)
    message = max(0.0, (one - many) / (1 - 1 / MEAN_BATCH))
    return message, max(0.0, one - message)


@contextmanager
def _cluster() -> Iterator[None]:
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, configure_logging=False, log_to_driver=False
    )
    try:
        yield
    finally:
        ray.shutdown()
