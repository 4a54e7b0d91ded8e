"""Timers that end a process whose cancelled calls do not end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_remote.machine import THIS_MACHINE, Machine

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable


class Killers:
    """The timers of one process: threads may start them at the same time, and none outlives `join`.

    Args:
        grace_s: how long a cancelled call may go on.
        machine: whose timers they are.
    """

    def __init__(self, grace_s: float, machine: Machine = THIS_MACHINE) -> None:
        self._grace_s: Final = grace_s
        self._machine: Final = machine
        self._lock: Final = machine.lock()
        self._timers: list[threading.Timer] = []
        self._is_over = False

    def start(self, kill: Callable[..., object], *arguments: Any) -> threading.Timer:
        """Start a timer that calls `kill` after the grace time, and return it; after `join` it never runs."""
        timer = self._machine.timer(self._grace_s, kill, arguments)
        with self._lock:
            self._timers = [one for one in self._timers if one.is_alive()]
            if not self._is_over:
                timer.start()
                self._timers.append(timer)
        return timer

    def join(self, timeout: float) -> None:
        """Cancel all timers, and wait for each at most so many seconds; further ones are not started."""
        with self._lock:
            self._is_over = True
            timers, self._timers = self._timers, []
        for one in timers:
            one.cancel()
            one.join(timeout)
