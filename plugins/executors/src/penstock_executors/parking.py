"""Threads that serve one ready queue, asleep while nothing is ready.

The rule against lost wake-ups: a thread announces that it will sleep, then looks for work once
more. Whoever makes a step ready does so before it wakes; so either the look finds the step, or the
wake finds the sleeper.
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

#: A sleeping thread looks by itself this often; no wake-up is lost, this only bounds a fault of ours.
_LOOK_AGAIN_S: Final = 5.0


class ThreadsLease(Lease):
    """Some threads, from the start of a run to its end.

    Args:
        work: the ready queue of the run.
        make_threads: returns the threads, not started, that shall run the given function.
    """

    def __init__(
        self, work: Work, make_threads: Callable[[Callable[[], None]], Sequence[threading.Thread]]
    ) -> None:
        self._work: Final = work
        self._sleepers: Final[deque[threading.Lock]] = deque()
        self._is_stopping = False
        self._threads: Final = tuple(make_threads(self._serve))
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Wake the thread that fell asleep last, if any sleeps."""
        sleepers = self._sleepers
        if sleepers:
            try:
                gate = sleepers.pop()
            except IndexError:  # another waker was faster
                return
            gate.release()

    def stop(self, timeout: float | None = None) -> bool:
        """Let all threads end, and join them."""
        self._is_stopping = True
        while self._sleepers:
            self.wake()
        deadline = None if timeout is None else monotonic() + timeout
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        work = self._work
        while not self._is_stopping:
            work.run()
            self._sleepers.append(gate)
            if work.run() or self._is_stopping or not gate.acquire(timeout=_LOOK_AGAIN_S):
                self._leave(gate)

    def _leave(self, gate: threading.Lock) -> None:
        """Withdraw the announcement; where a waker has taken it already, take its signal."""
        try:
            self._sleepers.remove(gate)
        except ValueError:
            gate.acquire()
