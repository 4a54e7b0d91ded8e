"""The reading end of rows: a queue for each of their streams, and when a row is settled on all of them.

Everything here is called with the run's lock held. A queue throttles the sources above it as a poller's
does. If the next row needs more packets of another stream, and only a full queue of these rows keeps them
back, the limit of that queue grows: what the reader waits for must never wait for the reader.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, Self

from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.engine.stream import UNLIMITED, StreamObserver
from penstock.runtime.runner.news import current_waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from penstock.engine.node import Node
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import OutputStream
    from penstock.plan import Plan

#: Why packets are dropped, as the ledger says.
LEFT: Final = "the rows were no longer read"


class RowStream(StreamObserver):
    """The packets of one stream that wait for their rows."""

    __slots__ = ("_errors", "last_bound", "source")

    def __init__(self, source: OutputStream, reader: RowReader, schedule: Schedule) -> None:
        self._errors: Final = schedule.errors
        super().__init__(source.name, reader, is_poller=True)
        #: The writing end.
        self.source: Final = source
        #: Where the run failed before the stream's end, the bound then: nothing later is settled.
        self.last_bound: int | None = None

    def end(self) -> None:
        """Note that the stream has ended. The engine calls this at its end, before or after a failure."""
        super().end()
        self.last_bound = self.source.bound if self._errors else None

    def is_settled(self, timestamp: int) -> bool:
        """Return whether no packet at `timestamp` can come into the empty queue any more."""
        return timestamp < (self.source.bound if self.last_bound is None else self.last_bound)


class RowReader:
    """Takes rows out of the streams of one run."""

    #: What the ledger calls it.
    place: Final = "rows"

    def __init__(self, max_size: int) -> None:
        #: The thread or task that read last; before that, the one that asked for the rows.
        self.who: object = current_waiter()
        #: Whether the rows are no longer read; packets that come are dropped.
        self.is_closed = False
        self.streams: tuple[RowStream, ...] = ()
        self._max_size: Final = max_size
        self._above: dict[RowStream, list[Node]] = {}
        self._busy_since: _Busy | None = None
        self._find_above: Callable[[RowStream], list[Node]] = lambda _: []

    def attach(self, schedule: Schedule, plan: Plan, numbers: Sequence[int]) -> None:
        """Follow these streams from now on. Nothing may have been written to them yet.

        Rows need timestamps in order, so from now on the order of written packets is checked, even if no
        other reader needs that.
        """
        self._find_above = lambda stream: _nodes_above(schedule, plan, stream.source.id)
        self.streams = tuple(RowStream(schedule.streams[number], self, schedule) for number in numbers)
        for number, stream in zip(numbers, self.streams, strict=True):
            source = stream.source
            stream.throttles = plan.throttled[number]
            stream.max_size = self._max_size
            schedule.observe(source, stream)
            source.is_ordered = True

    def take(self, schedule: Schedule) -> tuple[Packet | None, ...] | None:
        """Return the packets of the next row, None for each stream that has none; None if it is not settled.

        If the row can only come when a full queue of these rows takes more packets, its limit is raised.
        """
        timestamp = self.next_settled()
        if timestamp is None:
            if self.is_in_its_own_way():
                self._make_room(schedule)
            return None
        return tuple(
            [
                schedule.polled(stream) if stream.queue and stream.queue[0].stamp == timestamp else None
                for stream in self.streams
            ]
        )

    def next_settled(self) -> int | None:
        """Return the timestamp of the next row if it is settled on all streams."""
        streams = self.streams
        if len(streams) == 1:
            queue = streams[0].queue
            return queue[0].stamp if queue else None
        heads = [stream.queue[0].stamp for stream in streams if stream.queue]
        if not heads:
            return None
        timestamp = min(heads)
        if len(heads) < len(streams):
            for stream in streams:
                if not stream.queue and not stream.is_settled(timestamp):
                    return None
        return timestamp

    def is_at_end(self) -> bool:
        """Return whether all streams have ended and no packet waits."""
        return all(stream.is_done and not stream.queue for stream in self.streams)

    def is_in_its_own_way(self) -> bool:
        """Return whether the next row waits for streams that a full queue of these rows keeps back."""
        if not any(stream.is_full for stream in self.streams):
            return False
        timestamp = min(stream.queue[0].stamp for stream in self.streams if stream.queue)
        above = {
            node
            for stream in self.streams
            if not stream.queue and not stream.is_settled(timestamp)
            for node in self._nodes_above(stream)
        }
        if not any(node.in_flight for node in above):
            return True
        full = timestamp, tuple(stream.is_full for stream in self.streams)
        busy = self._busy_since
        if busy is None or busy.full != full:
            busy = self._busy_since = _Busy(full, above)
        return not busy.may_bring_it()

    def _nodes_above(self, stream: RowStream) -> list[Node]:
        found = self._above.get(stream)
        if found is None:
            found = self._above[stream] = self._find_above(stream)
        return found

    def _make_room(self, schedule: Schedule) -> None:
        for stream in self.streams:
            if stream.is_full:
                schedule.limit(stream, 2 * len(stream.queue))

    def close(self, schedule: Schedule) -> None:
        """Read no more: packets that wait or come are dropped, and no source is throttled any more."""
        if self.is_closed:
            return
        self.is_closed = True
        for stream in self.streams:
            waiting = stream.queue
            stream.queue = _Drain(stream, schedule.garbage)
            stream.queue.extend(waiting)
            schedule.limit(stream, UNLIMITED)
        schedule.has_news = True  # for a thread that waits for a row


class _Busy:
    """Nodes above a row that is not settled, as they were when a full queue of the rows was first seen.

    Packets of other sources may keep these nodes busy without end. But the packets that could still settle
    the row were under way by then, and a node usually takes at most one step for each of them. A node that
    has taken more steps is busy with something else. (If that is wrong, a queue only grows too early.)

    Args:
        full: the timestamp of the row, and which queues are full; for another row or fullness a new object
            is made.
        nodes: the nodes above the streams that the row waits for.
    """

    def __init__(self, full: tuple[int, tuple[bool, ...]], nodes: Collection[Node]) -> None:
        self.full: Final = full
        under_way = sum(node.in_flight + sum(len(port.queue) for port in node.inputs) for node in nodes)
        self._last_step: Final = {node: node.steps + under_way for node in nodes}

    def may_bring_it(self) -> bool:
        """Return whether a node may be at work on a packet that could settle the row."""
        return any(node.in_flight and node.steps <= last for node, last in self._last_step.items())


def _nodes_above(schedule: Schedule, plan: Plan, stream: int) -> list[Node]:
    """Return the nodes whose steps may write to a stream, or set off steps that do."""
    found: dict[int, Node] = {}
    seen = {stream}
    todo = [stream]
    while todo:
        number = plan.streams[todo.pop()].producer
        if number is None or number in found:
            continue
        found[number] = schedule.nodes[number]
        above = {port.stream for port in plan.nodes[number].inputs} - seen
        seen |= above
        todo.extend(above)
    return list(found.values())


class _Drain(deque[Packet]):
    """The queue of a stream whose rows are no longer read: counts the packets that come, and stays empty."""

    def __init__(self, stream: RowStream, garbage: list[Packet]) -> None:
        super().__init__()
        self._stream: Final = stream
        self._garbage: Final = garbage

    def extend(self, packets: Iterable[Packet]) -> None:
        """Drop packets."""
        dropped = list(packets)
        self._garbage.extend(dropped)
        count = sum(packet.value is not NO_PAYLOAD for packet in dropped)
        if count:
            self._stream.count_dropped(LEFT, count)

    def copy(self) -> Self:
        """Return the packets that wait: none, now and later."""
        return self
