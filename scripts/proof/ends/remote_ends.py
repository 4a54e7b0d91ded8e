"""Run the remote ends in a simulated world: workers, Ray's link, Kafka's commits, sources that reconnect.

    python scripts/proof/ends/remote_ends.py                       25 worlds of each end
    python scripts/proof/ends/remote_ends.py --seconds 600 --seed 7
    python scripts/proof/ends/remote_ends.py --only kafka          ends whose name has this word
    python scripts/proof/ends/remote_ends.py --one "workers 4711"  one world, and what happens in it
    python scripts/proof/ends/remote_ends.py --one "workers 4711" --most-packets 2 --turns 8:1,93:2
                                                                   what is left of it

The code of the packs runs as it is; what is simulated is what lies under it: time, threads, sockets,
processes, a cluster, brokers, a camera (`simulated_world`, `simulated_network`). The network delays, doubles
and cuts; processes die, stop and start slowly. All of it comes from the seed, so that a world is the same
each time. A finding is printed with the command that shows it again, and with one that needs the fewest
packets and turns of others; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import gc
import logging
import re
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import remote_graphs
from simulated_world import Which

from penstock.errors import InvalidArgumentError
from penstock_testing.switches import as_text, fewest, from_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulated_world import World

    from penstock import Registry

#: Name of each end → the module with its `trial`.
ENDS: Final = {
    "workers": "remote_workers",
    "ray": "remote_ray",
    "kafka": "remote_kafka",
    "video": "remote_video",
}
#: After so many worlds garbage is collected: in a world it would be at moments that nobody can repeat.
_COLLECT: Final = 50
#: A world with a fault is tried again with so few packets of each source, and that often with fewer turns.
_FEWER: Final = (0, 1, 2, 3, 4, 6, 8)
_MOST_TRIES: Final = 300


def trial(end: str, which: Which, installed: Registry) -> tuple[list[str], World]:
    """Run a world; return what is wrong, and the world."""
    found: Any = import_module(ENDS[end])
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        faults, world = found.trial(which, installed)
    finally:
        if is_enabled:
            gc.enable()
    return faults, world


def smallest(end: str, which: Which, installed: Registry) -> Which:
    """Return the world with the fewest packets and turns of others that has the same fault first.

    Args:
        end: its end.
        which: a world with a fault.
        installed: as of `trial`.
    """
    faults, world = trial(end, which, installed)
    fault = _kind(faults)
    for packets in _FEWER:
        fewer = which._replace(most_packets=packets)
        its_faults, its_world = trial(end, fewer, installed)
        if _kind(its_faults) == fault:
            which, world = fewer, its_world
            break

    def fails(turns: Sequence[tuple[int, int]]) -> bool:
        return _kind(trial(end, which._replace(turns=dict(turns)), installed)[0]) == fault

    turns = fewest(list(world.turns.switches().items()), fails, _MOST_TRIES)
    return which._replace(turns=dict(turns))


def _kind(faults: Sequence[str]) -> str:
    """Return the first fault without its numbers."""
    return re.sub(r"[\d.]+", "#", faults[0]) if faults else ""


def again(end: str, which: Which) -> str:
    """Return the command that shows a world again."""
    turns = "" if which.turns is None else f" --turns {as_text(which.turns)}"
    packets = "" if which.most_packets is None else f" --most-packets {which.most_packets}"
    return f'python scripts/proof/ends/remote_ends.py --one "{end} {which.seed}"{packets}{turns}'


def main(arguments: list[str] | None = None) -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=25, help="how many worlds of each end; 25")
    parser.add_argument("--seconds", type=float, default=0, help="end after this time")
    parser.add_argument("--seed", type=int, default=0, help="of the first worlds; 0")
    parser.add_argument("--only", default="", metavar="WORD", help="only ends whose name has this word")
    parser.add_argument("--one", metavar='"END SEED"', help="one world, and what happens in it")
    parser.add_argument("--turns", help="in it only these turns of others, as a finding prints them")
    parser.add_argument(
        "--most-packets", type=int, metavar="N", help="in it at most N packets of each source"
    )
    given = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    installed = remote_graphs.registry()
    if given.one is not None:
        return _show(given, installed)
    ends = [end for end in ENDS if given.only.lower() in end]
    if not ends:
        parser.error(f"no end has {given.only!r} in its name; there are {', '.join(ENDS)}")
    until = time.monotonic() + given.seconds if given.seconds else float("inf")
    total = 10**9 if given.seconds else given.count
    done = found = 0
    while done < total * len(ends) and time.monotonic() < until:
        end, seed = ends[done % len(ends)], given.seed + done // len(ends)
        faults, world = trial(end, Which(seed), installed)
        if faults:
            found += 1
            print(f"{end} {seed}:", *faults, sep="\n    ", file=sys.stderr)
            print(f"    again: {again(end, Which(seed))}", file=sys.stderr, flush=True)
            small = smallest(end, Which(seed), installed)
            turns = f"{len(small.turns or ())} of {len(world.turns.switches())} turns of others"
            print(f"    with {turns}: {again(end, small)}", file=sys.stderr, flush=True)
        done += 1
        if done % _COLLECT == 0:
            gc.collect()
    print(f"remote ends: {done:,} runs of {len(ends)} ends, {found} findings")
    return 1 if found else 0


def _show(given: argparse.Namespace, installed: Registry) -> int:
    end, _, seed = given.one.partition(" ")
    if end not in ENDS or not seed.isdecimal():
        print(f"--one takes an end and a seed, as 'workers 4711'; there are {', '.join(ENDS)}")
        return 2
    try:
        turns = None if given.turns is None else from_text(given.turns)
    except InvalidArgumentError as error:
        print(f"--turns: {error}")
        return 2
    if isinstance(turns, int):
        print("--turns takes places and choices, as 4:1,9:2, or - for none")
        return 2
    faults, world = trial(end, Which(int(seed), turns, given.most_packets), installed)
    print(*world.told, sep="\n")
    print(*(faults or ["as it must be"]), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
