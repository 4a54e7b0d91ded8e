"""Runs all nodes on the application's own thread, while that thread waits for the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import Executor, ExecutorDefaults, ExecutorLease

if TYPE_CHECKING:
    from penstock import Work

#: How long a wait runs nodes before it checks its condition and its time-out.
_TURN_S: Final = 0.02


class ApplicationThreadExecutor(Executor):
    """Has no thread of its own: nodes run inside the application's waits.

    Nodes run inside `wait_until_idle`, `wait_until_done`, a throttled add and a poller's `next`. A
    single packet passes with the least delay, because no other thread has to wake up; but no node
    runs while the application does other things.

    Example config::

        executor { type: "ApplicationThreadExecutor" }
    """

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> ApplicationThreadExecutor:  # noqa: ARG003
        """Make one; this executor has no options."""
        return cls()

    def lend_to(self, work: Work) -> ExecutorLease:
        """Serve a run inside the application's waits for it."""
        return _InWaits(work)


class _InWaits(ExecutorLease):
    helps = True
    watches = True

    def __init__(self, work: Work) -> None:
        self._work: Final = work

    def wake(self) -> None:
        self._work.notify_waiters()

    def help(self) -> bool:
        """Run the steps that are ready, for a limited time: a busy graph must not delay a time-out."""
        return self._work.run(max_s=_TURN_S)

    def stop(self, timeout: float | None = None) -> bool:  # noqa: ARG002  # nothing to wait for
        return True
