"""News of a run: a condition that event loops can listen to as well as threads.

Invariant: listeners are added, removed and called with the run's lock held, so a listener only posts a call
to its event loop; it must neither block nor call user code.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


class News(threading.Condition):
    """A condition whose `notify_all` also calls listeners, for tasks that wait without a thread."""

    def __init__(self, lock: threading.RLock) -> None:
        super().__init__(lock)
        #: Called without arguments at each `notify_all`.
        self.listeners: Final[list[Callable[[], None]]] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Wait as a condition does; the lock is held afterwards, also after an interrupt.

        `Condition.wait` of the standard library raises without the lock if an interrupt hits it between
        releasing the lock and its `try`. A `with` block around it would then raise RuntimeError instead.
        """
        try:
            return super().wait(timeout)
        except BaseException:
            if not self._is_owned():  # type: ignore[attr-defined]  # of threading.Condition, for subclasses
                self.acquire()
            raise

    def notify_all(self) -> None:
        """Wake all waiting threads and call all listeners."""
        super().notify_all()
        for listener in self.listeners:
            listener()


def is_on_event_loop() -> bool:
    """Return whether the calling thread runs an event loop, which must not be blocked."""
    # Importing asyncio costs 30 ms. While another thread imports it, it lacks names, and no loop runs here.
    running = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)  # public in all but name
    return running is not None and running() is not None


def current_waiter() -> object:
    """Return what waits when the caller waits: the task on an event loop, else the ident of the thread."""
    if is_on_event_loop():
        task: object = sys.modules["asyncio"].current_task()
        if task is not None:
            return task
    return threading.get_ident()
