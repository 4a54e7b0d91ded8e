"""By hand: a thread for each node, and a queue before each.

`queue.Queue` holds 100 items, as a queue of Penstock does by default, so the memory of both is limited;
`queue.SimpleQueue` has no limit.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from streams import chain_figures, join_figures, latencies

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 100
_END = -1


def _queue(kind: str) -> queue.Queue[int] | queue.SimpleQueue[int]:
    return queue.Queue(LIMIT) if kind == "Queue" else queue.SimpleQueue()


class _Chain:
    """Node i takes from queue i and puts into queue i + 1; the last appends to `seen` and signals it."""

    def __init__(self, nodes: int, kind: str) -> None:
        self.seen: list[int] = []
        self._came = threading.Semaphore(0)
        queues = [_queue(kind) for _ in range(nodes)]
        outs: list[Callable[[int], object]] = [each.put for each in queues[1:]]
        self.feed = queues[0].put
        self._threads = [
            threading.Thread(target=self._pass_on, args=(queues[i].get, out), daemon=True)
            for i, out in enumerate([*outs, self._notice])
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _pass_on(get: Callable[[], int], put: Callable[[int], object]) -> None:
        while (number := get()) != _END:
            put(number)
        put(_END)

    def _notice(self, number: int) -> None:
        if number != _END:
            self.seen.append(number)
            self._came.release()

    def ask(self, number: int) -> None:
        self.feed(number)
        self._came.acquire()

    def end(self) -> None:
        self.feed(_END)
        for thread in self._threads:
            thread.join()


class _Join:
    """A thread that takes items of the same time from two queues; both are in order."""

    def __init__(self, kind: str) -> None:
        self.seen: list[int] = []
        self._queues = _queue(kind), _queue(kind)
        self._thread = threading.Thread(target=self._pair, daemon=True)
        self._thread.start()

    def _pair(self) -> None:
        left, right = (each.get for each in self._queues)
        a, b = left(), right()
        while _END not in (a, b):
            if a == b:
                self.seen.append(a)
            first, second = a, b
            if first <= second:
                a = left()
            if second <= first:
                b = right()

    def feed(self, number: int) -> None:
        for each in self._queues:
            each.put(number)

    def end(self) -> None:
        self.feed(_END)
        self._thread.join()


def chain(nodes: int, packets: int, kind: str) -> dict[str, float]:
    """Time a chain; `kind` is "Queue" or "SimpleQueue"."""
    return chain_figures(lambda: _Chain(nodes, kind), nodes, packets)


def latency(nodes: int, packets: int, kind: str) -> dict[str, float]:
    """Time one packet through a chain."""
    return latencies(lambda: _Chain(nodes, kind), packets)


def join(packets: int, policy: str, kind: str) -> dict[str, float]:  # noqa: ARG001  # pairs by timestamp
    """Time the pairing of two streams."""
    return join_figures(lambda: _Join(kind), packets)
