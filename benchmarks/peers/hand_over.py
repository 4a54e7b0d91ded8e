"""The bare hand-over of a packet to another thread and back, and no nodes: what a thread pool costs at least.

As a graph of one thread does it: a lock that the other thread waits for, with a time limit, and a condition
that the caller waits for. A graph takes as long as on the application's own thread, and this.
"""

from __future__ import annotations

import threading

from streams import latencies

#: As the threads of a pool and the waits of the application: so neglected steps and signals are seen.
_LOOK_AGAIN_S = 0.005
_WAIT_S = 0.25


class _HandOver:
    """A thread that takes each number, notes it and says so."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._given = -1
        self._gate = threading.Lock()
        self._gate.acquire()
        self._changed = threading.Condition(threading.RLock())
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            while not self._gate.acquire(timeout=_LOOK_AGAIN_S):
                pass
            if self._given < 0:
                return
            with self._changed:
                self.seen.append(self._given)
                self._changed.notify_all()

    def feed(self, number: int) -> None:
        self._given = number
        self._gate.release()

    def ask(self, number: int) -> None:
        wanted = len(self.seen) + 1
        self.feed(number)
        with self._changed:
            while len(self.seen) < wanted:
                self._changed.wait(_WAIT_S)

    def end(self) -> None:
        self.feed(-1)
        self._thread.join()


def latency(nodes: int, packets: int) -> dict[str, float]:  # noqa: ARG001  # of the case
    """Time one number to another thread and back."""
    return latencies(_HandOver, packets)
