"""`Peeks`: the newest packets of streams, for a monitor's users."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from penstock.error_text import did_you_mean
from penstock.errors import FailedPreconditionError, NotFoundError, PenstockError

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable, Collection, Sequence

    from penstock import CalculatorGraph, Packet

#: A stream that was peeked at is watched on until so many packets have passed that nobody waited for. What
#: passes seldom is therefore seen whenever it passes, and a stream that nobody peeks at any more soon costs
#: nothing. With more of them a fast stream of frames costs more than the calls, 6 us each: while a frame is
#: kept, its writer needs other memory for the next one.
_WATCHED_ON: Final = 8


class _Waiting:
    """A call that waits for the next packet of each of some streams."""

    def __init__(self, streams: Collection[str]) -> None:
        self.missing: Final = set(streams)
        self.have_come: Final = threading.Event()


class _Watch:
    """A stream that is watched in one run."""

    def __init__(self, run: int) -> None:
        self.run: Final = run
        #: Packets that may still pass unasked for.
        self.left = _WATCHED_ON
        self.is_over = False
        self.unwatch: Callable[[], None] | None = None


class Peeks:
    """Waits for single packets of a graph's streams, and keeps the newest one of each.

    Args:
        graph: is not kept alive, also while somebody waits.
        names: of its streams.
    """

    def __init__(self, graph: weakref.ref[CalculatorGraph], names: Sequence[str]) -> None:
        self._graph: Final = graph
        self._names: Final = names
        #: Held for moments only, also on threads of the graph.
        self._lock: Final = threading.Lock()
        self._last: Final[dict[str, Packet]] = {}
        self._watched: Final[dict[str, _Watch]] = {}
        self._waiting: Final[set[_Waiting]] = set()
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

    def _wait(self, streams: Collection[str], timeout: float) -> dict[str, PenstockError]:
        """Wait for a packet of each stream, or the end of the run; return why some cannot be watched.

        The thread that calls wakes up once, not for each stream: each time, it takes the interpreter from
        whichever thread runs the graph.
        """
        failed: dict[str, PenstockError] = {}
        graph = self._graph()
        if graph is None or not graph.is_running:
            return failed
        waiting = _Waiting(streams)
        with self._lock:
            if self._is_closed:
                return failed
            self._waiting.add(waiting)
        try:
            for stream in sorted(streams):
                try:
                    self._watch(graph, stream)
                except FailedPreconditionError as error:
                    with self._lock:
                        waiting.missing.discard(stream)
                    if graph.is_running:  # else the run has just ended
                        failed[stream] = error.with_traceback(None)  # which would keep the graph alive
            del graph
            if waiting.missing:
                waiting.have_come.wait(timeout)
        finally:
            with self._lock:
                self._waiting.discard(waiting)
        return failed

    def _watch(self, graph: CalculatorGraph, stream: str) -> None:
        """Watch a stream in the run under way, from now on if it is not watched already.

        Raises:
            FailedPreconditionError: it cannot be watched.
        """
        watch = _Watch(graph.run_count)
        with self._lock:
            before = self._watched.get(stream)
            if before is not None and before.run == watch.run:
                before.left = _WATCHED_ON
                return
            if self._is_closed:
                return
            self._watched[stream] = watch  # that of a run before has ended with it

        def take(_: str, packet: Packet) -> None:
            leave = self._take(stream, packet, watch)
            if leave is not None:
                leave()

        try:
            unwatch = graph.watch_stream(stream, take)
        except FailedPreconditionError:
            with self._lock:
                self._end(stream, watch)
            raise
        with self._lock:
            watch.unwatch = unwatch
            is_over = watch.is_over
        if is_over:  # meanwhile
            unwatch()

    def _take(self, stream: str, packet: Packet, watch: _Watch) -> Callable[[], None] | None:
        """Keep a packet; return what ends watching, where too many have passed that nobody waited for."""
        leave = None
        with self._lock:
            if watch.is_over:
                return None
            before = self._last.get(stream)
            self._last[stream] = packet
            for waiting in self._waiting:
                if stream in waiting.missing:
                    waiting.missing.discard(stream)
                    if not waiting.missing:
                        waiting.have_come.set()
            watch.left -= 1
            if watch.left <= 0:
                leave = self._end(stream, watch)
        del before  # its payload may run code of its author
        return leave

    def _end(self, stream: str, watch: _Watch) -> Callable[[], None] | None:
        """Call it with the lock held, and what it returns without."""
        watch.is_over = True
        if self._watched.get(stream) is watch:
            del self._watched[stream]
        return watch.unwatch

    def release(self, *, for_ever: bool = False) -> None:
        """Let all that wait go on without a packet; with `for_ever`, wait no more, and watch nothing."""
        leaving: list[Callable[[], None] | None] = []
        with self._lock:
            self._is_closed = self._is_closed or for_ever
            for waiting in self._waiting:
                waiting.have_come.set()
            if self._is_closed:
                leaving = [self._end(*one) for one in list(self._watched.items())]
        for leave in leaving:
            if leave is not None:
                leave()
