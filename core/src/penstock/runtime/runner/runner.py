"""The run of a graph: its engine behind one lock, and the executors that lend it their threads.

What holds here, besides what `locked`, `deferred` and `waiting` say:

* A thread completes a step and takes the next one without unlocking in between.
* A ready step never waits for a thread that is busy elsewhere: `work` says which thread wakes which.
* Observers are called without the lock. Each has a queue of its own, which one thread at a time drains
  before that thread takes its next step. The run is idle or done only when all queues are drained.
"""

from __future__ import annotations

import threading
from math import inf
from time import monotonic
from types import CoroutineType
from typing import TYPE_CHECKING, Final

from penstock.engine.methods import CLOSE
from penstock.engine.node import CLOSING, OPENED
from penstock.engine.run_state import RUNNING
from penstock.engine.shortcuts import ShortSchedule
from penstock.engine.shown_call import show_method
from penstock.errors import (
    GraphRunError,
    PenstockError,
    StatusCode,
    WaitTimeoutError,
    code_of,
    field_of,
    text_of,
    words_of,
)
from penstock.late_log import LateLogger
from penstock.runtime.runner.deferred import GRACE_S
from penstock.runtime.runner.queue_work import QueueWork
from penstock.runtime.runner.shortcuts import ShortQueueWork
from penstock.runtime.runner.waiting import AwaitedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.engine.node import Node
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.runtime.event_loops.lazy_loop import LazyLoop
    from penstock.runtime.executors.executor import Executor
    from penstock.runtime.runner.timer import Timer

_logger: Final = LateLogger("runtime")

#: How long the threads of each executor of an abandoned run may take to end before they are left alone.
_ABANDONED_S: Final = 1.0


