"""The thread that ends the waits of nodes whose time is over, and looks at the bytes in queues.

Only runs that have such nodes, or a limit of bytes, have it. Time is read without the run's lock: the
clock is the application's (`graph.set_clock`). So a wait is counted from the moment at which this thread
sees it, a little after it began.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from math import inf
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Final

from penstock.engine.run_state import PAUSED, RUNNING
from penstock.errors import PenstockError, ResourceExhaustedError
from penstock.runtime.threads import start

if TYPE_CHECKING:
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Queue
    from penstock.runtime.runner.waiting import AwaitedRun

#: How often a clock of the application is read: it does not report when it has moved.
_LOOK_AT_CLOCK_S: Final = 0.005
#: How long the thread sleeps at most, although every wait that begins wakes it.
_LOOK_AGAIN_S: Final = 1.0
#: How often to weigh empty queues; nearly full ones are weighed ten times as often.
_WEIGH_S: Final = 0.05
#: The part of a processor that weighing may take.
_SHARE: Final = 0.05
#: What a packet takes in a queue, besides its payload.
_PACKET_BYTES: Final = 80


class Timer:
    """Calls `Schedule.time_out` for nodes that have waited as long as their input policy allows."""

    def __init__(self, runner: AwaitedRun, max_bytes: float | None = None) -> None:
        self._runner: Final = runner
        self._byte_limit: Final = ByteLimit(runner, max_bytes) if max_bytes else None
        self._told: Final = threading.Event()
        self._is_stopping = False
        #: node id → (timestamp that it waits with, since when on the run's clock)
        self._since: dict[int, tuple[int, float]] = {}
        self._patience: Final = {node.id: node.policy.patience_s or 0.0 for node in runner.schedule.patient}
        self._thread: Final = threading.Thread(target=self._serve, name="penstock-timer", daemon=True)

    @property
    def thread_id(self) -> int | None:
        """The ident of the thread, as of `threading.get_ident`; None before it has begun."""
        return self._thread.ident

    def start(self) -> None:
        """Begin to watch.

        Raises:
            ResourceExhaustedError: the system starts no thread.
        """
        start(self._thread, "that watches the time limits of nodes and queues")

    def tell(self) -> None:
        """Report that a node may have begun to wait. Never blocks."""
        self._told.set()

    def stop(self, timeout: float | None = None) -> bool:
        """End the thread and join it; return whether it has ended."""
        self._is_stopping = True
        self._told.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        runner = self._runner
        while not self._is_stopping:
            self._told.clear()
            try:
                left = self._look(runner.now())
            except PenstockError as failure:  # of the application's clock
                runner.change(lambda schedule, failure=failure: schedule.fail(failure))
                return
            if runner.clock is not monotonic:
                left = min(left, _LOOK_AT_CLOCK_S if self._since else _LOOK_AGAIN_S)
            if self._byte_limit is not None:
                left = min(left, self._byte_limit.look())
            self._told.wait(left)

    def _look(self, now: float) -> float:
        """End the waits whose time is over; return in how many seconds to look again."""
        runner = self._runner
        waiting = runner.ask(lambda schedule: schedule.waiting())
        since = {
            node: self._since[node] if self._since.get(node, (None,))[0] == t else (t, now)
            for node, t in waiting.items()
        }
        self._since = since
        left = _LOOK_AGAIN_S
        for node, (t, began) in since.items():
            remains = began + self._patience[node] - now
            if remains > 0:
                left = min(left, remains)
                continue
            runner.change(lambda schedule, node=node, t=t: schedule.time_out(node, t))
            left = 0.0  # the node may have begun to wait for the next input set
        return left


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
