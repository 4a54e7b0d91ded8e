"""`Peeks`: the next packet of a stream, for whoever wants to look at one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from penstock.errors import FailedPreconditionError, NotFoundError
from penstock.lowlevel import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorGraph, Packet


class Peeks:
    """Waits for single packets of a graph's streams, and keeps the last one of each.

    Args:
        names: of the streams.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names: Final = names
        self._last: Final[dict[str, Packet]] = {}
        self._lock: Final = threading.Lock()
        self._waiting: Final[set[threading.Event]] = set()
        self._is_closed = False

    def peek(self, graph: CalculatorGraph | None, stream: str, timeout: float) -> Packet | None:
        """As `Monitor.peek`."""
        if stream not in self._names:
            hint = did_you_mean(stream, list(self._names), 1)
            known = hint or f"; there are: {', '.join(map(repr, self._names))}"
            raise NotFoundError(f"there is no stream {stream!r}{known}", stream=stream)
        if graph is not None and graph.is_running:
            self._wait(graph, stream, timeout)
        return self._last.get(stream)

    def _wait(self, graph: CalculatorGraph, stream: str, timeout: float) -> None:
        came = threading.Event()

        def take(_: str, packet: Packet) -> None:
            if not came.is_set():
                self._last[stream] = packet
                came.set()

        with self._lock:
            if self._is_closed:
                return
            self._waiting.add(came)
        try:
            try:
                unwatch = graph.watch_stream(stream, take)
            except FailedPreconditionError:
                if graph.is_running:
                    raise
                return  # it has just ended
            del graph
            came.wait(timeout)
            unwatch()
        finally:
            with self._lock:
                self._waiting.discard(came)

    def release(self, *, for_ever: bool = False) -> None:
        """Let all that wait go on without a packet; with `for_ever`, wait no more."""
        with self._lock:
            self._is_closed = self._is_closed or for_ever
            for came in self._waiting:
                came.set()