class Runner(AwaitedRun):
    """One run of a graph.

    Args:
        schedule, loop, explain, clock: as for `AwaitedRun`.
        executors: the executor of each of the schedule's queues, in the same order.
        max_bytes: fail the run if more wait in its queues; None for no limit.
    """

    works: Sequence[QueueWork]

    def __init__(  # noqa: PLR0913, PLR0917  # made in one place only
        self,
        schedule: Schedule,
        executors: Sequence[Executor],
        loop: LazyLoop,
        explain: Callable[[Runner], str],
        clock: Callable[[], float] = monotonic,
        max_bytes: float | None = None,
    ) -> None:
        super().__init__(schedule, loop, explain, clock)
        self.executors: Final = tuple(executors)
        self._run_timer: Timer | None = None
        if max_bytes == inf:
            max_bytes = None
        if schedule.patient or max_bytes:
            from penstock.runtime.runner.timer import Timer  # few runs need it

            self._run_timer = Timer(self, max_bytes)
        kind = ShortQueueWork if isinstance(schedule, ShortSchedule) else QueueWork
        self.serve([kind(self, queue) for queue in schedule.queues], self._run_timer)
        #: Works whose lease has been stopped.
        self._stopped: Final[set[QueueWork]] = set()
        self._is_stopped = False
        #: What a wait saw when it looked last: steps that are ready and not begun; and since when it is so.
        self._held: tuple[tuple[int, ...], float] = ((), 0.0)

    # --- start and end ------------------------------------------------------------------------

    def start(
        self, headers: dict[int, Packet], begin: Callable[[], object] = lambda: None, *, held: bool
    ) -> None:
        """Lend the queues to their executors and let the run begin.

        Args:
            headers: graph input's stream id → header.
            begin: called in the moment in which the run begins, with its lock held.
            held: whether no step is taken before `Schedule.resume`. For runs that an event loop awaits.

        Raises:
            FailedPreconditionError: `held` is true, and nodes run inside the application's waits.
            PenstockError: an executor raised. After either, `stop` ends what has begun.
        """
        for executor, work in zip(self.executors, self.works, strict=True):
            try:
                work.lease = executor.lend_to(work)
                work.is_watched = work.lease.watches
                self._has_helpers = self._has_helpers or work.lease.helps
            except Exception as error:
                who = f"{work.queue.executor_name()} ({type(executor).__name__}) cannot serve the run: "
                if isinstance(error, PenstockError) and field_of(error, "code", StatusCode) is not None:
                    raise error.placed(who) from error
                raise PenstockError(f"{who}{words_of(error)}", code=code_of(error)) from error
            self.leases.append(work.lease)
        if held:
            self.refuse_helpers("running()")
        if self._run_timer is not None:
            self._run_timer.start()

        def start(schedule: Schedule) -> None:
            if held:
                _start_held(schedule, headers)
            else:
                schedule.start(headers)
            begin()

        self.change(start)

    def give_up_late(self) -> None:
        """Give up late steps, and a failed run if no executor begins any of its ready steps."""
        super().give_up_late()
        schedule = self.schedule
        if not schedule.errors or schedule.state != RUNNING or self.is_poisoned:
            return
        with self.lock:
            ready = [len(work.queue) for work in self.works]
            seen = (*ready, *[work.taken for work in self.works]) if any(ready) else ()
            if seen != self._held[0] or any(node.running() for node in schedule.nodes):
                self._held = (seen, monotonic())
            is_late = bool(seen) and monotonic() - self._held[1] >= GRACE_S
        if is_late:
            self.abandon(f"no ready step was begun in the {GRACE_S:g} s after an error or cancel()")

    def abandon(self, why: str) -> None:
        """End the run at once, whatever its executors still do; they find nothing to do when they come back.

        The error names the executors that hold steps, and their nodes.
        """
        with self.lock:
            if self.is_over:
                return
            held = [
                f"{work.queue.executor_name()} ({type(executor).__name__}) holds "
                + ", ".join([*(f"a call of {name!r}" for name in called), *(f"{name!r}" for name in ready)])
                for work, executor in zip(self.works, self.executors, strict=True)
                if (called := [node.name for node in self.running_nodes() if node.queue is work.queue])
                + (ready := [node.name for node in work.queue.nodes()])
            ]
            self.has_given_up = True
            said = f"the run was abandoned: {why}; {'; '.join(held) or 'observers are still called'}"
            self._poison(PenstockError(said, code=StatusCode.ABORTED))

    def forget_after_fork(self, parent: int) -> None:
        """End the run in a forked child; its calculators are the parent's, and are not closed here."""
        super().forget_after_fork(parent)
        self._is_stopped = True

    def stop(self, timeout: float | None = None) -> None:
        """Stop all threads of an ended run, and close the calculators that a poisoned run left open.

        Threads that do not stop although no calculator runs are an error of the run. Calculators that an
        abandoned run left inside a call are not closed.

        Raises:
            WaitTimeoutError: a thread is still inside a calculator; the message names the node.
        """
        if self._is_stopped:
            return
        if self.has_given_up:
            timeout = _ABANDONED_S
        late = self._stop_leases(timeout)
        if self._run_timer is not None and not self._run_timer.stop(timeout):
            late.append("the timer")
        if not self.loop.stop(timeout):
            late.append("the event loop")
        if self.on_error is not None and self.schedule.errors and not self.tell_error():
            _logger.warning("no thread can be started that calls the error callback")
        if self.teller is not None and self.teller is not threading.current_thread():
            self.teller.join(timeout)  # the application's callback may take longer; then it is left alone
        if late and not self.has_given_up:
            said = f"threads of the graph did not stop within {timeout} s: {', '.join(late)}"
            nodes = ", ".join(repr(node.name) for node in self.running_nodes())
            if nodes:
                raise WaitTimeoutError(f"{said}; still running: {nodes}")
            self.schedule.errors.append(PenstockError(said, code=StatusCode.ABORTED))
        self._is_stopped = True
        if self.is_poisoned:
            self._close_what_is_open()

    def _stop_leases(self, timeout: float | None) -> list[str]:
        """Stop each lease once, even if another one fails; return the executors with a thread inside."""
        late = []
        for work, executor in zip(self.works, self.executors, strict=True):
            if work.lease is None or work in self._stopped:
                continue
            try:
                has_stopped = work.lease.stop(timeout)
            except Exception as error:  # noqa: BLE001  # whatever an executor raises is an error of the run
                has_stopped = True
                failure = PenstockError(f"{work.queue.executor_name()} failed to stop: {text_of(error)}")
                failure.__cause__ = error
                self.schedule.errors.append(failure)
            if has_stopped:
                self._stopped.add(work)
            else:
                late.append(f"{work.queue.executor_name()} ({type(executor).__name__})")
        return late

    def _close_what_is_open(self) -> None:
        for node in self.schedule.nodes:
            step = node.step
            is_open = node.state == OPENED or (node.state == CLOSING and not step.is_running)
            if not (is_open or node.is_open) or (self.has_given_up and node.running()):
                continue
            show_method(step, CLOSE)
            try:
                outcome = node.close(step)
                if isinstance(outcome, CoroutineType):
                    self.loop.run_alone(outcome)
            except Exception as error:  # noqa: BLE001  # whatever it is, the other nodes close too
                self.schedule.errors.append(
                    PenstockError(f"node {node.name!r}: close() failed: {text_of(error)}")
                )

    @property
    def loop_thread(self) -> int | None:
        """The ident of the thread that coroutines run on; None while none has run."""
        return self.loop.thread_id

    def running_nodes(self) -> list[Node]:
        """Return the nodes with a call under way, also one that completes later."""
        return [node for node in self.schedule.nodes if node.running()]

    def error(self) -> GraphRunError | None:
        """Return the errors of the run so far as one error, or None."""
        errors = self.schedule.errors
        return GraphRunError(errors) if errors else None


def _start_held(schedule: Schedule, headers: dict[int, Packet]) -> None:
    schedule.start(headers)
    schedule.pause()
