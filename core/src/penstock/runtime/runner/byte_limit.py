"""The limit of bytes in the queues of one run, `max_queued_bytes`."""

from __future__ import annotations

import os
from contextlib import suppress
from math import inf
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Final

from penstock.engine.run_state import PAUSED, RUNNING
from penstock.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Queue
    from penstock.runtime.runner.waiting import AwaitedRun

#: How often to weigh empty queues; nearly full ones are weighed ten times as often.
_WEIGH_S: Final = 0.05
#: The part of a processor that weighing may take.
_SHARE: Final = 0.05
#: What a packet takes in a queue, besides its payload.
_PACKET_BYTES: Final = 80


def half_of_memory() -> float:
    """Return half of the machine's memory in bytes; infinity where the system does not tell it."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):  # no sysconf on Windows, or not these names
        return inf
    return size if size > 0 else inf


class ByteLimit:
    """Fails one run if packets of more bytes wait in its queues than the application allows.

    Payloads are weighed without the lock, since their `nbytes` is code of their authors. So nothing is added
    to the way of a packet: the run's timer thread looks at the queues, 20 to 200 times a second.
    """

    def __init__(self, runner: AwaitedRun, max_bytes: float) -> None:
        from penstock.explain.snapshots import payload_bytes  # for few runs, and before queues fill up

        self._size: Final = payload_bytes
        self._runner: Final = runner
        self._max_bytes: Final = max_bytes
        self._next = 0.0

    def look(self) -> float:
        """Weigh what waits, if it is time to; return in how many seconds to call again.

        The run fails if it is too much.
        """
        began, used = monotonic(), thread_time()
        if began < self._next:
            return self._next - began
        payloads: dict[int, object] = {}
        weights = []
        for queue, packets in self._runner.ask(_waiting):
            new = {id(packet.value): packet.value for packet in packets if id(packet.value) not in payloads}
            payloads.update(new)
            weights.append((_PACKET_BYTES * len(packets) + sum(map(self._size, new.values())), queue))
        total = sum(weight for weight, _ in weights)
        if total > self._max_bytes:
            self._fail(total, *max(weights, key=lambda one: one[0]))
            self._next = inf
            return inf
        # Processor time: what other work took from this thread is no cost of weighing, no reason to pause.
        took = thread_time() - used
        left = max(_WEIGH_S * max(0.1, 1 - total / self._max_bytes), took / _SHARE)
        self._next = monotonic() + left
        return left

    def _fail(self, total: int, weight: int, queue: Queue) -> None:
        node = None if queue.node is None else queue.node.name
        reader = "a reader outside of the graph" if node is None else f"node {node!r}"
        error = ResourceExhaustedError(
            f"packets of about {total:,} bytes wait in queues, max_queued_bytes is {self._max_bytes:,.0f}; "
            f"most of them, {weight:,} bytes, on stream {queue.name!r} at {reader}; let full queues throttle "
            f"the sources (max_queue_size), drop packets, or raise the limit\n{self._runner.story()}",
            node=node,
            stream=queue.name,
        )
        self._runner.change(lambda run: run.fail(error) if run.state in (RUNNING, PAUSED) else None)


def _waiting(schedule: Schedule) -> list[tuple[Queue, list[Packet]]]:
    found: list[tuple[Queue, list[Packet]]] = []
    for queue in (queue for stream in schedule.streams for queue in (*stream.readers, *stream.observers)):
        with suppress(RuntimeError):  # a callback takes packets out without the lock; the next look counts
            found.append((queue, list(queue.queue)))
    return found
