"""`Monitor`: readings of a graph several times a second, on a thread of its own."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Final, Self

from penstock.errors import FailedPreconditionError, InvalidArgumentError, PenstockError, words_of
from penstock.log import get_logger
from penstock_monitor.budget import Budget
from penstock_monitor.follower import Follower
from penstock_monitor.peeks import Peeks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import TracebackType

    from penstock import CalculatorGraph, Packet
    from penstock_monitor.reading import Reading
    from penstock_monitor.sampling import Sample

_LOG: Final = get_logger("monitor")
#: Of one processor, that a monitor takes at most.
_SHARE: Final = 0.01
#: How often the thread looks whether the interpreter is about to end.
_LOOK_S: Final = 0.5


class Monitor:
    """Reads the numbers of a graph several times a second, whether it runs or not.

    It may be made before, during or after a run, and follows the graph from run to run. It polls
    `graph.snapshot()`: no tracer, and no observer but for the few packets of a latency sample or a peek. It
    holds the graph weakly; when the application drops the graph, the monitor is closed. Its methods may be
    called from any thread, but for callbacks and calculators of the graph.

    Args:
        graph: to look at.
        interval_s: seconds between two readings, above 0. It is longer where the budget asks for that.
        latencies: whether timestamps are sampled; without, no packet is ever watched but by `peek`.
        on_sample: gets each sampled timestamp too, on the monitor's thread; must not raise.
        over_all: returns whether the next one is to be followed over all streams; else it is from where it
            enters the graph to where it leaves.
        on_reading: gets each reading, and the graph, as soon as it is taken, mostly on the monitor's thread;
            must not raise.
        budget: what the readings may cost, shared with other jobs; None for 1 % of a processor.
        clock: in seconds, never decreases; a test may move it. The pauses do not read it.

    Raises:
        InvalidArgumentError: `interval_s` is not above 0.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        graph: CalculatorGraph,
        interval_s: float = 0.2,
        *,
        latencies: bool = True,
        on_sample: Callable[[Sample], object] = lambda _: None,
        over_all: Callable[[], bool] = lambda: False,
        on_reading: Callable[[Reading, CalculatorGraph], object] = lambda *_: None,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not interval_s > 0:
            raise InvalidArgumentError(f"the monitor's interval_s {interval_s}: must be above 0 seconds")
        self._interval_s: Final = interval_s
        self._budget: Final = Budget(_SHARE) if budget is None else budget
        self._on_reading: Final = on_reading
        self._stop: Final = threading.Event()
        stop = self._stop
        self._graph: Final = weakref.ref(graph, lambda _: stop.set())
        self._follower: Final = Follower(
            graph, clock, samples=latencies, on_sample=on_sample, over_all=over_all
        )
        self._peeks: Final = Peeks(self._graph, self._follower.names)
        #: Held while a reading is taken.
        self._taking: Final = threading.Lock()
        self._news: Final = threading.Condition()
        self._newest: Reading | None = None
        self._failure: Exception | None = None
        self._is_closed = False
        self._thread: Final = threading.Thread(target=self._poll, name="penstock-monitor")
        self._thread.start()

    # --- reading ------------------------------------------------------------------------------

    @property
    def graph(self) -> CalculatorGraph | None:
        """The graph; None where the application has dropped it."""
        return self._graph()

    @property
    def is_closed(self) -> bool:
        """Whether no more readings come: `close` was called, or the graph is gone."""
        return self._is_closed

    def reading(self) -> Reading:
        """Return the newest reading; take one at once if there is none yet.

        Raises:
            FailedPreconditionError: there is none, and the graph is gone.
            PenstockError: the monitor has failed.
        """
        if self._newest is None and self._failure is None:
            graph = self._graph()
            if graph is None:
                raise FailedPreconditionError("the monitor has no reading, and its graph is gone")
            self._take(graph, only_first=True)
        self._raise_failure()
        assert self._newest is not None  # just taken  # noqa: S101
        return self._newest

    def wait(self, number: int, timeout: float | None = None) -> Reading | None:
        """Return the next reading after that number; wait for it.

        Args:
            number: of the reading that the caller has; 0 for none.
            timeout: how long to wait, in seconds; None for no limit.

        Returns:
            The newest reading, whose number is larger; None if none came in time, or the monitor is closed.
            It shows a moment after that of the reading before, which may be a moment before this call.

        Raises:
            PenstockError: the monitor has failed.
        """
        with self._news:
            self._news.wait_for(lambda: self._is_newer(number) or self._is_closed, timeout)
            self._raise_failure()
            return self._newest if self._is_newer(number) else None

    def peek(self, stream: str, timeout: float = 1.0) -> Packet | None:
        """Return the next packet that passes on a stream, or a newer one.

        If none comes in time, or the graph does not run, it is the newest that the monitor has seen, of
        whatever run. It keeps one packet of each stream that was peeked at, and watches the stream on until
        32 more have passed, so that of a stream on which packets are rare none is missed between two peeks.
        None if it has seen none.

        Args:
            stream: any stream of the graph.
            timeout: how long to wait, in seconds.

        Raises:
            NotFoundError: there is no such stream; names the most similar one.
            FailedPreconditionError: the stream stays inside another process in this run.
        """
        found = self.peek_all([stream], timeout)[stream]
        if isinstance(found, PenstockError):
            raise found
        return found

    def peek_all(
        self, streams: Collection[str], timeout: float = 1.0
    ) -> dict[str, Packet | PenstockError | None]:
        """Return of each stream what `peek` returns or raises; wait until all have a packet, or the time-out.

        Args:
            streams: any streams of the graph.
            timeout: how long to wait, in seconds, for all of them together.
        """
        return self._peeks.peek(streams, timeout)

    def _is_newer(self, number: int) -> bool:
        return self._newest is not None and self._newest.number > number

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise PenstockError(f"the monitor has failed: {words_of(self._failure)}") from self._failure

    # --- the thread ---------------------------------------------------------------------------

    def _poll(self) -> None:
        main = threading.main_thread()
        try:
            while not self._stop.is_set() and main.is_alive():  # else the interpreter would not end
                began = time.thread_time()
                graph = self._graph()
                if graph is None:
                    break
                reading = self._take(graph)
                del graph
                if reading.state == "over":
                    self._peeks.release()
                self._budget.spent("reading", time.thread_time() - began)
                self._rest(main)
        except Exception as error:  # noqa: BLE001  # a thread must not end in silence
            self._failure = error  # for the next caller that asks for a reading
            _LOG.exception("the monitor has failed and takes no more readings")
        finally:
            with self._taking:
                self._follower.end()
            self._peeks.release(for_ever=True)
            with self._news:
                self._is_closed = True
                self._news.notify_all()

    def _rest(self, main: threading.Thread) -> None:
        began = time.monotonic()
        stalls_in_s = self._follower.stalls_in_s
        while main.is_alive() and not self._stop.is_set():
            pause_s = max(self._interval_s, self._budget.cycle_s(goes_on=True))
            if stalls_in_s is not None:  # a stall is reported when it begins, not a cycle later
                pause_s = min(pause_s, stalls_in_s)
            left = began + pause_s - time.monotonic()
            if left <= 0:
                return
            self._stop.wait(min(left, _LOOK_S))

    def _take(self, graph: CalculatorGraph, *, only_first: bool = False) -> Reading:
        with self._taking:
            if only_first and self._newest is not None:
                return self._newest
            reading = self._follower.read(graph)
            self._on_reading(reading, graph)
        with self._news:
            self._newest = reading
            self._news.notify_all()
        return reading

    # --- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Take no more readings, and wait for the thread; the last reading stays.

        Waits that are under way return. A run that is under way goes on.
        """
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
