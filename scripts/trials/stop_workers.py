"""Stop worker processes (SIGSTOP) at random moments, let some go on, and look what the run tells and leaves.

    uv run python scripts/trials/stop_workers.py --seconds 60
    uv run python scripts/trials/stop_workers.py --count 2000 --seed 7    the long form
    uv run python scripts/trials/stop_workers.py --one 4711               one run, and what it tells

Each run has a graph whose nodes are in one or two workers, which may be stopped for a second
(`stopped_timeout_s`). At a random moment, from the start of the workers to the end of the run, one of them is
stopped from outside: for ever, for a moment, or again and again. A finding is a run that does not end, an
error of a run whose worker was stopped only for a moment, an error that does not say what happened, a packet
that is wrong, a ledger that does not add up, or a process, thread or descriptor that is left; the exit status
is then 1. Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
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
from typing import Any, Final

from kill_workers import PRELOADED, Held, left, settled

import penstock
from penstock.errors import GraphRunError, PenstockError, WaitTimeoutError
from penstock.packs import default_registry

#: How long a run may take; the longest waits are for a worker that is stopped for ever.
PATIENCE_S: Final = 60.0
#: How long a worker may be stopped, in the graphs.
MOST_S: Final = 1
#: Shorter stops than this are no death. The driver looks once in a second.
MOMENT_S: Final = 0.4
_PROGRESS_S: Final = 10.0
_TOLD: Final = (f"was stopped by a signal (SIGSTOP) for {MOST_S} s", "did not", "within")
_TEXT: Final = """
input_stream: "in" output_stream: "out"
executor { name: "w" type: "ProcessExecutor" options { [penstock_processes.ProcessExecutorOptions.ext] {
  num_processes: %d arena_mib: 1 stopped_timeout_s: %d start_timeout_s: 20 } } }
node { calculator: "PassThroughCalculator" executor: "w" max_in_flight: %d
  input_stream: "in" output_stream: "middle" %s }
