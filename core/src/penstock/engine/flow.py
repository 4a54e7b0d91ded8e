"""Back-pressure: which full queue throttles which source.

A queue that reaches its limit throttles every source above it: source nodes are not scheduled,
graph inputs refuse or wait. Only sources wait, never a node in between, and so packets under way
always drain; a queue may therefore exceed its limit by the packets under way. Throttling never
changes results. Where everything waits because a queue is full, `Schedule` raises that queue's limit or
reports a deadlock.

Sources are known by number: a source node by its id, a graph input by the complement of its
stream's number. Source of the rules: MediaPipe `framework/calculator_graph.cc`,
`UpdateThrottledNodes` and `UnthrottleSources`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.native import mypyc_attr

if TYPE_CHECKING:
    from penstock.engine.packet import Packet
    from penstock.engine.stream import Queue


@mypyc_attr(allow_interpreted_subclasses=True)  # see `runtime.tracing`
class FlowControl:
    """The full queues of a run, and the sources that wait for them."""

    __slots__ = ("_waits_for", "freed", "full", "garbage")

    def __init__(self) -> None:
        #: The queues that are full now and throttle a source.
        self.full: dict[int, Queue] = {}
        #: Sources that have just become free; taken by `Schedule`.
        self.freed: list[int] = []
        #: Dropped packets; the runtime frees them outside its lock.
        self.garbage: list[Packet] = []
        self._waits_for: dict[int, int] = {}

    def is_throttled(self, source: int) -> bool:
        """Return whether a source must wait."""
        return source in self._waits_for

    def throttled(self) -> list[int]:
        """Return the sources that wait, in ascending order."""
        return sorted(self._waits_for)

    def became_full(self, queue: Queue) -> None:
        """Throttle the sources of a queue that has reached its limit."""
        queue.is_full = True
        if not queue.throttles:
            return
        self.full[id(queue)] = queue
        for source in queue.throttles:
            self._waits_for[source] = self._waits_for.get(source, 0) + 1

    def became_free(self, queue: Queue) -> None:
        """Release the sources of a queue that is below its limit again, or has a new one."""
        queue.is_full = False
        if self.full.pop(id(queue), None) is None:
            return
        for source in queue.throttles:
            left = self._waits_for[source] - 1
            if left:
                self._waits_for[source] = left
            else:
                del self._waits_for[source]
                self.freed.append(source)

    def set_limit(self, queue: Queue, max_size: int) -> None:
        """Give a queue another limit, and throttle or free its sources accordingly."""
        queue.max_size = max_size
        full = len(queue.queue) >= max_size
        if full and not queue.is_full:
            self.became_full(queue)
        elif queue.is_full and not full:
            self.became_free(queue)
