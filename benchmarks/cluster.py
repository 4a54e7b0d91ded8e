"""Claim: a node in an actor of a Ray cluster costs little more than the bare actor call, or less.

- "small packet": median microseconds of an int there and back, one at a time.
- "720p frame": as before, a frame of 2.8 MB. Both also with five nodes that share an actor, beside one.
- "window": microseconds a call with many under way: 16 for the bare actor; Penstock takes what waits together
  (`batch`).
- "a to b": median microseconds of a frame that one actor makes new and another one reduces to a number; the
  frame stays on the cluster.

All share one cluster, which is started on this machine. Needs penstock-remote and Ray.

    python benchmarks/cluster.py [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from expected import expect
from processes import (
    FIGURE,
    IN_REGION,
    REGION,
    TASKS,
    WARM_UP,
    Asked,
    bar,
    inverted,
    name,
    same,
    timed,
    value_of,
)
from side_by_side import Benchmark, Case, Contestant, main, parser

import penstock as host

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SMALL, FRAME, WINDOW, CHAIN = "small packet", "720p frame", "window", "a to b"
CLUSTER, BATCHED, BARE = "penstock, actor", "penstock, actor, batch: 32", "bare actor"
UNDER_WAY = 16
PATIENCE_S = 60.0

# Before Ray is imported: contestants connect with the cluster as this process does.
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"


def mean(frame: Any) -> int:
    """Return the mean of a frame."""
    return int(frame.mean())


@host.register_calculator
@host.calculator
def bench_mean(value: object) -> object:
    """Return the mean of a frame."""
    return mean(value)


TASKS["mean"] = ("BenchMean", "VALUE", mean)
#: The result for a frame that is inverted and reduced.
TASKS["inverted mean"] = ("", "", lambda frame: mean(inverted(frame)))


def actors(batch: int = 1) -> str:
    """Return an executor of actors."""
    fields = f"batch: {batch} num_actors: 1"
    options = f"options {{ [penstock_ray.RayExecutorOptions.ext] {{ {fields} }} }}"
    return f'type: "RayExecutor" {options}'


def one_actor() -> str:
    """Return an executor with one actor, which neighbours share."""
    return actors().replace("batch: 1", "colocate { }")


class Bare:
    """An actor without Penstock."""

    def same(self, value: Any) -> Any:
        """Return the value."""
        return same(value)

    def inverted(self, value: Any) -> Any:
        """Return a new frame."""
        return inverted(value)

    def mean(self, value: Any) -> int:
        """Return the mean of a frame."""
        return mean(value)


@contextmanager
def connected() -> Iterator[Any]:
    """Connect with the cluster, and disconnect."""
    import ray

    ray.init(configure_logging=False, log_to_driver=False)
    try:
        yield ray
    finally:
        ray.shutdown()


def penstock(packets: int, tasks: list[str], small: bool, nodes: int = 1) -> dict[str, float]:  # noqa: FBT001  # settings
    """Time a node, two, or several that share an actor, one packet at a time."""
    with connected():
        asked = Asked(*tasks * nodes, executor=one_actor() if nodes > 1 else actors())
        try:
            return timed(asked.ask, 1 if small else value_of(tasks[0]), packets, " ".join(tasks))
        finally:
            asked.end()


def bare(packets: int, tasks: list[str], small: bool) -> dict[str, float]:  # noqa: FBT001  # settings
    """Time a call of an actor, or of one that takes what another one returns."""
    with connected() as ray:
        made = [ray.remote(Bare).options(num_cpus=0).remote() for _ in tasks]

        def ask(value: Any) -> Any:
            for actor, task in zip(made, tasks, strict=True):
                value = getattr(actor, task).remote(value)
            return ray.get(value)

        return timed(ask, 1 if small else value_of(tasks[0]), packets, " ".join(tasks))


def penstock_window(packets: int) -> dict[str, float]:
    """Time a node with many calls under way, which go together."""
    with connected():
        asked = Asked("same", executor=actors(32), in_flight=64)
        for number in range(WARM_UP):
            expect(asked.ask(number), number, "a packet")
        begin = perf_counter()
        waiting = 0
        results = []
        for number in range(packets):
            asked.add(number)
            waiting += 1
            if waiting == 2 * 64:
                results.append(asked.wait())
                waiting -= 1
        results += [asked.wait() for _ in range(waiting)]
        spent = perf_counter() - begin
        expect(results, list(range(packets)), "all results in order")
        asked.end()
        return {FIGURE: spent / packets * 1e6}


def bare_window(packets: int) -> dict[str, float]:
    """Time an actor with 16 calls under way."""
    with connected() as ray:
        actor = ray.remote(Bare).options(num_cpus=0).remote()
        ray.get([actor.same.remote(number) for number in range(WARM_UP)])
        begin = perf_counter()
        results = []
        under_way: list[Any] = []
        for number in range(packets):
            under_way.append(actor.same.remote(number))
            if len(under_way) == UNDER_WAY:
                results.append(ray.get(under_way.pop(0)))
        results += ray.get(under_way)
        spent = perf_counter() - begin
        expect(results, list(range(packets)), "all results in order")
        return {FIGURE: spent / packets * 1e6}


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    given = parser(__doc__).parse_args()
    times = 0.1 if given.short else 1
    contestants: list[Contestant] = []
    cases: list[Case] = []

    def case(title: str, packets: int, entries: dict[str, tuple[str, dict[str, Any]]]) -> None:
        for contestant, (function, settings) in entries.items():
            contestants.append(Contestant(name(contestant, title), f"cluster:{function}", settings))
        names = tuple(name(contestant, title) for contestant in entries)
        cases.append(Case(title, {"packets": int(packets * times)}, names))

    for title, packets, tasks in (
        (SMALL, 1000, ["same"]),
        (FRAME, 200, ["same"]),
        (CHAIN, 200, ["inverted", "mean"]),
    ):
        settings = {"tasks": tasks, "small": title == SMALL}
        entries: dict[str, tuple[str, dict[str, Any]]] = {CLUSTER: ("penstock", settings)}
        if title != CHAIN:
            entries[REGION] = ("penstock", {**settings, "nodes": IN_REGION})
        case(title, packets, {**entries, BARE: ("bare", settings)})
    case(WINDOW, 5000, {BATCHED: ("penstock_window", {}), BARE: ("bare_window", {})})
    return Benchmark(
        claim="A node on a cluster costs little more than a bare actor.",
        figure=FIGURE,
        base=contestants[0].name,
        cases=cases,
        contestants=contestants,
        bars=[
            bar(SMALL, CLUSTER, BARE, 1.15),
            bar(FRAME, CLUSTER, BARE, 1.15),
            bar(SMALL, REGION, CLUSTER, 1.3),
            bar(FRAME, REGION, CLUSTER, 1.3),
            bar(CHAIN, CLUSTER, BARE, 1.1),
            bar(WINDOW, BATCHED, BARE, 1 / 3),
        ],
    ), given


def run() -> int:
    """Start a cluster for all contestants, and run the benchmark."""
    import ray

    found, given = benchmark()
    started: Any = ray.init(address="local", num_cpus=2, include_dashboard=False, configure_logging=False)
    os.environ["RAY_ADDRESS"] = started.address_info["gcs_address"]
    try:
        return main(found, given)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(run())
