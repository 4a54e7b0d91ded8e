"""What a calculator elsewhere returns may have to be waited for: a coroutine, or a future."""

from __future__ import annotations

import inspect
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from penstock import STOP
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import PROCESS
from penstock.runs import METHODS, LazyLoop

if TYPE_CHECKING:
    from penstock.runs import Step


class Awaiting:
    """Calls the methods of calculators, and waits on the calling thread for what they return."""

    def __init__(self) -> None:
        self._loop: Final = LazyLoop("penstock-loop")
        self._waits: Final[set[Future[Any]]] = set()

    def call(self, step: Step) -> bool:
        """Call what a step calls, to its end; return whether `process` returned STOP.

        Raises:
            InvalidArgumentError: the method returned what it may not.
            Exception: what the calculator raises.
        """
        outcome = step.call(step)
        if outcome is not None and outcome is not STOP:
            outcome = self._awaited(outcome)
        if outcome is None:
            return False
        if outcome is STOP and step.method == PROCESS:
            return True
        raise InvalidArgumentError(
            f"remote node {step.node.name!r}: {METHODS[step.method]}() returned {outcome!r} to be awaited; "
            "it must return None, penstock.STOP, an awaitable or a concurrent.futures.Future",
            node=step.node.name,
        )

    def cancel(self) -> None:
        """Cancel the coroutines and futures that calls wait for. From any thread."""
        for future in list(self._waits):
            future.cancel()

    def close(self, timeout: float | None = None) -> bool:
        """End the loop of coroutines; return whether its thread has ended."""
        return self._loop.stop(timeout)

    def _awaited(self, outcome: Any) -> Any:
        if not isinstance(outcome, Future):
            if not inspect.isawaitable(outcome):
                return outcome
            outcome = self._loop.submit(outcome)
        self._waits.add(outcome)
        try:
            # No time-out: a call may take as long as in the driver. The driver cancels what is too long,
            # and kills a process whose call does not end in `cancel_grace_s` after that.
            return outcome.result()
        finally:
            self._waits.discard(outcome)
