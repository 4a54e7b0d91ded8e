"""Run small random graphs in processes that run out of memory, descriptors or threads.

    uv run python scripts/trials/starved_runs.py --seconds 60
    uv run python scripts/trials/starved_runs.py --count 20000 --seed 7   the long form
    uv run python scripts/trials/starved_runs.py --kind memory            only kinds whose name has this word
    uv run python scripts/trials/starved_runs.py --one 4711               one run, and all that it tells

Each run is one of `faulty_runs` in a forked process. At a random moment, before the graph is made, before it
starts or while it is fed, the process gets no more descriptors, threads or memory; it gets them again before
the run is looked at. A finding is a process that hangs or is ended by a signal, an error that is neither a
PenstockError nor the one that Python itself raises (MemoryError), a thread, descriptor or packet that is
left, a ledger that does not add up, or a graph that cannot run once more. The exit status is then 1. Linux
only.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import itertools
import json
import logging
import os
import re
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from faulty_graphs import Needs
from faulty_kinds import Kind
from faulty_runs import GRACES, Interrupts, Tally, Traces, Trial

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

#: A process that lives longer is a hang.
PATIENCE_S: Final = 60.0
_PROGRESS_S: Final = 10.0
#: A new thread that finds no memory before it says that it runs ends, and `Thread.start` waits for it without
#: limit, in Python itself. That is no finding.
_PYTHONS_HANG: Final = re.compile(r'in wait\n[^\n]*threading\.py", line \d+ in start\n')
#: Runs without a fault, before the first one is forked: what is imported late is there then.
_WARM: Final = 30


class Starving(NamedTuple):
    """A way to run out of something."""

    #: The kind of the trial.
    kind: Kind
    #: Takes chance; returns what gives back what was taken.
    begin: Callable[[random.Random], Callable[[], object]]
    #: What Python itself may raise out of a call of the graph.
    allowed: tuple[type[BaseException], ...] = ()


def _no_descriptors(_rng: random.Random) -> Callable[[], object]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(file.name) for file in Path("/proc/self/fd").iterdir()}
    free = next(number for number in itertools.count() if number not in used)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _no_threads(rng: random.Random) -> Callable[[], object]:
    left = rng.randrange(3)
    start = threading.Thread.start

    def starved(self: threading.Thread) -> None:
        nonlocal left
        if sys._getframe(1).f_globals["__name__"].startswith("penstock"):  # noqa: SLF001  # it is the way to ask
            if not left:
                raise RuntimeError("can't start new thread")
            left -= 1
        start(self)

    threading.Thread.start = starved  # type: ignore[method-assign]  # what is tried
    return lambda: setattr(threading.Thread, "start", start)


def _no_address_space(rng: random.Random) -> Callable[[], object]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + rng.randrange(12 << 20), before[1]))
    ballast = []
    with contextlib.suppress(MemoryError):
        while True:
            ballast.append(bytearray(rng.choice((100, 4000, 1 << 20))))
    del ballast[: rng.randrange(20)]

    def end() -> None:
        resource.setrlimit(resource.RLIMIT_AS, before)
        ballast.clear()

    return end


_COROUTINE: Final = Needs(form="Coroutine")
KINDS: Final = (
    Starving(Kind("no descriptor is left", needs=_COROUTINE), _no_descriptors),
    Starving(Kind("no thread can be started", needs=_COROUTINE), _no_threads),
    Starving(Kind("no memory is left"), _no_address_space, (MemoryError,)),
)


class StarvedTrial(Trial):
    """A trial whose process gets no more of something at a random moment."""

    def __init__(self, seed: int, starving: Starving) -> None:
        super().__init__(seed, starving.kind, Interrupts())
        self.allowed = starving.allowed
        self._starving = starving
        self._where = self._random.choice(("made", "started", "fed", "fed"))
        self._give_back: Callable[[], object] | None = None

    def _begin(self, where: str) -> None:
        if where == self._where and self._give_back is None:
            self.story.append(f"from here on: {self.kind.name}")
            self.world.has_fired = True
            self._give_back = self._starving.begin(self._random)

    @contextlib.contextmanager
    def _surroundings(self) -> Iterator[None]:
        self._begin("made")
        try:
            yield
        except self.allowed as error:
            self._stop()
            self.story.append(f"raised {type(error).__name__} in the script")
        finally:
            self._stop()

    def _stop(self) -> None:
        if self._give_back is not None:
            self._give_back()
            self._give_back = None

    def _prepare(self) -> None:
        super()._prepare()
        self._begin("started")

    def _at_moment(self, number: int) -> bool:
        self._begin("fed")
        return super()._at_moment(number)

    def judged(self) -> list[str]:
        """Return the findings, without what the script itself and pools of Python could not do."""
        own = [f"raised {kind.__name__}" for kind in self.allowed]
        if self.allowed:
            own += ["ThreadPoolExecutor-", "in a thread: MemoryError"]
        return [one for one in self.findings if not any(words in one for words in own)]


def one_run(seed: int, starving: Starving) -> StarvedTrial:
    """Do one run in this process; return it."""
    before = Traces.now()
    trial = StarvedTrial(seed, starving)
    trial.run()
    trial.findings += before.left(trial)
    return trial


def in_child(seed: int, starving: Starving, *, is_verbose: bool) -> list[str]:
    """Do one run in a forked process; return what is wrong."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as noise:
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.dup2(noise.fileno(), 2)
                faulthandler.enable(noise)
                faulthandler.register(signal.SIGUSR1, noise, all_threads=True)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                trial = one_run(seed, starving)
                if is_verbose:
                    print(trial.drawn.text, *trial.story, sep="\n", flush=True)
                said.write(json.dumps(trial.judged()).encode())
                said.flush()
                code = 0
            except BaseException:  # noqa: BLE001  # told as a finding
                noise.write(traceback.format_exc().encode())
                noise.flush()
            finally:
                os._exit(code)
        status = await_end(pid)
        said.seek(0)
        noise.seek(0)
        words = noise.read().decode(errors="replace")
        if status is None:
            if starving.allowed and _PYTHONS_HANG.search(words):
                return []
            return [f"HANG: no end after {PATIENCE_S:g} s\n{words[-6000:]}"]
        if os.WIFSIGNALED(status):
            return [f"ended by {signal.Signals(os.WTERMSIG(status)).name}\n{words[-3000:]}"]
        if status:
            return [f"exit status {os.WEXITSTATUS(status)}\n{words[-3000:]}"]
        found: list[str] = json.loads(said.read())
        return found


