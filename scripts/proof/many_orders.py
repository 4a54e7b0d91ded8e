"""Run larger random graphs under many seeded orders, and compare each end with the meaning of the graph.

    python scripts/proof/many_orders.py --count 2000
    python scripts/proof/many_orders.py --seconds 3600 --seed 7
    python scripts/proof/many_orders.py --one 4711       one order, and what it does

A graph (`model_graphs.large_graph`) has up to ten nodes with sources, filters, calls that overlap and small
queues. Each is run under some orders: half of them choose each action at random, half by priorities that
change now and then (`penstock_testing.every_order.choosers`). All invariants of the engine are checked after
each action. The exit status is 1 where an order does not end, breaks an invariant, or carries something else.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from model_beside_engine import plan_of
from model_graphs import large_graph
from model_search import meaning

from penstock.errors import PenstockError
from penstock_testing.every_order.choosers import Priorities, by_order
from penstock_testing.every_order.stepping import SteppedRun

if TYPE_CHECKING:
    from stream_model import Carried, Drawing

    from penstock.plan import Plan

#: How many orders a graph gets.
_ORDERS: Final = 25


@lru_cache(maxsize=1)
def _graph(number: int) -> tuple[Drawing, Plan, tuple[Carried, ...]]:
    """Return a graph, which all of its orders share, and what its streams must carry."""
    drawing = large_graph(number)
    return drawing, plan_of(drawing), meaning(drawing)


def fault(seed: int, *, tells: bool = False) -> str:
    """Run one order of the graph of a seed; return what is wrong, "" where nothing is."""
    drawing, plan, expected = _graph(seed // _ORDERS)
    fed = {
        f"s{n}": [(at, number + 1) for number, at in enumerate(stamps)]
        for n, stamps in enumerate(drawing.inputs)
    }
    run = SteppedRun(plan, fed, observe=[f"s{s}" for s in drawing.observed])
    try:
        run.to_the_end(Priorities(seed, changes=seed % 5) if seed % 2 else by_order(seed))
    except PenstockError as error:
        return f"{drawing}: {error}"
    if tells:
        print(*run.harness.log, sep="\n")
    for stream in drawing.observed:
        came = tuple(run.harness.carried(f"s{stream}"))
        if came != expected[stream]:
            return f"{drawing}: stream {stream} carried {came}, but {expected[stream]} is meant"
    if run.harness.errors:
        return f"{drawing}: {run.harness.errors}"
    return ""


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="how many orders; 2000")
    parser.add_argument("--seconds", type=float, default=0, help="end after this time")
    parser.add_argument("--seed", type=int, default=0, help="of the first order; 0")
    parser.add_argument("--one", type=int, metavar="SEED", help="one order, and the calls that it makes")
    given = parser.parse_args()
    if given.one is not None:
        wrong = fault(given.one, tells=True)
        print(wrong or "as it must be")
        return 1 if wrong else 0
    until = time.monotonic() + given.seconds if given.seconds else float("inf")
    total = 10**9 if given.seconds else given.count
    done = found = 0
    while done < total and time.monotonic() < until:
        if wrong := fault(given.seed + done):
            found += 1
            print(f"seed {given.seed + done}: {wrong}", file=sys.stderr, flush=True)
        done += 1
    print(f"many orders: {done:,} orders of {(done + _ORDERS - 1) // _ORDERS:,} graphs, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
