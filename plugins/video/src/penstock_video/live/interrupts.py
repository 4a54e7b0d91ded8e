"""Time-outs for libav that another thread can end at once.

libav asks a callback ten times a second, in each of its waits, whether it has to give up. PyAV's callback
compares `time.monotonic()` with the time-out of `av.open`. Here that clock, as PyAV's module sees it, jumps
ahead in a thread whose `Interrupts` are over: libav then gives up within a tenth of a second, and closes
what it has opened. In all other threads it is the usual clock.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import av.container.core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: More than any time-out.
_JUMP_S: Final = 1e9
#: The time-out that PyAV is given, so that it asks its clock; what counts is `Interrupts`.
LONGEST_S: Final = 1e8


class Interrupts:
    """When the waits of libav in one thread end. Any thread may call `cancel`.

    Args:
        is_unwanted: asked ten times a second during waits; once it is true they end, as by `cancel`.
    """

    def __init__(self, is_unwanted: Callable[[], bool] = bool) -> None:
        self._is_unwanted: Final = is_unwanted
        self._cancelled = threading.Event()
        self._until: float | None = None
        self._jumps = 0

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self._until is not None and time.monotonic() > self._until

    def cancel(self) -> None:
        """End all waits, now and from now on."""
        self._cancelled.set()

    def sleep(self, seconds: float) -> bool:
        """Wait; return at once when cancelled, and whether that is so."""
        return self._cancelled.wait(seconds)

    def allow(self, seconds: float | None) -> None:
        """Let waits from now on take so long in all; None: as long as they like."""
        self._until = None if seconds is None else time.monotonic() + seconds

    @contextmanager
    def around_libav(self) -> Iterator[None]:
        """Let these interrupts end the waits of libav in this thread within a `with` block."""
        before = getattr(_HERE, "interrupts", None)
        _HERE.interrupts = self
        try:
            yield
        finally:
            _HERE.interrupts = before

    def clock(self) -> float:
        """Return the time for PyAV: when the waits are over, further ahead with each call.

        PyAV notes the time at which a wait begins by the same clock, so a constant would never be late.
        """
        now = time.monotonic()
        if not self._cancelled.is_set() and self._is_unwanted():
            self.cancel()
        if not (self._cancelled.is_set() or self.is_late):
            return now
        self._jumps += 1
        return now + self._jumps * _JUMP_S


class _Clock:
    """The module `time`, as PyAV sees it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    @staticmethod
    def monotonic() -> float:
        interrupts: Interrupts | None = getattr(_HERE, "interrupts", None)
        return time.monotonic() if interrupts is None else interrupts.clock()


#: The interrupts of each thread.
_HERE: Final = threading.local()
_core: Any = av.container.core
#: Whether PyAV asks the clock here. If not, waits end with their time-outs alone, and not when cancelled.
CAN_CANCEL: Final = getattr(_core, "time", None) is time or isinstance(getattr(_core, "time", None), _Clock)
if CAN_CANCEL:
    _core.time = _Clock()
