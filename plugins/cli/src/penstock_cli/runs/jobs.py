"""Runs of `penstock` in processes of their own, some at a time, and what becomes of each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from penstock.packs import child_command
from penstock_cli.failures import RunFailed
from penstock_cli.runs.interrupts import Interrupts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

#: How a message of the command begins on stderr.
_ERROR: Final = "Error: "
#: How often this process looks for Ctrl-C while runs are under way.
_LOOK_S: Final = 0.1


class Job(NamedTuple):
    """One run: a file, and the words of its command after `penstock`."""

    file: Path
    words: tuple[str, ...]


class Ended(NamedTuple):
    """What became of one run."""

    file: Path
    #: The exit code of `penstock run`; negative where a signal has killed its process; where the run was not
    #: started, the code of the interrupt.
    exit_code: int
    #: Whether it was started.
    was_started: bool = True
    #: Its error message, or "".
    error: str = ""
    #: What `penstock run --json` prints; None where it printed nothing.
    summary: dict[str, Any] | None = None


class Watch(Protocol):
    """Follows the runs; threads share it."""

    #: What has ended, in that order.
    ended: list[Ended]

    def start(self, file: Path) -> None:
        """Note that the run of a file has started."""

    def say(self, file: Path, text: str) -> None:
        """Show a line that the run of a file has printed on stderr."""

    def end(self, ended: Ended) -> None:
        """Note that the run of a file has ended, or was not started."""


def run_jobs(jobs: Sequence[Job], at_a_time: int, watch: Watch) -> int:
    """Run all jobs, and return the exit code of the command; one that fails does not stop the others.

    Ctrl-C and SIGTERM are passed on to the runs under way, which finish their files, and no other is started.

    Args:
        jobs: in their order.
        at_a_time: how many processes.
        watch: gets what starts, prints and ends.
    """
    running = _Running(watch)
    with Interrupts() as interrupts, ThreadPoolExecutor(at_a_time, "penstock-each") as threads:
        futures = [threads.submit(running.run, job) for job in jobs]
        presses = 0
        left: set[Future[None]] = set(futures)
        while left:
            _, left = wait(left, _LOOK_S, FIRST_COMPLETED)
            if interrupts.count > presses:
                presses = interrupts.count
                running.interrupt(
                    signal.SIGTERM if interrupts.is_terminated else signal.SIGINT, interrupts.exit_code
                )
    for future in futures:
        future.result()
    failed = any(one.exit_code for one in watch.ended)
    return interrupts.exit_code or (RunFailed.exit_code if failed else 0)


class _Running:
    """The processes under way."""

    def __init__(self, watch: Watch) -> None:
        self._watch: Final = watch
        self._lock: Final = threading.Lock()
        self._processes: Final[set[subprocess.Popen[str]]] = set()
        #: The exit code of an interrupt; 0 before there is one.
        self._interrupted = 0

    def interrupt(self, number: signal.Signals, exit_code: int) -> None:
        """Send a signal to all processes, and start no other."""
        with self._lock:
            self._interrupted = exit_code
            processes = list(self._processes)
        for process in processes:
            if os.name == "posix":
                process.send_signal(number)
            elif number == signal.SIGTERM:  # Windows sends Ctrl-C to all processes of a console
                process.terminate()

    def run(self, job: Job) -> None:
        """Run one job to its end, on a thread of its own."""
        # A file: a pipe that nobody reads while stderr is read would stop the process.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
            process = self._start(job, printed)
            if process is None:
                self._watch.end(Ended(job.file, self._interrupted, was_started=False))
                return
            try:
                with process:
                    error = self._read(job, process.stderr or ())
            finally:
                with self._lock:
                    self._processes.discard(process)
            printed.seek(0)
            text = printed.read()
        code = process.returncode
        if code < 0 and not error:
            error = f"its process was killed by {signal.Signals(-code).name}"
        self._watch.end(Ended(job.file, code, error=error, summary=_summary(text)))

    def _start(self, job: Job, printed: Any) -> subprocess.Popen[str] | None:
        """Return the process of a job; None where the command was interrupted before."""
        command = child_command("penstock_cli.__main__", *job.words)
        with self._lock:
            if self._interrupted:
                return None
            process = subprocess.Popen(  # noqa: S603  # this program
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            self._processes.add(process)
        self._watch.start(job.file)
        return process

    def _read(self, job: Job, lines: Iterable[str]) -> str:
        """Pass on the lines that a process prints on stderr; return its error message."""
        error: list[str] = []
        for line in lines:
            text = line.rstrip("\n")
            if error or text.startswith(_ERROR):
                error.append(text)
            else:
                self._watch.say(job.file, text)
        return "\n".join(error).removeprefix(_ERROR)


def _summary(printed: str) -> dict[str, Any] | None:
    """Return what a run printed; None where it printed nothing, or was killed before it had printed all."""
    try:
        found: dict[str, Any] = json.loads(printed)
    except ValueError:
        return None
    return found
