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

from penstock import Lease

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock import Work

#: How often a sleeping thread checks for neglected steps: ready steps that no thread takes.
_LOOK_AGAIN_S: Final = 0.005
#: After this many checks in which no step was taken the thread dozes: it checks once a second only.
_LOOKS_BEFORE_DOZE: Final = 20
_DOZE_S: Final = 1.0


class ThreadsLease(Lease):
    """Some threads, from the start of a run to its end.

    Args:
        work: the ready queue of the run.
        make_threads: returns threads, not yet started, that run the given function.

    Raises:
        RuntimeError: the system cannot start another thread. The threads that had started have ended
            then, and so they have after any other error of a start.
    """

    watches = True

    def __init__(
        self, work: Work, make_threads: Callable[[Callable[[], None]], Sequence[threading.Thread]]
    ) -> None:
        self._work: Final = work
        self._sleepers: Final[deque[threading.Lock]] = deque()
        self._is_stopping = False
        self._is_dozing = False
        self._threads: Final = tuple(make_threads(self._serve))
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._end_started()
            raise

    def thread_count(self) -> int:
        """Return the number of threads."""
        return len(self._threads)

    def _end_started(self) -> None:
        self._is_stopping = True
        self._rouse_all()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

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
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        while not self._is_stopping:
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
