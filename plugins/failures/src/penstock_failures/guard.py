"""The guard of one node in one run: it calls the calculator, judges failed calls, and renews the calculator.

The guard is a layer, and `inner` is the calculator. What `open`, `process` and `close` raise here, or what
their coroutine or future ends with, goes back to the engine, which asks `judge` under the lock of the run:
the run fails, the input set is skipped, or the step is called again. So each further try, and each renewal,
is called as any step is: on the node's executor, in its turn, traced like others. What takes time (a pause,
a coroutine, an answer from another process) is waited for as any deferred step is, and cancelled likewise.

What holds here:

* `_stage` says what may be done with `inner`. It changes under `_lock`. One step at a time, the
  `_renewer`, may close the old object, make the new one and open it. Others wait at the gate meanwhile. An
  object is closed when no call uses it any more: `_using` counts them where calls overlap.
* No code of a calculator runs under `_lock`, and none in `judge`.
* An input set is kept from its first call until a call has succeeded or the set is skipped: the engine itself
  clears the inputs of a step after each call.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock import STOP, Packet, Timestamp
from penstock.errors import FailedPreconditionError, PenstockError, traceback_of, words_of
from penstock.log import get_logger, place
from penstock.lowlevel import (
    AGAIN,
    CLOSE,
    FAIL,
    MAX,
    NO_PAYLOAD,
    OPEN,
    PROCESS,
    SKIP,
    Guard,
    ShownCall,
    show_method,
)
from penstock.runs import METHODS
from penstock_failures import policy as actions
from penstock_failures.failure import Failure, FailureAction
from penstock_failures.waiting import Followed, Gate, Resume, Standing, in_time, rest

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from penstock.lowlevel import Invoker, LayerOptions, Node, NodePlan, Placing, Plan
    from penstock.runs import Step
    from penstock_failures.policy import Policy

_LOG: Final = get_logger("failures")

#: How many failures of a node are kept.
_MOST: Final = 1000
_LONGEST_PAUSE_S: Final = 30.0
#: The first pause before a restart beyond `max_restarts`, where there are such.
_PAUSE_S: Final = 1.0
_MOST_DOUBLED: Final = 20

#: What may be done with the calculator: MADE: open it; OPENED: call it; STALE: close it, then make another
#: one; EMPTY: make another one.
_MADE: Final = 0
_OPENED: Final = 1
_STALE: Final = 2
_EMPTY: Final = 3


class NoRestartLeftError(PenstockError):
    """The calculator is to be replaced, and there were too many restarts lately."""


class _InputSet:
    """What one call of `process`, or the first `open`, is for, kept for further calls."""

    __slots__ = ("call", "failure", "is_again", "round", "traceback", "tries")

    def __init__(self, step: Step) -> None:
        #: What the step shows of it.
        self.call: Final = ShownCall(step)
        #: How many calls for it have failed.
        self.tries = 0
        #: Which object was called last.
        self.round = 0
        #: The next call is for this input set too.
        self.is_again = False
        #: The last one.
        self.failure: Failure | None = None
        self.traceback = ""


class NodeGuard(Guard):
    """Guards one node in one run.

    Args:
        policy: what the graph says.
        node, plan: of the node.
        placing: makes its further calculators.
    """

    def __init__(self, policy: Policy, node: NodePlan, plan: Plan, placing: Placing) -> None:
        super().__init__()
        self._policy: Final = policy
        self._plans: Final = (node, plan)
        self._placing: Final = placing
        self._lock: Final = threading.Lock()
        self._stage = _MADE
        self._overlaps: Final = node.max_in_flight > 1
        self._using = 0
        #: How many objects there have been.
        self._round = 0
        self._has_fallen_back = False
        #: The fallback is to be made, which is no restart.
        self._is_switching = False
        self._renewer: Step | None = None
        self._gate: Final = Gate()
        self._sets: Final[dict[Step, _InputSet]] = {}
        #: Never changed, only replaced, under `_lock`: any thread may read it.
        self._failures: tuple[Failure, ...] = ()
        self._count = 0
        #: Failures since the last call that succeeded, and until when no call is made after them.
        self._streak = 0
        self._rests_until = 0.0
        #: How many failures there were since more calculators were replaced than the policy allows.
        self._beyond = 0
        #: When calculators were replaced.
        self._restarts: Final[deque[float]] = deque(maxlen=policy.max_restarts)

    @property
    def failures(self) -> Sequence[Failure]:
        """The failures of this run, the last 1,000."""
        return self._failures

    @property
    def fallback(self) -> NodePlan | None:
        """The plan of the calculator that the node has fallen back on, or None."""
        plan = self._policy.fallback
        return plan.nodes[0] if self._has_fallen_back and plan is not None else None

    @property
    def options(self) -> LayerOptions | None:
        """The options of the fallback, where the node has fallen back on it."""
        return None if self.fallback is None else self.fallback.options

    # --- what the engine calls ----------------------------------------------------------------

    def open(self, step: Step, /) -> object:
        """Open the calculator; one whose `open` has failed is replaced first."""
        input_set = self._input_set(step)
        pause = self._pause()
        if pause is not None:
            return pause
        try:
            if self._stage == _EMPTY:
                self._replace()
            outcome = self.inner.open(step)
        except Exception as error:
            self._note(step, input_set, error)
            raise
        if outcome is None:
            self._opened(step)
            return None
        return self._follow(step, input_set, outcome, is_opening=True)

    def process(self, step: Step, /) -> object:
        """Call the calculator; one that is to be replaced is replaced first."""
        input_set = self._input_set(step)
        if self._rests_until:
            pause = self._pause()
            if pause is not None:
                return pause
        if self._stage != _OPENED:
            waits = self._renew(step, input_set)
            if waits is not None:
                return waits
        if self._overlaps:
            calculator = self._enter(input_set)
        else:
            calculator = self.inner
            input_set.round = self._round
        if input_set.failure is not None and self._policy.error_stream:
            self._report(step, input_set.failure)
        try:
            outcome = calculator.process(step)
        except Exception as error:
            self._note(step, input_set, error)
            self._leave()
            raise
        if outcome is None or outcome is STOP:
            del self._sets[step]
            self._streak = 0
            self._leave()
            return outcome
        return self._follow(step, input_set, outcome)

    def close(self, step: Step, /) -> object:
        """Close the calculator, if there is one. One that was to be replaced may fail to close."""
        with self._lock:
            stage = self._stage
            if stage == _STALE:
                self._stage = _EMPTY
        if stage == _OPENED:
            outcome: Any = self.inner.close(step)
            seconds = self._limit(CLOSE)
            if seconds and _comes_later(outcome):
                return _followed(in_time(outcome, seconds, METHODS[CLOSE]), outcome)
            return outcome
        if stage == _STALE:
            waits = self._close_stale(step)
            return None if waits is None else Followed(self._ignore_resume(waits), waits)
        return None

    def judge(self, step: Step, error: BaseException) -> int:
        """Decide about a failed call. Called under the lock of the run, on any thread."""
        input_set = self._sets.get(step)
        if input_set is not None:
            input_set.call.method_again()
        if isinstance(error, Resume) and input_set is not None:
            input_set.is_again = True
            return AGAIN
        if input_set is None or not isinstance(error, Exception):
            return self._judge_close(step, error) if step.method == CLOSE else FAIL
        with self._lock:
            verdict = self._decide(step, input_set, error)
        input_set.is_again = verdict == AGAIN
        if verdict == SKIP:
            self._skip(step, input_set, error)
        return verdict

    def _judge_close(self, step: Step, error: BaseException) -> int:
        """Decide about a failed `close`: a calculator that was lost before has nothing left to close.

        As where a call of `process` has found that it is lost, and no further one has made another.
        """
        is_lost = bool(getattr(error, "calculator_is_lost", False))
        is_replaceable = (
            self._policy.on_error in {actions.RESTART, actions.SKIP} and not self._has_fallen_back
        )
        ignores = is_lost and is_replaceable
        action = FailureAction.NONE if ignores else FailureAction.FAIL
        with self._lock:
            self._record(step, None, error, action, METHODS[CLOSE], step.words)
        return SKIP if ignores else FAIL

    # --- decisions ----------------------------------------------------------------------------

    def _decide(self, step: Step, input_set: _InputSet, error: Exception) -> int:
        """Return the verdict, and note what is to be done with the calculator. Called with `_lock`."""
        now = monotonic()
        if isinstance(error, NoRestartLeftError):
            return SKIP
        is_first_open = step.method == OPEN
        is_opening = is_first_open or self._renewer is step
        self._streak += 1
        if is_first_open or not is_opening:
            input_set.tries += 1
        if is_opening:
            self._stage = _EMPTY
            self._renewer = None
            self._gate.open()
        elif input_set.round == self._round and self._stage == _OPENED:
            self._stage = self._after_call(error)
        is_lost = bool(getattr(error, "calculator_is_lost", False))
        action = self._action(input_set, now, is_opening=is_opening, is_lost=is_lost)
        method = METHODS[OPEN if is_opening else PROCESS]
        self._record(step, input_set, error, action, method, step.words)
        if action == FailureAction.FAIL:
            return FAIL
        if action == FailureAction.FALL_BACK:
            self._has_fallen_back = self._is_switching = True
            self._stage = _EMPTY if self._stage == _EMPTY else _STALE
            return AGAIN
        may_try = is_opening or input_set.tries <= self._policy.retry or step.node.is_source
        verdict = AGAIN if action != FailureAction.SKIP and may_try else SKIP
        if self._policy.backoff_s and (verdict == AGAIN or self._stage != _OPENED):
            self._rest(now, self._policy.backoff_s, self._streak)
        if self._stage != _OPENED and self._restarts_anyway():
            self._beyond = 0 if self._may_restart(now) else self._beyond + 1
            if self._beyond:
                self._rest(now, _PAUSE_S, self._beyond)
        return verdict

    def _rest(self, now: float, seconds: float, times: int) -> None:
        """Let no call be made for a pause that is doubled each time."""
        pause = min(seconds * 2.0 ** min(times - 1, _MOST_DOUBLED), _LONGEST_PAUSE_S)
        self._rests_until = max(self._rests_until, now + pause)

    def _restarts_anyway(self) -> bool:
        """Return whether calculators are replaced, after a pause, when more were than `max_restarts` allows.

        With SKIP only what is lost is replaced, such as a worker that has died. To skip every further input
        set because of the limit would be the end of the node.
        """
        return self._policy.on_error == actions.SKIP and not self._has_fallen_back

    def _after_call(self, error: Exception) -> int:
        """Return the stage of a calculator whose call has failed."""
        if getattr(error, "calculator_is_lost", False):
            return _EMPTY
        replaces = self._policy.on_error == actions.RESTART and not self._has_fallen_back
        return _STALE if replaces else _OPENED

    def _action(self, input_set: _InputSet, now: float, *, is_opening: bool, is_lost: bool) -> FailureAction:
        """Return what the policy says about a failure. Called with `_lock`."""
        policy = self._policy
        on_error = policy.on_error
        if self._has_fallen_back:
            on_error = actions.FAIL if policy.then == actions.FALL_BACK else policy.then
        is_first_open = input_set.call.method == OPEN
        opens_again = is_opening and (not is_first_open or (is_lost and on_error == actions.SKIP))
        needs_new = self._stage != _OPENED
        if needs_new and not self._may_restart(now):
            if on_error == actions.RESTART:
                on_error = policy.then
        elif needs_new and (on_error == actions.RESTART or opens_again):
            return FailureAction.RESTART
        elif input_set.tries <= policy.retry:
            return FailureAction.RETRY
        elif on_error == actions.RESTART:  # the object was replaced already, while this call went on
            return FailureAction.SKIP
        if on_error == actions.FALL_BACK:
            return FailureAction.FALL_BACK
        # What never opened has nothing to skip.
        return FailureAction.SKIP if on_error == actions.SKIP and not is_first_open else FailureAction.FAIL

    def _may_restart(self, now: float) -> bool:
        restarts, policy = self._restarts, self._policy
        return len(restarts) < policy.max_restarts or restarts[0] + policy.within_s <= now

    def _skip(self, step: Step, input_set: _InputSet, error: BaseException) -> None:
        """Let the ledger, the error stream and a counter tell that an input set was skipped."""
        reason = "no restart is left" if isinstance(error, NoRestartLeftError) else type(error).__name__
        for port, packet in zip(step.in_ports, input_set.call.packets, strict=True):
            if packet.value is not NO_PAYLOAD:
                port.stream.disuse(f"skipped: {reason}", 1)
        self._increment(step.node, "skipped")
        step.words = ""
        if input_set.failure is not None and self._policy.error_stream:
            self._report(step, input_set.failure)
        del self._sets[step]

    def _record(  # noqa: PLR0913, PLR0917  # what is known of a failure
        self,
        step: Step,
        input_set: _InputSet | None,
        error: BaseException,
        action: FailureAction,
        method: str,
        words: str,
    ) -> None:
        """Keep a failure and count it. Called with `_lock`."""
        node, fallback = step.node, self.fallback
        is_processing = method == METHODS[PROCESS] and bool(node.inputs)
        failure = Failure(
            node.name,
            node.kind if fallback is None else fallback.calculator,
            method,
            Timestamp.of(step.stamp) if is_processing else None,
            type(error).__name__,
            words,
            "" if input_set is None else input_set.traceback,
            1 if input_set is None else input_set.tries,
            action,
            time.time_ns(),
        )
        if input_set is not None:
            input_set.failure = failure
        self._failures = (*self._failures, failure)[-_MOST:]
        self._increment(node, "failures")
        self._count += 1

    @staticmethod
    def _increment(node: Node, name: str) -> None:
        node.services.counter(node, name).increment()

    # --- before and after a call --------------------------------------------------------------

    def _input_set(self, step: Step) -> _InputSet:
        """Return the input set of a call: a new one, or that of the last call, which the step then shows."""
        known = self._sets.get(step)
        if known is None or not known.is_again:
            known = self._sets[step] = _InputSet(step)
            return known
        known.is_again = False
        step.words = ""
        known.call.inputs_again()
        return known

    def _enter(self, input_set: _InputSet) -> Invoker:
        """Return the calculator for a call that may overlap others."""
        with self._lock:
            if self._stage != _OPENED:
                raise Resume
            self._using += 1
            input_set.round = self._round
            return self.inner

    def _leave(self) -> None:
        """Take note that a call uses its object no more."""
        if self._overlaps:
            with self._lock:
                self._using -= 1
                if not self._using:
                    self._gate.open()

    def _pause(self) -> Standing | None:
        """Return what waits until calls may be made again; None where they may."""
        seconds = self._rests_until - monotonic()
        if seconds <= 0:
            self._rests_until = 0.0
            return None
        until = self._rests_until
        return Standing(
            rest(seconds), lambda: f"resting for {max(until - monotonic(), 0):.1f} s{self._after()}"
        )

    def _after(self) -> str:
        last = self._failures[-1]
        what = f", to be {self._nth(1)}" if self._stage != _OPENED else ", to be called again"
        return f"{what} after {last.error}"

    def _nth(self, more: int) -> str:
        policy = self._policy
        if self._beyond:
            allowed = f"{policy.max_restarts} in {policy.within_s:g} s"
            return f"restarted beyond the {allowed} of max_restarts and within_s"
        return f"restarted ({len(self._restarts) + more} of {policy.max_restarts} in {policy.within_s:g} s)"

    def _follow(self, step: Step, input_set: _InputSet, outcome: Any, *, is_opening: bool = False) -> Any:
        """Return what the engine waits for instead of an outcome that comes later."""
        method = OPEN if is_opening else PROCESS
        seconds = self._limit(method)
        if isinstance(outcome, Future) and not seconds:
            outcome.add_done_callback(partial(self._ended, step, input_set, is_opening))
            return outcome
        if not _comes_later(outcome):
            return outcome  # the engine refuses it
        following = self._await(
            step, input_set, in_time(outcome, seconds, METHODS[method]), is_opening=is_opening
        )
        return _followed(following, outcome)

    def _limit(self, method: int) -> float:
        """Return how many seconds a call of a method may take; 0 for as many as it likes."""
        return self._policy.limits.get(METHODS[method], 0.0)

    async def _await(
        self, step: Step, input_set: _InputSet, call: Coroutine[Any, Any, Any], *, is_opening: bool
    ) -> Any:
        try:
            result = await call
        except Exception as error:
            self._ended_badly(step, input_set, error, is_opening=is_opening)
            raise
        if is_opening:
            self._opened(step)
        else:
            self._succeeded(step)
        return result

    def _ended(self, step: Step, input_set: _InputSet, is_opening: bool, future: Future[Any]) -> None:  # noqa: FBT001  # by `partial`
        """Note that a future has ended; the engine learns of it after this."""
        error = None if future.cancelled() else future.exception()
        if isinstance(error, Exception):
            self._ended_badly(step, input_set, error, is_opening=is_opening)
        elif error is None and not future.cancelled():
            if is_opening:
                self._opened(step)
            else:
                self._succeeded(step)

    def _ended_badly(self, step: Step, input_set: _InputSet, error: Exception, *, is_opening: bool) -> None:
        self._note(step, input_set, error)
        if not is_opening:
            self._leave()

    def _succeeded(self, step: Step) -> None:
        self._sets.pop(step, None)
        self._streak = 0
        self._leave()

    def _opened(self, step: Step) -> None:
        """Take note that the first `open` has succeeded."""
        self._sets.pop(step, None)
        with self._lock:
            self._stage = _OPENED
            self._round += 1
            self._streak = 0

    def _note(self, step: Step, input_set: _InputSet, error: Exception) -> None:
        """Keep what only the thread of a failed call may ask the error, before the engine has it."""
        if self._policy.error_stream:
            step.out_ports[-1].packets.clear()
        if isinstance(error, Resume):
            return
        input_set.traceback = traceback_of(error)
        count = self._count + 1
        if count & (count - 1) == 0:  # 1, 2, 4, 8 ...: a node that fails always does not fill the log
            node = step.node
            at = input_set.call.stamp if node.inputs and step.method == PROCESS else None
            where = f"{METHODS[step.method]}(){'' if at is None else f' at {at}'}"
            words = "node %r (%s): %s failed, failure %d of this node: %s"
            said = (node.name, node.kind, where, count, words_of(error))
            _LOG.warning(words, *said, extra=place(node.name, None, at))

    def _report(self, step: Step, failure: Failure) -> None:
        """Write a failure to the error stream, at the timestamp of the input set or behind what is there."""
        port = step.out_ports[-1]
        stamp = max(step.stamp, port.bound)
        if stamp <= MAX:
            port.add_packet(Packet(failure, stamp))

    # --- renewal ------------------------------------------------------------------------------

    def _renew(self, step: Step, input_set: _InputSet) -> Standing | None:
        """Replace the calculator, or go on with that; return what to wait for, None when it is done."""
        with self._lock:
            if self._stage == _OPENED:
                return None
            if self._renewer not in (None, step):
                return Standing(self._gate.wait(), lambda: "waiting until the node has restarted")
            if self._stage == _STALE and self._using:
                return Standing(
                    self._gate.wait(), lambda: "waiting for the calls of the object to be replaced"
                )
            is_allowed = self._is_switching or self._restarts_anyway() or self._may_restart(monotonic())
            if not is_allowed:
                policy = self._policy
                said = f"{policy.max_restarts} in {policy.within_s:g} s were allowed"
                raise NoRestartLeftError(f"the guard has no restart left: {said}", node=step.node.name)
            self._renewer = step
            is_stale = self._stage == _STALE
            if is_stale:
                self._stage = _EMPTY  # from here on this step alone closes the object
        try:
            waits = self._close_stale(step) if is_stale else None
            if waits is None:
                waits = self._open_new(step)
        except Exception as error:
            self._note(step, input_set, error)
            raise
        if waits is None:
            input_set.call.again()
        return waits

    def _close_stale(self, step: Step) -> Standing | None:
        """Close the object that is to be replaced. What it raises is recorded, what it writes is dropped.

        The caller has set `_stage` to `_EMPTY`, under `_lock`, so no other step closes the same object.
        """
        before = show_method(step, CLOSE, promises_anew=True)
        outcome = None
        try:
            outcome = self.inner.close(step)
        except Exception as error:  # noqa: BLE001  # it has failed before
            self._record_close(step, error)
        before.take_back()
        if outcome is None:
            return None
        return Standing(self._await_close(step, outcome), lambda: "closing before a restart", outcome)

    async def _await_close(self, step: Step, outcome: Any) -> None:
        try:
            await in_time(outcome, self._limit(CLOSE), METHODS[CLOSE])
        except Exception as error:  # noqa: BLE001  # as in _close_stale
            self._record_close(step, error)
        raise Resume

    async def _ignore_resume(self, waits: Standing) -> None:
        """Wait for the end of a close at the end of the run."""
        with suppress(Resume):
            await waits

    def _record_close(self, step: Step, error: Exception) -> None:
        words = words_of(error)
        with self._lock:
            self._record(step, None, error, FailureAction.NONE, METHODS[CLOSE], words)

    def _open_new(self, step: Step) -> Standing | None:
        """Make an object and open it; return what to wait for, or None."""
        self._replace()
        before = show_method(step, OPEN, promises_anew=True)
        outcome = self.inner.open(step)
        if outcome is None:
            self._end_open(step)
            before.take_back()
            return None
        standing = getattr(outcome, "standing", None)
        words = f"being {self._nth(0)}"
        return Standing(
            self._await_open(step, outcome), lambda: f"{words} {standing()}" if standing else words, outcome
        )

    async def _await_open(self, step: Step, outcome: Any) -> None:
        try:
            await in_time(outcome, self._limit(OPEN), METHODS[OPEN])
            self._end_open(step)
        except Exception as error:
            self._note(step, self._sets[step], error)
            raise
        raise Resume

    def _end_open(self, step: Step) -> None:
        """Let calls be made again, after `open` of a new object.

        Raises:
            FailedPreconditionError: it has written packets.
        """
        node = step.node
        if any(output.packets for output in step.out_ports):
            raise FailedPreconditionError(
                f"node {node.name!r}: guard: open() wrote packets when the node was opened again "
                "after a failure; the readers have those of the first open(), so a node that may be "
                "restarted must not write there",
                node=node.name,
            )
        with self._lock:
            self._stage = _OPENED
            self._round += 1
            self._renewer = None
            self._gate.open()
            has_switched = self.fallback is not None and not self._restarts
            if not has_switched:
                self._increment(node, "restarts")
        last = self._failures[-1] if self._failures else None
        after = "" if last is None else f", after: {last.error}"
        what = (
            f"falls back on {self.fallback.calculator!r}"
            if self.fallback is not None
            else f"was {self._nth(0)}"
        )
        _LOG.warning("node %r %s%s", node.name, what, after, extra=place(node.name))

    def _replace(self) -> None:
        """Put a new object in the place of the calculator's."""
        with self._lock:
            if self._is_switching:
                self._is_switching = False
                self._restarts.clear()
            else:
                self._restarts.append(monotonic())
        node, plan = self._plans
        if self.fallback is not None and self._policy.fallback is not None:
            node = self.fallback._replace(executor=node.executor)
            plan = self._policy.fallback._replace(nodes=(node,))
        self.inner = self._placing.make(node, plan)


def _comes_later(outcome: object) -> bool:
    """Return whether a call has returned something to wait for."""
    return isinstance(outcome, Future) or inspect.isawaitable(outcome)


def _followed(following: Coroutine[Any, Any, Any], outcome: Any) -> Standing | Followed:
    """Return a wait around the outcome of a call, which `graph.why()` looks at."""
    if isinstance(outcome, Future):
        standing = getattr(outcome, "standing", None)
        return Standing(following, standing or (lambda: "somewhere else"))
    return Followed(following, outcome)
