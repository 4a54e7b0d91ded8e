"""Both ends of a stream: one writing end, and a reading end for each port that it feeds.

An `OutputStream` is written by one node (or the application) and read by any number of
`InputStream`s, each with a queue of its own. The *bound* is the smallest timestamp that may still
arrive; it only grows, and a packet moves it just past itself. A timestamp below the bound is
settled: what is in the stream at that time can no longer change. Order and type are checked once,
at the writing end, before a packet gets here; so a reading end checks nothing.

Nothing here locks or calls user code. Source of the model: MediaPipe
`framework/input_stream_manager.h` and `output_stream_manager.h`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from penstock.engine.native import mypyc_attr
from penstock.engine.packet import Packet
from penstock.payload_types import fits
from penstock.timestamp import DONE, PRESTREAM, UNSTARTED, previous_allowed

if TYPE_CHECKING:
    from penstock.engine.flow import FlowControl
    from penstock.engine.node import Node

#: Stands for "no limit"; a queue never reaches it.
UNLIMITED: Final = 2**62
#: The header of streams that have none.
NO_HEADER: Final = Packet()


def add_dropped(dropped: dict[str, int], reason: str, count: int) -> None:
    """Add to a count of dropped packets, or of elements that were cut, by reason."""
    dropped[reason] = dropped.get(reason, 0) + count


@mypyc_attr(allow_interpreted_subclasses=True)
class Queue:
    """Packets that wait for one reader, and the limit at which their sources are throttled."""

    __slots__ = (
        "delivered", "dropped", "is_full", "max_size", "may_grow", "name", "node", "queue", "throttles",
    )  # fmt: skip

    def __init__(self, name: str, node: Node | None, *, may_grow: bool = True) -> None:
        self.name: Final = name
        self.node = node
        #: The waiting packets, oldest first.
        self.queue: deque[Packet] = deque()
        #: The queue is full from this length on; `UNLIMITED` for none.
        self.max_size = UNLIMITED
        #: Whether the queue currently throttles its sources. Kept by `FlowControl`.
        self.is_full = False
        #: The sources that wait while the queue is full, see `Plan.throttled`.
        self.throttles: frozenset[int] = frozenset()
        #: Whether the deadlock resolution may raise the limit; not for pollers.
        self.may_grow: Final = may_grow
        #: Number of packets that the reader took, to use them.
        self.delivered = 0
        #: Number of packets that were thrown away instead, by reason.
        self.dropped: dict[str, int] = {}

    def count_dropped(self, reason: str, count: int) -> None:
        """Count packets on their way to this reader as dropped."""
        add_dropped(self.dropped, reason, count)


@mypyc_attr(allow_interpreted_subclasses=True)  # see `runtime.tracing`
class InputStream(Queue):
    """The reading end that belongs to one input port of a node."""

    __slots__ = ("bound", "cut", "flow", "header", "is_back_edge", "is_closed", "is_watched")

    def __init__(
        self, name: str, node: Node | None, flow: FlowControl, *, is_back_edge: bool = False
    ) -> None:
        super().__init__(name, node)
        #: The smallest timestamp that may still arrive.
        self.bound = PRESTREAM
        #: What the producer set in its `open`, or an empty packet.
        self.header = NO_HEADER
        #: Whether the connection closes a cycle.
        self.is_back_edge: Final = is_back_edge
        #: Whether the reading node has closed; whatever comes then is dropped.
        self.is_closed = False
        #: Whether the node looks at each packet that comes, not only at the first in the queue.
        self.is_watched = False
        #: Is notified when the queue falls below its limit.
        self.flow: Final = flow
        #: Reason → number of elements that the node has left out of lists that it took.
        self.cut: dict[str, int] = {}

    def head_or_bound(self) -> int:
        """Return the timestamp of the oldest waiting packet, or the bound where none waits."""
        queue = self.queue
        return queue[0].stamp if queue else self.bound

    def is_done(self) -> bool:
        """Return whether nothing waits and nothing can come."""
        return not self.queue and self.bound == DONE

    def settled(self) -> int:
        """Return the last settled timestamp before the next packet; UNSTARTED if none is."""
        return previous_allowed(self.head_or_bound())

    def pop(self) -> Packet:
        """Take the oldest packet; one must be waiting."""
        packet = self.queue.popleft()
        self.delivered += 1
        if self.is_full and len(self.queue) < self.max_size:
            self.flow.became_free(self)
        return packet

    def drop_below(self, timestamp: int, reason: str) -> int:
        """Throw away the waiting packets before `timestamp`; return how many. For input policies.

        Args:
            timestamp: the first that stays.
            reason: what the ledger says of them, in a few words.
        """
        queue, garbage = self.queue, self.flow.garbage
        count = 0
        while queue and queue[0].stamp < timestamp:
            garbage.append(queue.popleft())
            count += 1
        if count:
            self.count_dropped(reason, count)
            if self.is_full and len(queue) < self.max_size:
                self.flow.became_free(self)
        return count

    def disuse(self, reason: str, count: int) -> None:
        """Count packets that the reader took and threw away unused as dropped."""
        self.delivered -= count
        self.count_dropped(reason, count)

    def drop_all(self, reason: str) -> int:
        """Throw away all waiting packets, in whatever order their timestamps are; return how many."""
        count = len(self.queue)
        if count:
            self.flow.garbage.extend(self.queue)
            self.queue.clear()
            self.count_dropped(reason, count)
        if self.is_full:
            self.flow.became_free(self)
        return count

    def take_all(self) -> list[Packet]:
        """Take all waiting packets."""
        packets = list(self.queue)
        self.queue.clear()
        self.delivered += len(packets)
        if self.is_full:
            self.flow.became_free(self)
        return packets

    def pop_at(self, timestamp: int) -> Packet:
        """Take the packet at `timestamp`, or return an empty one that carries what is settled."""
        queue = self.queue
        if queue and queue[0].stamp == timestamp:
            return self.pop()
        settled = previous_allowed(queue[0].stamp if queue else self.bound)
        return Packet(timestamp=settled) if settled != UNSTARTED else _UNSTARTED_PACKET


_UNSTARTED_PACKET: Final = Packet(timestamp=UNSTARTED)


@mypyc_attr(allow_interpreted_subclasses=True)  # see `runtime.rows.row_reader`
class StreamObserver(Queue):
    """A reader outside the graph: a callback or a poller.

    The engine appends packets. One thread at a time takes them out, without the lock of the run.
    """

    __slots__ = ("is_claimed", "is_done", "is_poller", "last", "target", "wants_bounds", "watches")

    def __init__(
        self, name: str, target: object, *, wants_bounds: bool = False, is_poller: bool = False
    ) -> None:
        super().__init__(name, None, may_grow=False)
        #: For the runtime; the engine never reads it.
        self.target: Final = target
        #: Whether settled timestamps without packet come too, as empty packets.
        self.wants_bounds: Final = wants_bounds
        #: Drained by the application in its own time, so that no run waits for it.
        self.is_poller: Final = is_poller
        #: The last timestamp delivered or reported.
        self.last = UNSTARTED
        #: Whether a thread drains it, or it waits for one that will.
        self.is_claimed = False
        #: The stream has ended, or it watches no longer; what is queued is the last.
        self.is_done = False
        #: The stream that it came to in the middle of a run, and may leave; None: it was there before.
        self.watches: OutputStream | None = None

    def end(self) -> None:
        """Record that the stream has ended. For the engine."""
        self.is_done = True


class OutputStream:
    """The writing end: what has been promised to all readers."""

    __slots__ = (
        "accepted", "added", "bound", "classes", "dropped", "header", "id", "is_closed", "is_ordered",
        "name", "node", "observers", "offset", "readers", "type_name",
    )  # fmt: skip

    def __init__(self, number: int, name: str, classes: tuple[type, ...] | None, type_name: str) -> None:
        self.id: Final = number
        self.name: Final = name
        #: The declared classes.
        self.classes: Final = classes
        self.type_name: Final = type_name
        #: Classes that payloads are known to fit; None where any is accepted. Starts with the declared ones
        #: and grows by their subclasses as they come.
        self.accepted: set[type] | None = None if classes is None else set(classes)
        self.node: Node | None = None
        #: The bound that the readers know.
        self.bound = PRESTREAM
        #: Nothing more will be written.
        self.is_closed = False
        #: The promise of `set_timestamp_offset`, or None.
        self.offset: int | None = None
        self.header = NO_HEADER
        #: The reading ends, in the order of the graph.
        self.readers: tuple[InputStream, ...] = ()
        #: The pollers, rows and callbacks that read it; `Schedule.watch` adds some in a run.
        self.observers: tuple[StreamObserver, ...] = ()
        #: False where every reader ignores timestamps.
        self.is_ordered = True
        #: Number of packets written in this run.
        self.added = 0
        #: Number of them that were thrown away before any reader saw them, by reason.
        self.dropped: dict[str, int] = {}

    def fits(self, payload: object) -> bool:
        """Return whether a payload fits the declared classes; remembers its class if so."""
        if self.classes is None or self.accepted is None:
            return True
        if not fits(payload, self.classes):
            return False
        self.accepted.add(type(payload))
        return True
