"""Timestamps of live frames: by the wall clock, always increasing, without the jitter of the network."""

from __future__ import annotations

import time
from typing import Final

from penstock_video.source import MICROSECONDS

#: A frame that comes so much later than its own time says shows that the sender's clock has jumped.
_JUMP_US: Final = MICROSECONDS
#: How far clocks of cameras run apart from ours: 500 ppm, ten times what quartz does.
_DRIFT: Final = 2000


class WallClock:
    """Microseconds since 1970, which never jump: the time of the start, counted on by the steady clock."""

    def __init__(self) -> None:
        self._ahead: Final = time.time_ns() // 1000 - time.monotonic_ns() // 1000

    def now(self) -> int:
        """Return the time, in microseconds since 1970."""
        return self._ahead + time.monotonic_ns() // 1000


class CaptureTimes:
    """Estimates when frames were captured, from their own times and the times at which they came.

    Own times are regular and begin anywhere; times of arrival are late by a delay that varies. What is added
    to the own times is the smallest delay seen, which may grow slowly, since clocks run apart. So a frame's
    time is never later than its arrival.

    Args:
        is_absolute: own times count from 1970, as times of cameras on Linux do.
    """

    def __init__(self, *, is_absolute: bool = False) -> None:
        self._is_absolute: Final = is_absolute
        self._offset: int | None = None
        self._last_arrival = 0
        #: How often the sender's clock has jumped.
        self.jumps = 0

    def time_of(self, own: int | None, arrival: int) -> int:
        """Return the time of a frame, in microseconds since 1970.

        Args:
            own: the frame's presentation time in microseconds, None where it has none.
            arrival: when it came, in microseconds since 1970; at least that of the frame before.
        """
        if own is None:
            return arrival
        delay = arrival - own
        if self._is_absolute and 0 <= delay < _JUMP_US:
            return own
        if self._offset is None:
            self._offset = delay
        elif delay - self._offset > _JUMP_US:
            self._offset = delay
            self.jumps += 1
        else:
            if self._offset - delay > _JUMP_US:
                self.jumps += 1
            drift = max(arrival - self._last_arrival, 0) // _DRIFT
            self._offset = min(delay, self._offset + drift)
        self._last_arrival = arrival
        return own + self._offset
