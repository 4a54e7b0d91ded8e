"""An executor without threads that picks among the ready nodes by a seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from penstock import Executor, ExecutorDefaults, ExecutorLease

if TYPE_CHECKING:
    from penstock import Work

_TURN_S: Final = 0.02


class InlineExecutor(Executor):
    """Runs nodes inside the application's waits, on its own thread, in an order that a seed decides.

    The same seed gives the same order; the outputs of a graph must not depend on it where all its
    policies are independent of order. Without a seed the scheduler decides the order.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._random: Final = None if seed is None else random.Random(seed)  # noqa: S311  # a test's order

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> InlineExecutor:  # noqa: ARG003
        """Make one without a seed."""
        return cls()

    def lend_to(self, work: Work) -> ExecutorLease:
        """Serve a run from within the waits for it."""
        return _Inline(work, self._random)


class _Inline(ExecutorLease):
    helps = True
    watches = True

    def __init__(self, work: Work, order: random.Random | None) -> None:
        self._work: Final = work
        self._choose: Final = None if order is None else order.randrange

    def wake(self) -> None:
        self._work.notify_waiters()

    def help(self) -> bool:
        # a limit, because a busy graph must not keep a wait from its time-out
        return self._work.run(choose=self._choose, max_s=_TURN_S)

    def stop(self, timeout: float | None = None) -> bool:  # noqa: ARG002  # there is no thread to wait for
        return True
