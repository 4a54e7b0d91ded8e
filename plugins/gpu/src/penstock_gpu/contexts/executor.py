"""The thread of a GL context as an executor: the nodes of one context run on it, one after the other.

A job on the context's thread runs a graph's steps one after the other, and between two steps the jobs that
were posted meanwhile. So neighbouring nodes need no thread change, a busy source does not delay deletions,
two graphs on one context take turns, and a node's `GlContext.run` is a plain call.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock import Executor, ExecutorLease
from penstock_gpu.contexts.gl_thread import GlThread, drain_errors

if TYPE_CHECKING:
    from penstock import Work
    from penstock_gpu.contexts.context import GlContext

#: How long a wait on the context's own thread runs steps before it checks its condition again.
_TURN_S: Final = 0.02


class GlExecutor(Executor):
    """Runs nodes on the thread of a context. It serves any number of runs at once, and owns no thread.

    A run that a calculator with an inner graph starts on that same thread cannot use the thread while the
    calculator waits for the run. The steps of such a run are done inside these waits.

    Args:
        context: a context with a thread; borrowed.
        name: the name of the queue of its nodes.
    """

    def __init__(self, context: GlContext, name: str) -> None:
        #: `context`, `name`: as given.
        self.context: Final = context
        self.name: Final = name
        #: Whether a job of some run is running. Only the context's thread reads and changes it.
        self.is_busy = False
        #: One for each run that it serves.
        self.leases: Final[set[GlLease]] = set()

    @property
    def runs(self) -> int:
        """How many runs it serves."""
        return len(self.leases)

    def lend_to(self, work: Work) -> ExecutorLease:
        """Serve a run."""
        lease = (_LeaseInWaits if self.context.is_current() else GlLease)(self, work)
        self.leases.add(lease)
        return lease


class GlLease(ExecutorLease):
    """One run's steps, in jobs on a context's thread: at most one is posted at any time.

    There is no lock between the waking thread and the context's thread: a job clears `_is_posted` before it
    looks for a step, and a step is ready before `wake` is called. So either the job finds the step, or `wake`
    finds `_is_posted` cleared.

    Args:
        executor: whose context's thread runs the steps.
        work: the run's.
    """

    #: There is one thread, and it looks again after each step: no other thread could take the remaining
    #: steps.
    watches = True

    def __init__(self, executor: GlExecutor, work: Work) -> None:
        self._executor: Final = executor
        self._context: Final = executor.context
        assert isinstance(executor.context.thread, GlThread)  # a context without a thread has no executor  # noqa: S101
        self._thread: Final = executor.context.thread
        #: None once the lease is stopped: a job that is still posted keeps nothing of the run alive.
        self._work: Work | None = work
        self._is_posted = False
        self._is_stopping = False
        #: Whether a job of this lease is running. Only the context's thread reads and changes it.
        self._is_running = False
        #: Held by the thread while it runs steps, and from `stop` on by the thread that called it. Only
        #: `stop` waits for it; a second `stop` by the same thread, after an interrupt, does not wait.
        self._inside: Final = threading.RLock()

    def thread_count(self) -> int:
        """Return 1: the context's thread, which other runs may use too."""
        return 1

    def wake(self) -> None:
        """Post a job, unless one is posted."""
        if not self._is_posted:
            self._is_posted = True
            self._context.post(self._take_steps)

    def _take_steps(self) -> None:
        """Run steps until none is ready; between two steps of another run, only one.

        Also run only one step of a run that was started on this thread, so that no step of another run is
        nested in it: that step could be the calculator's, which waits for this run.
        """
        self._is_posted = False
        if self._is_running or not self._inside.acquire(blocking=False):
            return  # the running job looks again, or the lease is being stopped
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
        """Run the jobs that were posted since the last step; return whether to stop.

        GL errors that the step has left are logged and cleared, so that the next node is not blamed.
        """
        drain_errors(self._context)
        if not self._thread.is_idle():
            self._thread.serve()
        return self._is_stopping

    def stop(self, timeout: float | None = None) -> bool:
        """Take no further step; wait for the running one. The thread continues with its other jobs."""
        self._is_stopping = True
        if not self._inside.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            return False
        self._work = None
        self._executor.leases.discard(self)
        return True


class _LeaseInWaits(GlLease):
    """A lease of a run that was started on the context's thread: waits for the run do its steps too."""

    helps = True

    def wake(self) -> None:
        """Post a job, and make the waiting thread look for work."""
        if self._work is not None:
            self._work.notify_waiters()
        super().wake()

    def help(self) -> bool:
        """Run the ready steps in the context for a short while; return whether there were any."""
        work = self._work
        return work is not None and self._context.run(partial(work.run, max_s=_TURN_S))
