"""The run of a graph: its engine behind one lock, and the executors that lend it their threads.

What holds here, besides what `locked`, `deferred` and `waiting` say:

* A thread completes a step and takes the next one without unlocking in between.
* A ready step never waits for a thread that is busy elsewhere: `work` says which thread wakes which.
* Observers are called without the lock. Each has a queue of its own, which one thread at a time drains
  before that thread takes its next step. The run is idle or done only when all queues are drained.
"""

from __future__ import annotations

import inspect
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock.engine.calculator import CLOSE
from penstock.engine.node import CLOSING, OPENED
from penstock.errors import GraphRunError, PenstockError, WaitTimeoutError, text_of
from penstock.runtime.runner.queue_work import QueueWork
from penstock.runtime.runner.waiting import AwaitedRun
from penstock.timestamp import DONE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.engine.node import Node
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.runtime.event_loops.loop import CoroutineLoop
    from penstock.runtime.executors.executor import Executor
    from penstock.runtime.runner.timer import Timer


class Runner(AwaitedRun):
    """One run of a graph.

    Args:
        schedule: the engine of the run, not started.
        executors: the executor of each of the schedule's queues, in the same order.
        loop: runs the coroutines.
        explain: returns in words why the run does not go on, for waits that expire.
        clock: what the time-outs of waits read, in seconds.
        max_bytes: fail the run if more wait in its queues; None for no limit.
    """

    works: Sequence[QueueWork]

    def __init__(  # noqa: PLR0913, PLR0917  # made in one place only
        self,
        schedule: Schedule,
        executors: Sequence[Executor],
        loop: CoroutineLoop,
        explain: Callable[[Runner], str],
        clock: Callable[[], float] = monotonic,
        max_bytes: int | None = None,
    ) -> None:
        super().__init__(schedule, loop, explain, clock)
        self.executors: Final = tuple(executors)
        self._run_timer: Timer | None = None
        if schedule.patient or max_bytes:
            from penstock.runtime.runner.timer import Timer  # few runs need it

            self._run_timer = Timer(self, max_bytes)
        self.serve([QueueWork(self, queue) for queue in schedule.queues], self._run_timer)
        #: Works whose lease has been stopped.
        self._stopped: Final[set[QueueWork]] = set()
        self._is_stopped = False

    # --- start and end ------------------------------------------------------------------------

    def start(self, headers: dict[int, Packet], *, held: bool = False) -> None:
        """Lend the queues to their executors and let the run begin.

        Args:
            headers: graph input's stream id → header.
            held: whether no step is taken before `Schedule.resume`. For runs that an event loop awaits.

        Raises:
            FailedPreconditionError: `held` is true, and nodes run inside the application's waits.
            Whatever an executor raises; the leases of the executors before it are stopped again.
        """
        try:
            for executor, work in zip(self.executors, self.works, strict=True):
                work.lease = executor.lend_to(work)
                work.is_watched = work.lease.watches
                self.leases.append(work.lease)
                self._has_helpers = self._has_helpers or work.lease.helps
            if held:
                self.refuse_helpers("running()")
        except BaseException:
            self._stop_leases(None)
            raise
        if self._run_timer is not None:
            self._run_timer.start()
        self.change(lambda schedule: _start_held(schedule, headers) if held else schedule.start(headers))

    def stop(self, timeout: float | None = None) -> None:
        """Stop all threads of an ended run, and close the calculators that a poisoned run left open.

        Raises:
            WaitTimeoutError: a thread is still inside a calculator; the message names the node.
        """
        if self._is_stopped:
            return
        stopped = [self._stop_leases(timeout)]
        if self._run_timer is not None:
            stopped.append(self._run_timer.stop(timeout))
        stopped.append(self._loop.stop(timeout))
        if not all(stopped):
            nodes = ", ".join(repr(node.name) for node in self.running_nodes())
            raise WaitTimeoutError(
                f"threads of the graph did not stop within {timeout} s; still running: {nodes}"
            )
        self._is_stopped = True
        if self.is_poisoned:
            self._close_what_is_open()

    def _stop_leases(self, timeout: float | None) -> bool:
        """Stop each lease once, even if another one fails; return whether no thread is inside any more."""
        have_stopped = True
        for work in self.works:
            if work.lease is None or work in self._stopped:
                continue
            try:
                has_stopped = work.lease.stop(timeout)
            except Exception as error:  # noqa: BLE001  # whatever an executor raises is an error of the run
                has_stopped = True
                failure = PenstockError(f"executor {work.name!r} failed to stop: {text_of(error)}")
                failure.__cause__ = error
                self.schedule.errors.append(failure)
            if has_stopped:
                self._stopped.add(work)
            have_stopped = have_stopped and has_stopped
        return have_stopped

    def _close_what_is_open(self) -> None:
        for node in self.schedule.nodes:
            step = node.step
            if node.state != OPENED and not (node.state == CLOSING and not step.is_running):
                continue
            step.method, step.stamp = CLOSE, DONE
            step.clear_inputs()
            try:
                outcome = node.close(step)
                if inspect.iscoroutine(outcome):
                    self._loop.run_alone(outcome)
            except Exception as error:  # noqa: BLE001  # whatever it is, the other nodes close too
                self.schedule.errors.append(
                    PenstockError(f"node {node.name!r}: close() failed: {text_of(error)}")
                )

    @property
    def loop_thread(self) -> int | None:
        """The ident of the thread that coroutines run on; None while none has run."""
        return self._loop.thread_id

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
