"""Let worker processes die in every way of a list, and look what the run tells, and what is left.

    uv run python scripts/trials/kill_workers.py --deaths 10000 --seed 36 --jobs 6
    uv run python scripts/trials/kill_workers.py --kind stopped --deaths 20    kinds whose name has this word
    uv run python scripts/trials/kill_workers.py --seed 36 --one 4711          one death, and what it tells

Each death is a run of its own in which the third of five calls ends its process, or fails in a way that is
hard to tell (`plugins/failures/tests/deaths.py` has the kinds), under a failure policy and `max_in_flight`
drawn by chance. A finding is a run that does not end within --patience seconds, an error that does not say
what happened, a packet that came out and should not (or the other way round), or a ledger that does not add
up; at the end a process, a thread or a descriptor that is left, or memory that grew by more than 20 MB. The
exit status is then 1. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import logging
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.config import build_plan
from penstock.errors import PenstockError
from penstock.packs import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS: Final = Path(__file__).resolve().parents[2] / "plugins" / "failures" / "tests"
sys.path.insert(0, str(TESTS))
deaths: Final[Any] = importlib.import_module("deaths")
#: Forked with each worker, so that a worker does not import them again: it starts in a fifth of the time.
PRELOADED: Final = (
    "kill_workers",
    "numpy",
    "penstock.check.validate",
    "penstock.config.options.options",
    "penstock.config.reading.graph_specs",
    "penstock_failures.guard",
    "penstock_processes.worker",
    "penstock_processes.carrier",
    "penstock_processes.parcels",
    "penstock_stream_handlers.default",
)
#: How long what is left may take to end.
LEFT_S: Final = 10.0
MOST_MIB: Final = 20
_PROGRESS_S: Final = 30.0
#: Runs until all that a process makes once is there.
_WARM: Final = 12


class Death(NamedTuple):
    """What is drawn for one run."""

    #: Its number in the trial.
    number: int
    #: How the call ends its process.
    kind: str
    #: The name of the failure policy.
    policy: str
    #: `max_in_flight`.
    in_flight: int


def drawn(seed: int, number: int, kinds: list[str]) -> Death:
    """Return the death with a number."""
    chance = random.Random(f"{seed} {number}")  # noqa: S311  # for chance, not for secrets
    return Death(number, chance.choice(kinds), chance.choice(sorted(deaths.POLICIES)), chance.choice((1, 3)))


class Trial:
    """Many deaths, on several threads.

    Args:
        arguments: of the command line.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments: Final = arguments
        self.kinds: Final = [kind for kind in sorted(deaths.KINDS) if arguments.kind in kind]
        self._registry: Final = default_registry().child()
        self._registry.add("calculator", "Dies", deaths.Dies)
        self._lock: Final = threading.Lock()
        self._numbers: Iterator[int] = iter(())
        #: How many deaths of each kind there were.
        self.counted: Final[Counter[str]] = Counter()
        #: Text of each finding.
        self.findings: Final[list[str]] = []
        self.slowest_s = 0.0

    def go(self, numbers: range) -> None:
        """Do the deaths with these numbers."""
        self._numbers = iter(numbers)
        count = min(self._arguments.jobs, len(numbers))
        threads = [threading.Thread(target=self._work, name=f"trial-{n}") for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                return
            self.one(drawn(self._arguments.seed, number, self.kinds))

    def one(self, death: Death) -> object:
        """Do one death; return what it told, or None if there was no end."""
        began = time.monotonic()
        told = None
        text = deaths.graph_text(death.policy, death.in_flight)
        try:
            told = deaths.run(text, self._registry, death.kind, self._arguments.patience)
            fault = deaths.fault_of(death.kind, death.policy, death.in_flight, told)
        except (PenstockError, AssertionError) as error:
            fault = f"{type(error).__name__}: {error}"
        except BaseException as error:  # noqa: BLE001  # what is looked for
            fault = f"untyped {type(error).__name__}: {error}"
        with self._lock:
            self.counted[death.kind] += 1
            self.slowest_s = max(self.slowest_s, time.monotonic() - began)
            if fault:
                self.findings.append(f"{death}: {fault}\n    {told}")
                print(self.findings[-1], flush=True)
        return told

    def tell(self) -> None:
        """Print how far it is."""
        with self._lock:
            print(
                f"{self.counted.total()} deaths of {len(self.counted)} kinds, {len(self.findings)} findings, "
                f"slowest {self.slowest_s:.1f} s, {memory_mib():.0f} MiB",
                flush=True,
            )


class Held(NamedTuple):
    """How much this process holds."""

    #: Open descriptors.
    descriptors: int
    #: Threads, without the threads of the trial.
    threads: int
    #: Workers that live: children of the server that forks them.
    workers: int


def held() -> Held:
    """Return what this process holds now."""
    gc.collect()
    parents = _parents()
    servers = {pid for pid, parent in parents.items() if parent == str(os.getpid())}
    workers = sum(parent in servers for parent in parents.values())
    threads = sum(not thread.name.startswith("trial-") for thread in threading.enumerate())
    return Held(len(list(Path("/proc/self/fd").iterdir())), threads, workers)


def _parents() -> dict[str, str]:
    """Return the parent of each process that lives."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            if fields[0] != "Z":
                found[entry.name] = fields[1]
    return found


def memory_mib() -> float:
    """Return the memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def settled(most: Held) -> Held:
    """Return what is held after a time in which it may fall as low as expected."""
    deadline = time.monotonic() + LEFT_S
    found = held()
    while any(now > was for now, was in zip(found, most, strict=True)) and time.monotonic() < deadline:
        time.sleep(0.1)
        found = held()
    return found


def left(before: Held) -> list[str]:
    """Return what is held that was not before."""
    fields = zip(before._fields, before, settled(before), strict=True)
    return [f"left: {name}: {was} before, {now} now" for name, was, now in fields if now > was]


def arguments_of(words: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deaths", type=int, default=200, help="how many (200)")
    parser.add_argument("--seed", type=int, default=36, help="of the choices (36)")
    parser.add_argument("--jobs", type=int, default=4, help="runs at the same time (4)")
    parser.add_argument("--kind", default="", help="only kinds whose name has this word")
    parser.add_argument("--patience", type=float, default=60.0, help="how long a run may take, in s (60)")
    parser.add_argument("--one", type=int, help="only the death with this number")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Let workers die; return the exit status."""
    arguments = arguments_of(words)
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # where the server finds this
    multiprocessing.set_forkserver_preload(list(PRELOADED))
    trial = Trial(arguments)
    if arguments.one is not None:
        death = drawn(arguments.seed, arguments.one, trial.kinds)
        print(death, trial.one(death), sep="\n")
        return 1 if trial.findings else 0
    trial.go(range(-_WARM, 0))
    trial.counted.clear()
    before, memory = settled(Held(1000, 1, 0)), memory_mib()
    done = threading.Event()
    teller = threading.Thread(target=lambda: _tell(trial, done), name="trial-teller")
    teller.start()
    try:
        trial.go(range(arguments.deaths))
    finally:
        done.set()
        teller.join()
    trial.findings.extend(left(before))
    if (grown := memory_mib() - memory) > MOST_MIB:
        trial.findings.append(f"left: {grown:.0f} MiB of memory")
    trial.tell()
    print(*trial.findings, sep="\n", end="" if not trial.findings else "\n")
    return 1 if trial.findings else 0


def _tell(trial: Trial, done: threading.Event) -> None:
    while not done.wait(_PROGRESS_S):
        trial.tell()


if __name__ == Path(__file__).stem:  # in the server that forks workers: what each of them would load
    build_plan(deaths.graph_text("skip", 1).replace("Dies", "PassThroughCalculator"), default_registry())
    gc.freeze()

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