def await_end(pid: int) -> int | None:
    """Return the status of a process that has ended; None for one that had to be killed."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGUSR1)  # tells where its threads are
    time.sleep(0.5)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=0, metavar="N", help="how many runs; 0 for no limit")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="end after this time")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the first run (default: 0)")
    parser.add_argument("--kind", default="", metavar="WORD", help="only kinds whose name has this word")
    parser.add_argument("--one", type=int, metavar="SEED", help="one run, with all that it tells")
    given = parser.parse_args(words)
    given.kinds = [one for one in KINDS if given.kind in one.kind.name]
    if not given.kinds:
        parser.error(f"--kind {given.kind!r}: there are: " + ", ".join(one.kind.name for one in KINDS))
    return given


def runs(given: argparse.Namespace, kinds: list[Starving]) -> Tally:
    """Do the runs of a command line; tell findings as they come."""
    tally = Tally()
    began = told = time.monotonic()
    first, count = (given.seed, given.count) if given.one is None else (given.one, 1)
    for seed in range(first, first + count) if count else itertools.count(first):
        now = time.monotonic()
        if given.seconds and now - began > given.seconds:
            break
        if now - told > _PROGRESS_S:
            told = now
            _say(f"{tally.runs.total()} runs, {tally.findings.total()} findings, {now - began:.0f} s")
        starving = kinds[seed % len(kinds)]
        found = in_child(seed, starving, is_verbose=given.one is not None)
        name = starving.kind.name
        tally.runs[name] += 1
        tally.fired[name] += 1
        tally.findings[name] += len(found)
        for finding in found:
            _say(f"FINDING --one {seed} --kind {name!r}: {finding}")
    return tally


def _say(words: str) -> None:
    print(words.encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)


def warm(kinds: list[Starving]) -> None:
    """Do some runs in this process that nothing starves, so that a forked one imports nothing more."""
    for seed in range(_WARM):
        calm = Starving(kinds[seed % len(kinds)].kind, lambda _: lambda: None)
        trial = one_run(seed, calm)
        if trial.findings:
            raise SystemExit(f"a run without a fault has findings: {trial.findings}")


def main(words: list[str] | None = None) -> int:
    """Do the runs of a command line; return the exit status."""
    given = _parse(words)
    logging.disable()
    for module, name, seconds in GRACES:
        setattr(module, name, seconds)
    stray: Counter[str] = Counter()
    threading.excepthook = lambda _: None
    sys.unraisablehook = lambda one: stray.update([f"{type(one.exc_value).__name__}"])
    kinds = given.kinds
    warm(kinds)
    gc.collect()
    gc.freeze()
    try:
        tally = runs(given, kinds)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    print(tally)
    return 1 if tally.findings.total() else 0


if __name__ == "__main__":
    sys.exit(main())
