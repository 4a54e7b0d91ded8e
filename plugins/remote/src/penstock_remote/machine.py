"""Threads, locks and time of this machine, as the two ends of a remote node get them.

A trial gives the protocol code another `Machine`, whose time and threads are simulated, so that the same code
runs without processes.
"""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Machine:
    """Makes what waits: locks, threads, timers. Each is what the standard library has."""

    #: Seconds of the steady clock.
    monotonic = staticmethod(time.monotonic)

    def lock(self) -> threading.Lock:
        """Return a new lock."""
        return threading.Lock()

    def condition(self, lock: threading.Lock) -> threading.Condition:
        """Return a condition of a lock."""
        return threading.Condition(lock)

    def event(self) -> threading.Event:
        """Return a new event."""
        return threading.Event()

    def queue(self) -> SimpleQueue[Any]:
        """Return a new queue."""
        return SimpleQueue()

    def thread(self, target: Callable[[], object], name: str) -> threading.Thread:
        """Return a thread that is not started, and that no program waits for at its end."""
        return threading.Thread(target=target, name=name, daemon=True)

    def timer(
        self, seconds: float, function: Callable[..., object], arguments: Sequence[Any]
    ) -> threading.Timer:
        """Return a timer that is not started, and that no program waits for at its end."""
        timer = threading.Timer(seconds, function, arguments)
        timer.daemon = True
        return timer


#: This machine.
THIS_MACHINE: Final = Machine()
