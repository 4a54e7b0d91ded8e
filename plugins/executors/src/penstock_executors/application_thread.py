"""Runs everything on the application's own thread, while that waits for the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import Executor, ExecutorDefaults, Lease

if TYPE_CHECKING:
    from penstock import Work

#: How long a wait works before it looks whether what it waits for has come, or its time is up.
_TURN_S: Final = 0.02


class ApplicationThreadExecutor(Executor):
    """Needs no thread: nodes run inside the application's waits.

    `wait_until_idle`, `wait_until_done`, a throttled add and a poller's `next` do the work. One
    packet comes through with the least delay that way, because no other thread has to wake up; but
    nothing happens while the application does other things.

    Example config::

        executor { type: "ApplicationThreadExecutor" }
    """

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> ApplicationThreadExecutor:  # noqa: ARG003
        """Make one; there are no options."""
        return cls()

    def lend_to(self, work: Work) -> Lease:
        """Serve a run from within the waits for it."""
        return _InWaits(work)


class _InWaits(Lease):
    helps = True
    watches = True

    def __init__(self, work: Work) -> None:
        self._work: Final = work

    def wake(self) -> None:
        self._work.notify_waiters()

    def help(self) -> bool:
        """Run what is ready, but not for ever: a busy graph must not keep a wait from its time-out."""
        return self._work.run(max_s=_TURN_S)

    def stop(self, timeout: float | None = None) -> bool:  # noqa: ARG002  # nothing to wait for
        return True
