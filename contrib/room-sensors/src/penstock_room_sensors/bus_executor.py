"""The executor of a bus that allows one call at a time: one thread, which also opens and closes the bus.

All access to the bus happens on that thread, in this order: the bus is opened before the run begins;
nodes are called, one at a time, with a pause after each call; the bus is closed when the run is over,
however it ended.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock import Executor, ExecutorDefaults, ExecutorLease
from penstock.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Work

#: How long a run waits for its bus to open before it gives up; a serial adapter needs a second or two.
OPEN_TIMEOUT_S: Final = 10.0
#: A minute. The limit exists because the end of a run waits for the pause before the last calls.
LONGEST_QUIET_US: Final = 60_000_000


class Line(Protocol):
    """A connection that an executor opens before a run and closes after it, on its one thread."""

    @property
    def name(self) -> str:
        """The name in thread names and messages."""

    def open(self) -> None:
        """Open the connection. If it raises, the run does not start and `close` is not called."""

    def close(self) -> None:
        """Close the connection; called once for each `open` that returned. An exception fails the run."""


class SensorBusExecutor(Executor):
    """Runs nodes one at a time on one thread, with a pause between two calls.

    Many buses require silence between two messages: Modbus on a serial line 3.5 characters, 1750 us above
    19200 baud ("MODBUS over Serial Line", V1.02, 2.5.1.1). The pause follows every call, `open` and `close`
    of nodes included. Only the beginning of an `async` method runs on this thread, so a calculator that
    uses a bus must not have `async` methods.

    Declared in a graph it is for drivers that open themselves::

        executor {
          name: "bus"
          type: "SensorBusExecutor"
          options { [penstock_room_sensors.SensorBusExecutorOptions.ext] { quiet_us: 1750 } }
        }

    Args:
        quiet_us: microseconds between the end of a call and the beginning of the next; 0 to a minute.
        line: opened before each run and closed after it; None: nothing is opened. With a line, the executor
            serves one run at a time.
        open_timeout_s: how long a run waits for `line` to open; above 0.

    Raises:
        InvalidArgumentError: quiet_us or open_timeout_s is out of its range.
    """

    def __init__(
        self, quiet_us: int = 0, line: Line | None = None, *, open_timeout_s: float = OPEN_TIMEOUT_S
    ) -> None:
        if not 0 <= quiet_us <= LONGEST_QUIET_US:
            raise InvalidArgumentError(f"quiet_us is {quiet_us}, but must be 0 to {LONGEST_QUIET_US}")
        if not 0 < open_timeout_s <= threading.TIMEOUT_MAX:
            raise InvalidArgumentError(
                f"open_timeout_s is {open_timeout_s}, but must be above 0 and at most "
                f"{threading.TIMEOUT_MAX:g} s"
            )
        self._quiet_s: Final = quiet_us / 1e6
        self._line: Final = line
        self._open_timeout_s: Final = open_timeout_s
        #: Held while a run has the line; the run's thread releases it after closing the line.
        self._in_use: Final = threading.Lock()

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> SensorBusExecutor:  # noqa: ARG003
        """Make one from `SensorBusExecutorOptions`."""
        from penstock_room_sensors.messages.options_pb2 import SensorBusExecutorOptions  # protobuf

        return cls(options.get(SensorBusExecutorOptions).quiet_us)

    def lend_to(self, work: Work) -> ExecutorLease:
        """Open the line, and serve a run.

        Raises:
            FailedPreconditionError: another run has the line.
            UnavailableError: the line did not open, or not in time; the run has not begun. A line that
                opens later is closed at once.
        """
        line = self._line
        if line is None:
            return _begun(_BusLease(work, self._quiet_s, _NoLine(work.name or "bus"), lambda: None), None)
        if not self._in_use.acquire(blocking=False):
            raise FailedPreconditionError(
                f"sensor bus {line.name!r} serves another run; wait until that is done, or give each graph a "
                "bus of its own"
            )
        lease = _BusLease(work, self._quiet_s, line, self._in_use.release)
        return _begun(lease, self._open_timeout_s)


class _NoLine:
    """A line without a connection."""

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def open(self) -> None: ...

    def close(self) -> None: ...


def _begun(lease: _BusLease, timeout_s: float | None) -> _BusLease:
    """Return a lease whose line is open; after an error the lease has ended, or ends by itself."""
    try:
        lease.begin(timeout_s)
    except BaseException:  # an interrupt too
        lease.let_end()
        raise
    return lease


class _BusLease(ExecutorLease):
    """One thread, from the opening of a line to its closing.

    Signals go through a `SimpleQueue`, and the pause waits for a lock: operations of both are atomic, so an
    interrupt that hits a waking application thread leaves no lock held. Those of `threading.Event` are not.
    """

    def __init__(self, work: Work, quiet_s: float, line: Line, release: Callable[[], None]) -> None:
        self._work: Final = work
        self._quiet_s: Final = quiet_s
        self._line: Final = line
        self._release: Final = release
        #: One signal is enough for any number of wakes: the thread then works until no step is ready.
        self._wakes: Final[queue.SimpleQueue[None]] = queue.SimpleQueue()
        #: The result of `open`: None, or the exception that it raised.
        self._opened: Final[queue.SimpleQueue[BaseException | None]] = queue.SimpleQueue()
        self._closing_error: Exception | None = None
        self._is_ending = False
        #: Held until the end: waiting for it with a time-out is a pause that the end cuts short.
        self._going_on: Final = threading.Lock()
        self._going_on.acquire()
        self._thread: Final = threading.Thread(target=self._serve, name=f"penstock-{line.name}", daemon=True)

    # --- the run's side -----------------------------------------------------------------------

    def begin(self, timeout_s: float | None) -> None:
        """Start the thread, and wait until the line is open."""
        try:
            self._thread.start()
        except BaseException:
            if self._thread.ident is None:  # the thread has not started and will not release the line
                self._release()
            raise
        try:
            error = self._opened.get(timeout=timeout_s)
        except queue.Empty:
            raise UnavailableError(
                f"sensor bus {self._line.name!r} did not open within {timeout_s} s; see what its driver "
                "waits for, or give it more time with open_timeout_s"
            ) from None
        if error is not None:
            self._thread.join()  # it ends at once
            raise UnavailableError(f"sensor bus {self._line.name!r} did not open: {error}") from error

    def wake(self) -> None:
        if self._wakes.empty():
            self._wakes.put(None)

    def let_end(self) -> None:
        """Signal the thread to close the line and end, without waiting for it."""
        if not self._is_ending:
            self._is_ending = True
            self._going_on.release()
            self._wakes.put(None)

    def stop(self, timeout: float | None = None) -> bool:
        """Make the thread end, and join it; return whether it has ended in time.

        Raises:
            Exception: the one that closing the line raised.
        """
        self.let_end()
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        if self._closing_error is not None:
            raise self._closing_error
        return True

    # --- the bus's side -----------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            if self._open():
                try:
                    self._take_turns()
                finally:
                    self._close()
        finally:
            self._release()

    def _open(self) -> bool:
        """Open the line and report the result to `begin`; return whether it is open."""
        try:
            self._line.open()
        except BaseException as error:  # noqa: BLE001  # `begin` waits for the result of any error
            self._opened.put(error)
            return False
        self._opened.put(None)
        return True

    def _take_turns(self) -> None:
        while not self._is_ending:
            if self._work.step():
                self._pause()
            else:
                self._wakes.get()

    def _pause(self) -> None:
        """Wait for the quiet time, or until the end."""
        if self._quiet_s and self._going_on.acquire(timeout=self._quiet_s):
            self._going_on.release()

    def _close(self) -> None:
        try:
            self._line.close()
        except Exception as error:  # noqa: BLE001  # `stop` raises it at the end of the run
            self._closing_error = error
