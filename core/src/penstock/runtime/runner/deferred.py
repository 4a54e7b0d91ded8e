"""Steps that complete later: the call returned an awaitable or a future.

What holds here: a deferred step is in `pending` until one thread completes it, once. After an error of the
run all pending steps but closes are cancelled; a step that has not ended after `GRACE_S` is given up.
"""

from __future__ import annotations

from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.faults import CallCancelledError, words_of_call
from penstock.engine.methods import CLOSE, METHODS, PROCESS
from penstock.engine.outcome import STOP, wrong_outcome
from penstock.errors import PenstockError, WaitTimeoutError
from penstock.runtime.runner.locked import LockedRun

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Sequence

    from penstock.engine.packet import Packet
    from penstock.engine.step import Step
    from penstock.runtime.runner.locked import QueueServer

#: How long cancelled coroutines and futures may take to end after an error before they are given up.
GRACE_S: Final = 10.0


@cache
def _futures() -> Any:
    """Return `concurrent.futures`, which brings logging: most graphs have no steps that wait."""
    import concurrent.futures

    return concurrent.futures


class DeferringRun(LockedRun):
    """A locked run whose steps may complete later."""

    def defer(self, step: Step, outcome: object) -> PenstockError | None:
        """Arrange that a step completes when an awaitable or future does.

        Returns:
            An error if `outcome` is neither; the caller then completes the step with it.
        """
        import inspect  # most calls return nothing that comes later

        if isinstance(outcome, _futures().Future):
            future = outcome
        elif inspect.isawaitable(outcome):
            future = self.loop.submit(outcome)
        else:
            return wrong_outcome(step, outcome)
        with self.lock:
            self.pending[step] = future
            if step.method == CLOSE and self._failing_since is not None:
                self._failing_since = monotonic()  # a close gets the whole time for itself
            failing = bool(self.schedule.errors) and step.method != CLOSE
            if failing and self._failing_since is None:
                self._failing_since = monotonic()
        if failing:
            future.cancel()
        future.add_done_callback(lambda done: self._later(step, done))
        return None

    def _later(self, step: Step, future: concurrent.futures.Future[Any]) -> None:
        error: BaseException | None
        outcome = None
        try:
            error = future.exception()
            if error is None:
                outcome = future.result()
        except _futures().CancelledError as cancelled:
            error = cancelled
        if error is None and outcome is not None and not (outcome is STOP and step.method == PROCESS):
            error = wrong_outcome(step, outcome, awaited=True)
        self.complete_later(step, error, stop=outcome is STOP)

    def complete_later(self, step: Step, error: BaseException | None, *, stop: bool = False) -> None:
        """Complete a deferred step, once, from any thread; runs no calculator and no observer."""
        try:
            self._complete_later(step, error, stop=stop)
        except BaseException as broken:
            self.lose(broken)
            raise

    def _complete_later(self, step: Step, error: BaseException | None, *, stop: bool) -> None:
        with self.lock:
            if self.pending.pop(step, None) is None:
                return  # given up before, or cancelled twice
        self.complete_here(step, error, stop=stop)

    def complete_here(self, step: Step, error: BaseException | None, *, stop: bool) -> None:
        """Complete a step that nobody else completes, and wake threads for what that makes ready."""
        if error is not None:
            step.words = words_of_call(step, error)
        step.clear_inputs()
        was_cancelled = isinstance(error, _futures().CancelledError) and bool(self.schedule.errors)
        wake: list[QueueServer] = []
        deliver: Sequence[QueueServer] = ()
        garbage: list[Packet] | None = None
        with self.lock:
            if self.is_poisoned:
                self.note_ended(step, error)
            else:
                if was_cancelled:
                    error = CallCancelledError(f"{METHODS[step.method]}() was cancelled")
                self.schedule.complete(step, error, stop=stop)
                garbage = self.after_change(wake)
                if self.schedule.deliveries:
                    deliver = self.works[:1]
                    self.tell()
        del garbage
        if deliver:
            self.wake(deliver)  # a thread of its executor calls the observers
        if wake:
            self.wake(wake, sends=True)

    def give_up_late(self) -> None:
        """Complete, with an error, the steps that do not end after a failure, so that the run can end.

        Waits call it from time to time.
        """
        since = self._failing_since
        if since is None or monotonic() - since < GRACE_S:
            return
        for step in list(self.pending):
            self.has_given_up = True
            self.complete_later(
                step,
                WaitTimeoutError(
                    f"node {step.node.name!r}: the deferred {METHODS[step.method]}() did not end within "
                    f"{GRACE_S:g} s after it was cancelled",
                    node=step.node.name,
                ),
            )
