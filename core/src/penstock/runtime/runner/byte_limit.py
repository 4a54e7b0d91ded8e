"""`ByteLimit`: fails a run whose queues hold more bytes than the application allows.

Payloads are weighed without the run's lock, since their `nbytes` is code of their authors. So nothing is
added to the way of a packet: the run's timer thread looks at the queues, 20 to 200 times a second.
"""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock.engine.schedule import PAUSED, RUNNING
from penstock.errors import ResourceExhaustedError
from penstock.explain.snapshots import payload_bytes

if TYPE_CHECKING:
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Queue
    from penstock.runtime.runner.waiting import AwaitedRun

#: How often to look at empty queues; nearly full ones are looked at ten times as often.
_LOOK_S: Final = 0.05
#: The part of the time that looking may take.
_SHARE: Final = 0.05
#: What a packet takes in a queue, besides its payload.
_PACKET_BYTES: Final = 80


class ByteLimit:
    """Looks at the queues of one run.

    Args:
        runner: of the run.
        max_bytes: the limit.
    """

    def __init__(self, runner: AwaitedRun, max_bytes: int) -> None:
        self._runner: Final = runner
        self._max_bytes: Final = max_bytes
        self._next = 0.0

    def look(self) -> float:
        """Weigh what waits, if it is time to, and fail the run if it is too much.

        Returns:
            In how many seconds to call again.
        """
        began = monotonic()
        if began < self._next:
            return self._next - began
        seen: set[int] = set()
        weights = [(_weight(packets, seen), queue) for queue, packets in self._runner.ask(_waiting)]
        total = sum(weight for weight, _ in weights)
        if total > self._max_bytes:
            self._fail(total, *max(weights, key=lambda one: one[0]))
            self._next = inf
            return inf
        took = monotonic() - began
        left = max(_LOOK_S * max(0.1, 1 - total / self._max_bytes), took / _SHARE)
        self._next = began + took + left
        return left

    def _fail(self, total: int, weight: int, queue: Queue) -> None:
        node = None if queue.node is None else queue.node.name
        reader = "a reader outside of the graph" if node is None else f"node {node!r}"
        error = ResourceExhaustedError(
            f"packets of about {total:,} bytes wait in queues, max_queued_bytes is {self._max_bytes:,}; most "
            f"of them, {weight:,} bytes, on stream {queue.name!r} at {reader}; let full queues throttle the "
            f"sources (max_queue_size), drop packets, or raise the limit\n{self._runner.story()}",
            node=node,
            stream=queue.name,
        )
        self._runner.change(_fail_unless_over, error)


def _weight(packets: list[Packet], seen: set[int]) -> int:
    """Return the bytes of packets; payloads in `seen` count no more."""
    new = {id(packet.value): packet.value for packet in packets if id(packet.value) not in seen}
    seen.update(new)
    return _PACKET_BYTES * len(packets) + sum(map(payload_bytes, new.values()))


def _waiting(schedule: Schedule) -> list[tuple[Queue, list[Packet]]]:
    queues = [queue for stream in schedule.streams for queue in (*stream.readers, *stream.observers)]
    return [(queue, list(queue.queue.copy())) for queue in queues if queue.queue]


def _fail_unless_over(schedule: Schedule, error: ResourceExhaustedError) -> None:
    if schedule.state in (RUNNING, PAUSED):
        schedule.fail(error)
