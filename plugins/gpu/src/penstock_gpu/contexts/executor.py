"""The thread of a GL context as an executor of graphs: nodes of one context follow one another on it.

A job on the context's thread runs a graph's steps one after the other, and between two of them all that
was posted there meanwhile. So neighbours need no hand-off, a busy source does not keep deletions from
their turn, two graphs on one context take turns, and a node's `GlContext.run` is a plain call.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock import Executor, Lease
from penstock_gpu.contexts.gl_thread import GlThread, drain_errors

if TYPE_CHECKING:
    from penstock import Work
    from penstock_gpu.contexts.context import GlContext

#: How long a wait on the context's own thread works before it looks whether what it waits for has come.
_TURN_S: Final = 0.02


class GlExecutor(Executor):
    """Runs nodes on the thread of a context. Serves any number of runs at once, and owns no thread.

    A run that is started on that very thread, by a calculator that has a graph inside, cannot have the
    thread while the calculator waits for it. Such a run does its steps inside these waits.

    Args:
        context: one with a thread of its own; borrowed.
        name: what the queue of its nodes is called.

    Attributes:
        context, name: as given.
        is_busy: whether a job of some run is under way. Only the context's thread asks and changes it.
        leases: one for each run that it serves now.
    """

    def __init__(self, context: GlContext, name: str) -> None:
        self.context: Final = context
        self.name: Final = name
        self.is_busy = False
        self.leases: Final[set[GlLease]] = set()

    @property
    def runs(self) -> int:
        """How many runs it serves now."""
        return len(self.leases)

    def lend_to(self, work: Work) -> Lease:
        """Serve a run."""
        lease = (_LeaseInWaits if self.context.is_current() else GlLease)(self, work)
        self.leases.add(lease)
        return lease


class GlLease(Lease):
    """One run's steps, in jobs on a context's thread: at most one is posted at any time.

    There is no lock between who wakes and the thread: a job takes the note that it is posted away before
    it looks for a step, and a step is ready before somebody wakes. So either the job finds the step, or
    the waker finds no note.

    Args:
        executor: whose context's thread runs the steps.
        work: the run's.
    """

    #: There is one thread, and after each step it looks again: no other could take what is left behind.
    watches = True

    def __init__(self, executor: GlExecutor, work: Work) -> None:
        self._executor: Final = executor
        self._context: Final = executor.context
        assert isinstance(executor.context.thread, GlThread)  # one without has no executor  # noqa: S101
        self._thread: Final = executor.context.thread
        #: None once the lease has been stopped: a job that is still posted keeps nothing of the run alive.
        self._work: Work | None = work
        self._is_posted = False
        self._is_stopping = False
        #: Whether a job of this lease is under way. Only the context's thread asks and changes it.
        self._is_running = False
        #: Held by the thread while it runs steps, and for ever by who has stopped the lease. Nobody waits
        #: for it but who stops; a second stop by the same thread, after an interrupt, passes.
        self._inside: Final = threading.RLock()

    def thread_count(self) -> int:
        """Return 1: the context's thread, which other runs may use too."""
        return 1

    def wake(self) -> None:
        """Have a job posted, unless one is."""
        if not self._is_posted:
            self._is_posted = True
            self._context.post(self._take_steps)

    def _take_steps(self) -> None:
        """Run steps until none is ready; only one within the job of another run, between two of its steps.

        And only one of a run that was started on this thread, so that no other run's step is within it: it
        could be the calculator's, which waits for that very run.
        """
        self._is_posted = False
        if self._is_running or not self._inside.acquire(blocking=False):
            return  # that job looks again, or the lease is being stopped
        executor = self._executor
        was_busy, executor.is_busy, self._is_running = executor.is_busy, True, True
        try:
            if self._work is None or self._is_stopping:
                return
            if was_busy or self.helps:
                self._work.step()
            else:
                self._work.run(interrupted=self._serve_others)
        finally:
            executor.is_busy, self._is_running = was_busy, False
            self._inside.release()

    def _serve_others(self) -> bool:
        """Run what was posted since the last step; return whether to stop.

        GL errors that the step has left are logged and taken away: the next node shall not be blamed.
        """
        drain_errors(self._context)
        if not self._thread.is_idle():
            self._thread.serve()
        return self._is_stopping

    def stop(self, timeout: float | None = None) -> bool:
        """Take no further step; wait for the one under way. The thread goes on with its other jobs."""
        self._is_stopping = True
        if not self._inside.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            return False
        self._work = None
        self._executor.leases.discard(self)
        return True


class _LeaseInWaits(GlLease):
    """The same, where the run was started on the context's thread: who waits for it does its steps too."""

    helps = True

    def wake(self) -> None:
        """Have a job posted, and whoever waits look for work."""
        if self._work is not None:
            self._work.notify_waiters()
        super().wake()

    def help(self) -> bool:
        """Run what is ready, in the context, for a short while; return whether there was any."""
        work = self._work
        return work is not None and self._context.run(partial(work.run, max_s=_TURN_S))
