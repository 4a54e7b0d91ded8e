"""How much a thread gives way to others: its nice level, on systems with a nice level for each thread.

Linux keeps a nice level for each thread, and a new thread starts with the level of the thread that
started it. Each thread sets its own level, once, before it takes any work. On other systems the nice
level belongs to the whole process, and an executor must not change it: the threads keep theirs.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Final

from penstock.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

_logger = get_logger("executors")


class Niced:
    """A thread's target that first adds to the nice level of the thread.

    Where that is impossible or not permitted it logs one warning for all threads that share this
    object, and the threads run at the level they have.

    Args:
        target: the function that the thread runs.
        level: added to the nice level; the system keeps the sum between -20 and 19.
    """

    def __init__(self, target: Callable[[], None], level: int) -> None:
        self._target: Final = target
        self._level: Final = level
        self._lock: Final = threading.Lock()
        self._has_warned = False

    def __call__(self) -> None:
        """Set the level of the calling thread, and run the target on it."""
        self._apply()
        self._target()

    def _apply(self) -> None:
        if sys.platform != "linux":
            self._warn(f"threads have no nice level of their own on {sys.platform}")
            return
        thread = threading.get_native_id()
        try:
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + self._level)
        except OSError as error:  # PermissionError for a level below the present one; sandboxes refuse any
            self._warn(str(error))

    def _warn(self, reason: str) -> None:
        with self._lock:
            if self._has_warned:
                return
            self._has_warned = True
        _logger.warning("nice_priority_level %d is without effect: %s", self._level, reason)
