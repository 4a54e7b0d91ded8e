"""Call the methods of a graph from several threads at random, and look whether some order explains them all.

    python scripts/proof/api_calls.py                     300 sequences
    python scripts/proof/api_calls.py --count 100000 --seed 1    the long form
    python scripts/proof/api_calls.py --one 4711          one sequence, many times, with its calls
    python scripts/proof/api_calls.py --kind steering     of one kind only

In each sequence two or three threads make some calls each. Kinds of sequences: a graph with its poller, also
awaited by event loops; a run that belongs to an event loop (`running`); a monitor and its graph; rows;
options, swaps and resets (`steering`); MediaPipe's CalculatorGraph, and a solution. What the calls return is
compared with a model (`api_model`): there must be an order of the calls that explains every result. The
switch interval of the interpreter is short, and changes. A call that does not return within ten seconds is a
finding too. The exit status is 1 where there is a finding.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from typing import TYPE_CHECKING, Final

from api_graphs import GraphCalls, RunningCalls
from api_mediapipe import ShimCalls, SolutionCalls
from api_steered import SteeredCalls
from api_threads import interval, registry
from api_watched import MonitorCalls, RowsCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from api_threads import Calls

    from penstock import Registry

#: Kind → what makes its sequences, and how often it is drawn.
KINDS: Final[dict[str, tuple[Callable[[Registry, random.Random], Calls], int]]] = {
    "graph": (GraphCalls, 6),
    "running": (RunningCalls, 3),
    "monitor": (MonitorCalls, 2),
    "rows": (RowsCalls, 3),
    "steering": (SteeredCalls, 4),
    "mediapipe": (ShimCalls, 3),
    "solution": (SolutionCalls, 1),
}
#: Seconds between two lines of progress.
_PROGRESS_S: Final = 10.0


def kind_of(order: random.Random) -> str:
    """Return which kind a sequence is of."""
    return order.choices(list(KINDS), [often for _, often in KINDS.values()])[0]


def findings(seed: int, installed: Registry, kind: str | None = None) -> Iterator[str]:
    """Make the calls of one seed; return what is wrong with them."""
    order = random.Random(seed)  # noqa: S311  # not for secrets
    sys.setswitchinterval(interval(order))
    drawn = kind_of(order)
    made = KINDS[kind or drawn][0](installed, order)
    made.run()
    if made.findings:
        yield f"{kind or drawn}: {made.told()}"


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="how many sequences; 300")
    parser.add_argument("--seconds", type=float, default=0, help="end after this time")
    parser.add_argument("--seed", type=int, default=1, help="of the first sequence; 1")
    parser.add_argument("--one", type=int, metavar="SEED", help="one sequence, as often as --count says")
    parser.add_argument("--kind", choices=list(KINDS), help="of one kind only; all")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    installed = registry()
    before = sys.getswitchinterval()
    began = told = time.monotonic()
    until = began + given.seconds if given.seconds else float("inf")
    total = 10**9 if given.seconds else given.count
    done, found = 0, 0
    while done < total and time.monotonic() < until:
        seed = given.seed + done if given.one is None else given.one
        for finding in findings(seed, installed, given.kind):
            found += 1
            print(f"seed {seed}: {finding}", file=sys.stderr, flush=True)
        done += 1
        if time.monotonic() - told > _PROGRESS_S:
            told = time.monotonic()
            print(f"{done:,} sequences, {told - began:.0f} s", file=sys.stderr, flush=True)
    sys.setswitchinterval(before)
    print(f"calls from threads: {done:,} sequences, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
