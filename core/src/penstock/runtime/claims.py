"""Work on a graph that one thread at a time does: to start a run, and to end one."""

from __future__ import annotations

import os
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock.errors import WaitTimeoutError

if TYPE_CHECKING:
    from threading import Condition

#: How long a waiting thread sleeps at most before it looks again, in seconds.
_LOOK_AGAIN_S: Final = 0.25


class Claim:
    """One piece of such work. All methods are called with the condition held.

    A thread never waits for itself: a destructor may ask on the thread that has the claim. In a forked child
    the claims of the parent's threads, which are not there, count no more.

    Args:
        changed: notified when the work is done.
        work: what it is, for messages: "starts a run".
    """

    def __init__(self, changed: Condition, work: str) -> None:
        self._changed: Final = changed
        self._work: Final = work
        #: Process and thread that have it; None: free.
        self._holder: tuple[int, int] | None = None

    def is_here(self) -> bool:
        """Return whether this thread has the claim."""
        return self._holder == (os.getpid(), get_ident())

    def take(self) -> None:
        """Let this thread have the claim, which no other thread has."""
        self._holder = os.getpid(), get_ident()

    def give_back(self) -> None:
        """Let other threads have the claim."""
        self._holder = None
        self._changed.notify_all()

    def wait(self, timeout: float) -> None:
        """Wait until no other thread has the claim.

        Raises:
            WaitTimeoutError: one still has it after so many seconds.
        """
        deadline = monotonic() + timeout
        while self._holder is not None and self._holder[0] == os.getpid() and not self.is_here():
            if monotonic() > deadline:
                raise WaitTimeoutError(
                    f"another thread {self._work}, and still has that claim after {timeout:g} s"
                )
            self._changed.wait(_LOOK_AGAIN_S)
