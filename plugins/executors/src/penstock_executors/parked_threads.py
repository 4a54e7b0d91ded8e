"""Threads that serve one ready queue, and sleep while nothing is ready.

The rule against lost wake-ups: a thread announces that it will sleep, then checks for ready steps
once more. A thread that makes a step ready puts it into the queue before it calls `wake`. So either
the check finds the step, or the wake-up finds the sleeping thread.
"""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock import ExecutorLease
from penstock.errors import PenstockError, ResourceExhaustedError
from penstock.lowlevel import interrupt_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Work

#: How often a sleeping thread checks for neglected steps: ready steps that no thread takes.
_LOOK_AGAIN_S: Final = 0.005
#: After this many checks in which no step was taken the thread dozes: it checks once a second only.
_LOOKS_BEFORE_DOZE: Final = 20
_DOZE_S: Final = 1.0


class ThreadsLease(ExecutorLease):
    """Up to a number of threads, which start as they are needed and live to the end of the run.

    One thread starts at once. A thread that finds steps to run first sees to it that another one is there to
    sleep and to watch, and starts it if all others are busy.

    Args:
        work: the ready queue of the run.
        make: returns a thread that is not started, given its number and what it runs.
        most: how many threads there may be.
        start: starts such a thread.
        may_send: as `ExecutorLease.may_send`, where the steps are calls that are sent elsewhere; else None.

    Raises:
        ResourceExhaustedError: the system starts no thread; there is none then. Where it starts some of them,
            those do the work, and a warning is logged.
    """

    watches = True

    def __init__(
        self,
        work: Work,
        make: Callable[[int, Callable[[], None]], threading.Thread],
        most: int,
        start: Callable[[threading.Thread], None] = threading.Thread.start,
        may_send: Callable[[], bool] | None = None,
    ) -> None:
        self.sends = may_send is not None
        self._may_send: Final = may_send
        self._work: Final = work
        self._make: Final = make
        self._start: Final = start
        self._most = most
        self._sleepers: Final[deque[threading.Lock]] = deque()
        self._is_stopping = False
        self._is_dozing = False
        #: Held by the thread that starts another one.
        self._starting: Final = threading.Lock()
        self._threads: Final = [make(0, self._serve)]
        try:
            start(self._threads[0])
        except BaseException as error:
            self._is_stopping = True
            self._rouse_all()
            if self._threads[0].ident is not None:  # an interrupt came after it had started
                self._threads[0].join()
            if not isinstance(error, RuntimeError) or isinstance(error, PenstockError):
                raise
            if interrupt := interrupt_in(error):
                raise interrupt from None
            raise ResourceExhaustedError(
                f"no thread can be started: {error}; the system limits the threads and the memory of this "
                "process"
            ) from error

    def _who(self) -> str:
        return f"executor {self._work.name!r}" if self._work.name else "the default executor"

    def thread_count(self) -> int:
        """Return how many threads there may be; they start as they are needed."""
        return self._most

    def allow(self, most: int) -> None:
        """Let there be another number of threads. Threads that run already stay; one more may start."""
        with self._starting:
            self._most = max(most, len(self._threads))
        self._keep_one_asleep()

    def may_send(self) -> bool:
        """Return what the executor says."""
        return self._may_send is not None and self._may_send()

    def _keep_one_asleep(self) -> None:
        """Start a thread if none sleeps. A thread that is about to run steps calls this."""
        with self._starting:
            count = len(self._threads)
            if self._sleepers or count >= self._most or self._is_stopping:
                return
            try:
                thread = self._make(count, self._serve)
                self._start(thread)
                self._threads.append(thread)
            except (RuntimeError, MemoryError) as error:
                from penstock.log import get_logger  # imports logging, 4 ms

                self._most = count
                get_logger("executors").warning(
                    "%s goes on with %d threads: the system starts no other: %s", self._who(), count, error
                )

    def wake(self) -> None:
        """Wake the thread that fell asleep last, if any sleeps; wake all if one of them dozes."""
        if self._is_dozing:
            self._is_dozing = False
            self._rouse_all()
        else:
            self._rouse()

    def _rouse(self) -> None:
        try:
            self._sleepers.pop().release()
        except IndexError:  # no thread sleeps
            return

    def _rouse_all(self) -> None:
        while self._sleepers:
            self._rouse()

    def stop(self, timeout: float | None = None) -> bool:
        """Make all threads end, and join them; return whether all have ended in time."""
        self._is_stopping = True
        self._rouse_all()
        deadline = None if timeout is None else monotonic() + timeout
        for thread in self._threads:  # a thread that starts another one ends after that one is in the list
            thread.join(None if deadline is None else max(0.0, deadline - monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        while not self._is_stopping:
            if self._work.has_ready():
                if len(self._threads) < self._most and not self._sleepers:
                    self._keep_one_asleep()
                self._work.run()
            self._sleepers.append(gate)
            if self._work.has_ready() or not self._sleep(gate):
                self._leave(gate)

    def _sleep(self, gate: threading.Lock) -> bool:
        """Sleep until woken, or until ready steps are neglected; return whether woken."""
        if self._is_stopping:
            return False
        work = self._work
        looks = 0
        seen = work.taken
        while not gate.acquire(timeout=_DOZE_S if looks >= _LOOKS_BEFORE_DOZE else _LOOK_AGAIN_S):
            if work.is_neglected(seen):
                return False
            looks = looks + 1 if work.taken == seen else 0
            seen = work.taken
            if looks == _LOOKS_BEFORE_DOZE:
                self._is_dozing = True
        return True

    def _leave(self, gate: threading.Lock) -> None:
        """Withdraw the announcement; if a wake-up has already taken it, consume that wake-up's signal."""
        try:
            self._sleepers.remove(gate)
        except ValueError:
            gate.acquire()
