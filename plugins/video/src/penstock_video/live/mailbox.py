"""Frames on their way from the thread that reads a source to the calculator."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import av

    from penstock_video.live.events import LiveEvent
    from penstock_video.live.interrupts import Interrupts

#: How often a thread that waits for room looks whether the run is over.
_LOOK_S: Final = 0.05


class Arrived(NamedTuple):
    """A frame, and its time in microseconds."""

    frame: av.VideoFrame
    stamp: int


class Mailbox:
    """A few frames, oldest first; one thread puts them in, one call at a time takes them.

    Args:
        size: frames that may wait.
        waits: lets the reader wait for room until they are cancelled; None: the oldest frame is dropped.
    """

    def __init__(self, size: int, waits: Interrupts | None = None) -> None:
        self._size: Final = size
        self._waits: Final = waits
        self._lock: Final = threading.Lock()
        self._room: Final = threading.Condition(self._lock)
        self._frames: deque[Arrived] = deque()
        self._events: deque[LiveEvent] = deque()
        self._dropped = 0
        self._is_over = False
        self._error: BaseException | None = None
        self._waiter: Future[None] | None = None

    # --- the thread that reads ------------------------------------------------------------------

    def put(self, arrived: Arrived) -> None:
        """Add a frame."""
        with self._lock:
            while self._waits is not None and len(self._frames) >= self._size:
                if self._waits.is_cancelled:
                    return
                self._room.wait(_LOOK_S)
            if len(self._frames) >= self._size:
                self._frames.popleft()
                self._dropped += 1
            self._frames.append(arrived)
            waiter = self._wake()
        _finish(waiter)

    def tell(self, event: LiveEvent) -> None:
        """Add an event."""
        with self._lock:
            self._events.append(event)
            waiter = self._wake()
        _finish(waiter)

    def end(self, error: BaseException | None = None) -> None:
        """Say that nothing more comes, and why."""
        with self._lock:
            self._is_over, self._error = True, error
            waiter = self._wake()
        _finish(waiter)

    # --- the calculator -------------------------------------------------------------------------

    def take(self) -> Arrived | None:
        """Return the oldest frame; None where none waits."""
        with self._lock:
            if not self._frames:
                return None
            self._room.notify()
            return self._frames.popleft()

    def take_dropped(self) -> int:
        """Return how many frames were dropped since the last call."""
        with self._lock:
            dropped, self._dropped = self._dropped, 0
        return dropped

    def take_events(self) -> list[LiveEvent]:
        """Return the events since the last call."""
        if not self._events:
            return []
        with self._lock:
            events = list(self._events)
            self._events.clear()
        return events

    def is_at_end(self) -> bool:
        """Return whether all was taken and nothing more comes.

        Raises:
            BaseException: what `end` was given.
        """
        with self._lock:
            if not self._is_over or self._frames or self._events:
                return False
            error = self._error
        if error is not None:
            raise error
        return True

    async def wait(self, seconds: float) -> None:
        """Return when there is something to take or nothing more comes, or after some seconds."""
        with self._lock:
            if self._frames or self._events or self._is_over:
                return
            waiter = self._waiter = Future()
        arrival = asyncio.wrap_future(waiter)
        try:
            await asyncio.wait([arrival], timeout=seconds)
        finally:
            with self._lock:
                if self._waiter is waiter:
                    self._waiter = None
            arrival.cancel()

    def _wake(self) -> Future[None] | None:
        waiter, self._waiter = self._waiter, None
        return waiter


def _finish(waiter: Future[None] | None) -> None:
    """Wake the waiting task; without the lock, since callbacks of the future run here."""
    if waiter is not None and waiter.set_running_or_notify_cancel():
        waiter.set_result(None)
