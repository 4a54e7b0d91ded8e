"""News of a run: a condition that event loops can listen to as well as threads.

Invariant: listeners are added, removed and called with the run's lock held, so they only post; none may
block or call code of users.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


class News(threading.Condition):
    """A condition whose `notify_all` tells listeners too, for those who wait without a thread.

    Attributes:
        listeners: called without arguments at each `notify_all`.
    """

    def __init__(self, lock: threading.RLock) -> None:
        super().__init__(lock)
        self.listeners: Final[list[Callable[[], None]]] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Wait as a condition does; the lock is held afterwards, also where an interrupt came in between.

        The standard library's comes back without the lock from an interrupt that hits it between releasing
        the lock and its `try`. Whoever holds it by `with` would then raise RuntimeError instead.
        """
        try:
            return super().wait(timeout)
        except BaseException:
            if not self._is_owned():  # type: ignore[attr-defined]  # of threading.Condition, for its heirs
                self.acquire()
            raise

    def notify_all(self) -> None:
        """Wake all who wait, threads and listeners."""
        super().notify_all()
        for listener in self.listeners:
            listener()


def is_on_event_loop() -> bool:
    """Return whether the calling thread runs an event loop, which must not be kept."""
    asyncio = sys.modules.get("asyncio")  # importing it costs 30 ms; without it there is no loop
    return asyncio is not None and asyncio._get_running_loop() is not None  # noqa: SLF001  # public in all but name


def current_waiter() -> object:
    """Return what would wait if the caller did: the task on an event loop, else the ident of the thread."""
    if is_on_event_loop():
        task: object = sys.modules["asyncio"].current_task()
        if task is not None:
            return task
    return threading.get_ident()
