"""Where a node leaves frames for the thread that sends them: at most one waits.

By default a newer frame takes the place of the one that waits, and nobody waits for the sender. Or each frame
is kept, and the node waits until there is room; then frames may also be held until their time has come.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING, Final

import attrs

from penstock_video.source import MICROSECONDS

if TYPE_CHECKING:
    from penstock_formats import ImageFrame

NEWER: Final = "a newer frame came"
NOT_CONNECTED: Final = "not connected"
LOST: Final = "the connection was lost"
OVER: Final = "the stream was over"
#: A frame that is later than this is no longer waited for: the times of those after it count from it.
_LATE_S: Final = 1.0


@attrs.frozen(eq=False)
class Waiting:
    """A frame that waits."""

    frame: ImageFrame
    #: Its timestamp, microseconds.
    time: int
    #: What the node waits for; None: it does not wait.
    taken: Future[None] | None = None


class Desk:
    """Frames from a node, for one thread that takes them.

    Args:
        is_kept: keep all frames, and let the node wait.
        is_paced: let frames go at the pace of their timestamps.
    """

    def __init__(self, *, is_kept: bool = False, is_paced: bool = False) -> None:
        self._is_kept: Final = is_kept or is_paced
        self._is_paced: Final = is_paced
        self._changed: Final = threading.Condition()
        self._waiting: Final[deque[Waiting]] = deque()
        self._drops: Counter[str] = Counter()
        self._is_over = False
        #: Why frames are replaced now.
        self._reason = NOT_CONNECTED
        #: When a frame at time 0 goes out, seconds of the clock; None before the first one.
        self._origin_s: float | None = None

    def offer(self, frame: ImageFrame, time: int) -> Future[None] | None:
        """Leave a frame. Returns None, or what is done when the frame has been taken.

        Args:
            frame: is only read.
            time: its timestamp, microseconds, later than the one before.
        """
        taken: Future[None] | None = None
        with self._changed:
            if self._is_over:
                self._drops[OVER] += 1
                return None
            if self._is_kept:
                taken = Future()
            elif self._waiting:
                self._waiting.clear()
                self._drops[self._reason] += 1
            self._waiting.append(Waiting(frame, time, taken))
            self._changed.notify_all()
        return taken

    def peek(self) -> ImageFrame | None:
        """Wait for a frame, and return it without taking it; None where no more come."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_over)
            return self._waiting[0].frame if self._waiting else None

    def take(self) -> Waiting | None:
        """Wait for a frame, and for its time, and take it; None where no more come."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if not self._waiting:
                    return None
                self._wait_for_time(self._waiting[0].time)
                found = self._waiting.popleft()
            if found.taken is None:
                return found
            if found.taken.set_running_or_notify_cancel():
                found.taken.set_result(None)
                return found
            self.drop(OVER)  # the node no longer waits: its run is over

    def _wait_for_time(self, time: int) -> None:
        """Wait until a frame is due, under the lock, unless the end comes."""
        if not self._is_paced:
            return
        at = time / MICROSECONDS
        now = monotonic()
        if self._origin_s is None or now - (self._origin_s + at) > _LATE_S:
            self._origin_s = now - at
        due = self._origin_s + at
        self._changed.wait_for(lambda: self._is_over, max(0.0, due - now))

    def set_connected(self, is_connected: bool) -> None:  # noqa: FBT001  # the only one
        """Say whether frames can be sent now, which is the reason that is counted for those replaced."""
        with self._changed:
            self._reason = NEWER if is_connected else NOT_CONNECTED

    def drop(self, reason: str, count: int = 1) -> None:
        """Count frames that were taken and thrown away."""
        if count:
            with self._changed:
                self._drops[reason] += count

    def drops(self) -> dict[str, int]:
        """Return how many frames were dropped since the last call, by reason."""
        with self._changed:
            found, self._drops = self._drops, Counter()
            return dict(found)

    def end(self) -> None:
        """Take no more frames. What waits can still be taken. May be called again."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Drop what waits, and let the nodes go that wait for it."""
        with self._changed:
            gone = list(self._waiting)
            self._waiting.clear()
            if gone:
                self._drops[OVER] += len(gone)
        for one in gone:
            if one.taken is not None and one.taken.set_running_or_notify_cancel():
                one.taken.set_result(None)
