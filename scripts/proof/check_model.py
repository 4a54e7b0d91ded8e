"""Check the model of a run on all graphs of three nodes and three packets, and the engine beside it.

    python scripts/proof/check_model.py                    300 graphs, and 300 runs beside the engine
    python scripts/proof/check_model.py --share 0/1 --jobs 2     every graph of one, two and three nodes
    python scripts/proof/check_model.py --share 7/100      the eighth of a hundred shares of them
    python scripts/proof/check_model.py --seconds 600 --seed 3   as many as there is time for

A graph is checked in each state that it can reach: no order stands still, each ends, all end with the
graph means, timestamps grow, and what a node has been called for never comes again (`model_search`).
Without `--share` a seed chooses the graphs. Then as many random graphs run in the engine and in
the model, action by action (`model_beside_engine`). The exit status is 1 where something does not hold.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from model_beside_engine import Beside
from model_graphs import all_graphs, random_graph, special_graphs
from model_search import ModelError, checked, every_state
from stream_model import Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NODES: Final = (1, 2, 3)
#: How many graphs one task of a process has.
_PART: Final = 500


class Tally(NamedTuple):
    """What was checked."""

    graphs: int = 0
    states: int = 0
    orders: int = 0
    actions: int = 0
    fault: str = ""

    def plus(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(
            self.graphs + other.graphs,
            self.states + other.states,
            self.orders + other.orders,
            self.actions + other.actions,
            self.fault or other.fault,
        )


def check_part(nodes: int, numbers: Iterable[int]) -> Tally:
    """Check some graphs of so many nodes, all of whose nodes are open at the start."""
    graphs = all_graphs(nodes)
    tally = Tally()
    for number in numbers:
        try:
            found = checked(graphs[number], is_open=True)
        except ModelError as error:
            return tally._replace(fault=f"graph {number} of {nodes} nodes: {error}")
        tally = tally.plus(Tally(1, found.states, found.orders))
    return tally


def check_beside(seeds: Iterable[int]) -> Tally:
    """Run random graphs in the engine and in the model, action by action."""
    tally = Tally()
    for seed in seeds:
        try:
            actions = Beside(random_graph(seed), begins_at_once=bool(seed % 3)).to_the_end(seed)
        except ModelError as error:
            return tally._replace(fault=f"seed {seed}: {error}")
        tally = tally.plus(Tally(1, actions=actions))
    return tally


def check_special() -> Tally:
    """Check the graphs with sources and cycles, and opening in any order."""
    tally = Tally()
    for name, drawing in special_graphs().items():
        try:
            found = checked(drawing)
            every_state(Model(drawing, begins_at_once=False))
        except ModelError as error:
            return tally._replace(fault=f"{name}: {error}")
        tally = tally.plus(Tally(1, found.states, found.orders))
    return tally


def share_of_all(number: int, shares: int) -> Iterator[tuple[int, list[int]]]:
    """Return one share of all graphs: nodes and numbers of graphs, in parts."""
    for nodes in _NODES:
        mine = range(number, len(all_graphs(nodes)), shares)
        for start in range(0, len(mine), _PART):
            yield nodes, list(mine[start : start + _PART])


def some(count: int, seed: int) -> Iterator[tuple[int, list[int]]]:
    """Return nodes and numbers of graphs, chosen by a seed, in parts."""
    order = random.Random(seed)  # noqa: S311  # not for secrets
    total = len(all_graphs(max(_NODES)))
    while count > 0:
        yield max(_NODES), [order.randrange(total) for _ in range(min(count, _PART))]
        count -= _PART


def in_processes(jobs: int, work: Iterable[tuple[int, list[int]]], until: float) -> Tally:
    """Check parts in processes, until all are done, one has a fault, or the time is over."""
    tally = check_special()
    waiting = iter(work)
    began = time.monotonic()
    told = began
    with ProcessPoolExecutor(jobs) as pool:
        under_way = [pool.submit(check_part, *part) for part in islice(waiting, 2 * jobs)]
        while under_way:
            tally = tally.plus(under_way.pop(0).result())
            if not tally.fault and time.monotonic() < until:
                under_way += [pool.submit(check_part, *part) for part in islice(waiting, 1)]
            if sys.stderr.isatty() or time.monotonic() - told > 60:  # noqa: PLR2004  # a minute
                told = time.monotonic()
                print(f"{tally.graphs:,} graphs, {told - began:.0f} s", file=sys.stderr, flush=True)
    return tally


def _share(parser: argparse.ArgumentParser, text: str) -> tuple[int, int]:
    number, _, shares = text.partition("/")
    if not (number.isdecimal() and shares.isdecimal() and int(number) < int(shares)):
        parser.error(f"--share {text}: give two numbers, the first below the second: 0/100")
    return int(number), int(shares)


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--share",
        metavar="K/N",
        help="the K-th of N shares of all graphs of one, two and three nodes; 0/1: all",
    )
    parser.add_argument("--count", type=int, default=300, help="how many graphs of three nodes; 300")
    parser.add_argument("--beside", type=int, default=300, help="how many runs beside the engine; 300")
    parser.add_argument("--seconds", type=float, default=0, help="end the first part after this time")
    parser.add_argument("--seed", type=int, default=1, help="of the choices; 1")
    parser.add_argument("--jobs", type=int, default=1, help="processes; 1")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds if given.seconds else float("inf")
    if given.share:
        work = share_of_all(*_share(parser, given.share))
    else:
        work = some(10**9 if given.seconds else given.count, given.seed)
    tally = in_processes(given.jobs, work, until)
    print(f"model: {tally.graphs:,} graphs, {tally.states:,} states, {tally.orders:,} orders")
    if not tally.fault:
        beside = check_beside(range(given.seed * 1_000_000, given.seed * 1_000_000 + given.beside))
        print(f"beside the engine: {beside.graphs:,} runs, {beside.actions:,} actions")
        tally = tally.plus(beside)
    if tally.fault:
        print(tally.fault, file=sys.stderr)
    return 1 if tally.fault else 0


if __name__ == "__main__":
    raise SystemExit(main())
