"""Messages that come in the order of one clock, put into the order of their stamps.

What comes is held back until what came after it is `window_ns` younger by the first clock. So the order
does not depend on how often somebody asks, and no more than such a window is held.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any, Final

import attrs


@attrs.define(order=False)
class Waiting:
    """A message that waits for its turn."""

    #: Its timestamp, in microseconds.
    stamp: int
    #: When it was written into the bag, in nanoseconds.
    log_ns: int
    #: Which output it is for.
    place: int
    message: Any
    has_left: bool = False


class Reorder:
    """Holds messages; not for several threads at once."""

    def __init__(self, window_ns: int) -> None:
        self._window: Final = window_ns
        #: By stamp; messages of one stamp in the order in which they came.
        self._heap: Final[list[tuple[int, int, Waiting]]] = []
        #: In the order in which they came.
        self._coming: Final[deque[Waiting]] = deque()
        #: What came last: it counts as time that has passed before it counts as a message.
        self._latest: Waiting | None = None
        self._number = 0
        self._now_ns = 0

    def put(self, one: Waiting) -> None:
        """Take the next message, after `take` has returned None; by log time it may be a little behind."""
        self._now_ns = max(self._now_ns, one.log_ns)
        self._latest = one

    def put_again(self, one: Waiting) -> None:
        """Take a message that has left, with a new and later stamp."""
        self._number += 1
        heapq.heappush(self._heap, (one.stamp, self._number, one))
        self._coming.append(one)

    def take(self, *, at_end: bool = False) -> Waiting | None:
        """Return the message with the smallest stamp if nothing earlier can come; None where one may.

        Args:
            at_end: no more messages come.
        """
        if (found := self._due(at_end=at_end and self._latest is None)) is not None:
            return found
        if self._latest is not None:
            self.put_again(self._latest)
            self._latest = None
        return self._due(at_end=at_end)

    def _due(self, *, at_end: bool) -> Waiting | None:
        while self._coming and self._coming[0].has_left:
            self._coming.popleft()
        if not self._coming or not (at_end or self._now_ns - self._coming[0].log_ns >= self._window):
            return None
        found = heapq.heappop(self._heap)[2]
        found.has_left = True
        return found
