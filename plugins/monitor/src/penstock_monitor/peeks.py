"""`Peeks`: the next packets of streams, for a monitor's users."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from penstock.error_text import did_you_mean
from penstock.errors import FailedPreconditionError, NotFoundError, PenstockError

if TYPE_CHECKING:
    import weakref
    from collections.abc import Collection, Sequence

    from penstock import CalculatorGraph, Packet


class Peeks:
    """Waits for single packets of a graph's streams, and keeps the last one of each.

    Args:
        graph: is not kept alive, also while somebody waits.
        names: of its streams.
    """

    def __init__(self, graph: weakref.ref[CalculatorGraph], names: Sequence[str]) -> None:
        self._graph: Final = graph
        self._names: Final = names
        self._last: Final[dict[str, Packet]] = {}
        self._lock: Final = threading.Lock()
        self._waiting: Final[set[threading.Event]] = set()
        self._is_closed = False

    def peek(self, streams: Collection[str], timeout: float) -> dict[str, Packet | PenstockError | None]:
        """As `Monitor.peek_all`."""
        failed: dict[str, PenstockError] = {}
        for stream in streams:
            if stream not in self._names:
                failed[stream] = self._not_found(stream)
        failed |= self._wait(set(streams) - failed.keys(), timeout)
        return {stream: failed.get(stream) or self._last.get(stream) for stream in streams}

    def _not_found(self, stream: str) -> PenstockError:
        hint = did_you_mean(stream, list(self._names), 1)
        known = hint or f"; there are: {', '.join(map(repr, self._names))}"
        return NotFoundError(f"there is no stream {stream!r} to peek at{known}", stream=stream)

    def _wait(self, missing: set[str], timeout: float) -> dict[str, PenstockError]:
        """Wait for a packet of each stream, or the end of the run; return why some cannot be watched.

        The thread that calls wakes up once, not for each stream: each time, it takes the interpreter from
        whichever thread runs the graph.
        """
        failed: dict[str, PenstockError] = {}
        graph = self._graph()
        if graph is None or not graph.is_running:
            return failed
        have_come = threading.Event()

        def take(stream: str, packet: Packet) -> None:
            if stream in missing:
                self._last[stream] = packet
                missing.discard(stream)
                if not missing:
                    have_come.set()

        with self._lock:
            if self._is_closed:
                return failed
            self._waiting.add(have_come)
        try:
            with ExitStack() as watched:
                for stream in sorted(missing):
                    try:
                        watched.callback(graph.watch_stream(stream, take))
                    except FailedPreconditionError as error:
                        missing.discard(stream)
                        if graph.is_running:  # else the run has just ended
                            failed[stream] = error.with_traceback(None)  # which would keep the graph alive
                del graph
                if missing:
                    have_come.wait(timeout)
        finally:
            with self._lock:
                self._waiting.discard(have_come)
        return failed

    def release(self, *, for_ever: bool = False) -> None:
        """Let all that wait go on without a packet; with `for_ever`, wait no more."""
        with self._lock:
            self._is_closed = self._is_closed or for_ever
            for have_come in self._waiting:
                have_come.set()
