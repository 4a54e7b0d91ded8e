"""A clock that a test moves by hand."""

from __future__ import annotations

import threading


class ManualClock:
    """Replaces `time.monotonic` and sleeping where a calculator takes its clock as a side packet.

    Time passes only when the test moves the clock, so that no test has to sleep.
    """

    def __init__(self, now_s: float = 0.0) -> None:
        self._now_s = now_s
        self._moved = threading.Condition()

    def __call__(self) -> float:
        """Return the time in seconds, as `time.monotonic` would."""
        with self._moved:
            return self._now_s

    def advance(self, seconds: float) -> None:
        """Let time pass, and wake the threads that sleep until then.

        Raises:
            ValueError: `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError(f"the clock's time cannot go back by {-seconds} s")
        with self._moved:
            self._now_s += seconds
            self._moved.notify_all()

    def sleep_until(self, moment_s: float, timeout_s: float = 10.0) -> bool:
        """Block until the clock shows `moment_s`; return whether it does.

        Args:
            moment_s: on this clock.
            timeout_s: real seconds after which to give up, so that no test hangs.
        """
        with self._moved:
            return self._moved.wait_for(lambda: self._now_s >= moment_s, timeout_s)