node { calculator: "PassThroughCalculator" executor: "%s" input_stream: "middle" output_stream: "out" %s }
"""
_POLICIES: Final = ("", "", "failure { on_error: SKIP max_restarts: 100 }")


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of this process: children of the server that forks them."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    parents[int(entry.name)] = int(fields[1])
    servers = {one for one, parent in parents.items() if parent == pid}
    return sorted(one for one, parent in parents.items() if parent in servers)


class Stopper(threading.Thread):
    """Stops a worker at some moment.

    Args:
        rng: draws which, when, and for how long.
    """

    def __init__(self, rng: random.Random) -> None:
        super().__init__(name="trial-stopper", daemon=True)
        self.over = threading.Event()
        #: "for ever", "a moment" or "again and again".
        self.kind: Final = rng.choice(("for ever", "a moment", "again and again"))
        self._rng = rng
        self._after = rng.choice((0.0, rng.random() * 0.05, rng.random() * 0.5))
        self.stopped: list[int] = []

    def run(self) -> None:
        """Stop a worker, and let it go on as the kind says."""
        self.over.wait(self._after)
        until = time.monotonic() + PATIENCE_S
        while not (workers := workers_of(os.getpid())):
            if self.over.wait(0.002) or time.monotonic() > until:
                return
        victim = self._rng.choice(workers)
        for _ in range(6 if self.kind == "again and again" else 1):
            if not self._send(victim, signal.SIGSTOP):
                return
            self.stopped.append(victim)
            if self.kind == "for ever":
                return
            self.over.wait(self._rng.random() * MOMENT_S)
            self._send(victim, signal.SIGCONT)
            if self.over.wait(0.05):
                return

    @staticmethod
    def _send(pid: int, number: int) -> bool:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True


class Trial:
    """One run.

    Args:
        seed: of everything that is drawn.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(f"stop {seed}")  # noqa: S311  # for chance, not for secrets
        self.stopper: Final = Stopper(self._rng)
        self.findings: Final[list[str]] = []
        self.story: Final[list[str]] = [f"stopped {self.stopper.kind}"]
        policy = self._rng.choice(_POLICIES)
        self.skips: Final = bool(policy)
        where = self._rng.choice(("w", ""))
        self.text: Final = _TEXT % (
            self._rng.choice((1, 2)), MOST_S, self._rng.choice((1, 3)), policy, where, policy * bool(where),
        )  # fmt: skip

    def run(self) -> None:
        """Do the run, and note the findings."""
        began = time.monotonic()
        out: list[Any] = []
        self.stopper.start()
        error = ""
        graph = penstock.CalculatorGraph(self.text)
        graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload))
        count = self._rng.choice((5, 50))
        try:
            self._drive(graph, count)
        except WaitTimeoutError as late:
            self.findings.append(f"it does not end: {late}")
        except (GraphRunError, PenstockError) as ended:
            error = str(ended)
        except BaseException as wrong:  # noqa: BLE001  # what is looked for
            self.findings.append(f"untyped {type(wrong).__name__}: {wrong}")
        finally:
            self.stopper.over.set()
            if graph.is_running:
                graph.abandon(5)
        self.stopper.join(PATIENCE_S)
        self.story.append(f"{len(out)} of {count} packets, {time.monotonic() - began:.1f} s, error: {error}")
        self._judge(graph, out, count, error)

    def _drive(self, graph: Any, count: int) -> None:
        graph.start_run()
        pause = self._rng.choice((0.0, 0.01))
        for number in range(count):
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number), timeout=PATIENCE_S)
            if pause:
                self.stopper.over.wait(pause)
        graph.close_all_input_streams()
        graph.wait_until_done(PATIENCE_S)

    def _judge(self, graph: Any, out: list[int], count: int, error: str) -> None:
        was_stopped = bool(self.stopper.stopped)
        if graph.run_count and not graph.ledger().adds_up:
            self.findings.append(f"the ledger does not add up: {graph.ledger()}")
        if out != sorted(set(out)):
            self.findings.append(f"packets came out of order: {out}")
        if error and (not was_stopped or self.stopper.kind != "for ever"):
            self.findings.append(f"an error although no worker was stopped for long: {error}")
        if error and not any(words in error for words in _TOLD):
            self.findings.append(f"the error does not say what happened: {error}")
        if not error and not self.skips and len(out) != count:
            self.findings.append(f"{len(out)} of {count} packets came out, without an error")
        said = [failure.error for failure in graph.failures()] if graph.run_count else []
        if self.skips and not error and len(out) != count and not said:
            self.findings.append("packets are missing, and no failure says why")


def main(words: list[str] | None = None) -> int:
    """Do the runs of a command line; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=0, metavar="N", help="how many runs; 0 for no limit")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="end after this time")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the first run (0)")
    parser.add_argument("--one", type=int, metavar="SEED", help="one run, and all that it tells")
    given = parser.parse_args(words)
    logging.disable()
    multiprocessing.set_forkserver_preload(list(PRELOADED[1:]))  # all but the script that they are from
    default_registry()
    counted: Counter[str] = Counter()
    findings = 0
    warm = Trial(-1)
    warm.stopper.over.set()
    warm.run()
    before = settled(Held(1000, 1, 0))
    first, count = (given.seed, given.count) if given.one is None else (given.one, 1)
    began = told = time.monotonic()
    for seed in range(first, first + count) if count else itertools.count(first):
        now = time.monotonic()
        if given.seconds and now - began > given.seconds:
            break
        if now - told > _PROGRESS_S:
            told = now
            print(f"{counted.total()} runs, {findings} findings", file=sys.stderr, flush=True)
        trial = Trial(seed)
        trial.run()
        counted[trial.stopper.kind if trial.stopper.stopped else "ended before it was stopped"] += 1
        trial.findings.extend(left(before))
        findings += len(trial.findings)
        if given.one is not None:
            print(trial.text, *trial.story, sep="\n")
        for finding in trial.findings:
            print(f"FINDING --one {seed}: {finding}\n  {'; '.join(trial.story)}", flush=True)
    told_of = ", ".join(f"{amount} {kind}" for kind, amount in counted.most_common())
    print(f"stop_workers: seed {first}: {counted.total()} runs ({told_of}), {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
