"""Calls that are on their way: what the engine waits for."""

from __future__ import annotations

from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.lowlevel import show
from penstock.runs import METHODS

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from penstock_remote.calls import Answer, Call


class CallPlace(Protocol):
    """Where a call is done: the driver's end of a process."""

    def where(self) -> str:
        """Return in words which process that is, as "worker 3 (pid 4711)"."""

    @property
    def is_starting(self) -> bool:
        """Whether the process has not begun to take calls yet; it has a time-out of its own for that."""

    def cancel(self, pending: Pending) -> threading.Timer:
        """Ask the process to end a call; return the running timer that kills it if it does not."""


class Pending(Future[Any]):
    """A call that is on its way: done when its answer has come, with what `write` makes of that.

    Cancelling asks the process to end the call, and kills it later if need be.

    Args:
        place: where it is done.
        number: of the call.
        node, call: what was asked for.
        write: takes the answer; called once, on the thread that calls `finish`.
    """

    def __init__(
        self, place: CallPlace, number: int, node: str, call: Call, write: Callable[[Answer], Any]
    ) -> None:
        super().__init__()
        #: None when it was used: it knows the step, whose packets it would keep.
        self._write: Callable[[Answer], Any] | None = write
        self._place: Final = place
        #: By which both ends know the call.
        self.number: Final = number
        #: The name of the node.
        self.node: Final = node
        #: `method`, `stamp`: of the call.
        self.method: Final = call.method
        self.stamp: Final = call.stamp
        self._killer: threading.Timer | None = None
        self._began: Final = monotonic()

    def cancel(self) -> bool:
        """Ask for the end of the call; it is done when the process says so, or is dead."""
        if self._killer is None and not self.done():
            self._killer = self._place.cancel(self)
        return False

    def is_starting(self) -> bool:
        """Return whether the process has not begun to take calls yet."""
        return self._place.is_starting

    def standing(self) -> str:
        """Return in words where the call is, and since when."""
        return f"in {self._place.where()} since {monotonic() - self._began:.1f} s"

    def finish(self, answer: Answer | None, error: BaseException | None) -> None:
        """Take the answer, or the error."""
        if self._killer is not None:
            self._killer.cancel()
        write, self._write = self._write, None
        outcome = None
        if answer is not None and write is not None:
            try:
                outcome = write(answer)
            except BaseException as refused:  # noqa: BLE001  # the error of the call
                error = refused
        if error is not None:
            self.set_exception(error)
        else:
            self.set_result(outcome)

    def words(self) -> str:
        """Return the call as a user reads it."""
        return f"{METHODS[self.method]}() at {show(self.stamp)}"
