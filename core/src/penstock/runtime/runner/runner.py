"""The run: one lock around the engine, and the loop that executors lend their threads to.

What holds here:

* The engine (`Schedule`) is touched only under `lock`. User code (calculators, observers, payload
  destructors) never runs under it: packets that nobody wants are freed after unlocking.
* Completing a step and taking the next are one visit to the lock.
* A ready step never waits for a thread that is busy elsewhere: see `QueueWork` for who wakes whom.
* Observers see what was delivered outside the lock, each through a queue of its own that one thread
  at a time drains, before that thread takes its next step. The run is idle or done only when all are
  drained.
* Waits of the application wake four times a second, so that Ctrl-C works on every platform.
* A KeyboardInterrupt inside the lock may leave the engine half changed. The run is then poisoned: it
  takes no further step and ends with an error, but never hangs.

The lock is an RLock for one reason: it knows its owner, so that a release after an interrupted
acquire fails instead of opening a lock that another thread holds. Nothing here acquires it twice.
"""

from __future__ import annotations

import inspect
import threading
from threading import get_ident
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.calculator import CLOSE, METHODS, OPEN, PROCESS, STOP
from penstock.engine.faults import CallCancelledError
from penstock.engine.node import CLOSED, CLOSING, OPENED
from penstock.engine.schedule import NOT_STARTED, RUNNING, TERMINATED
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    PenstockError,
    StatusCode,
    UnavailableError,
    WaitTimeoutError,
)
from penstock.runtime.event_loops.news import News, is_on_event_loop
from penstock.runtime.runner.timer import Timer
from penstock.runtime.runner.work import QueueWork
from penstock.timestamp import DONE

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Callable, Sequence

    from penstock.engine.node import Node, Step
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Observer
    from penstock.runtime.event_loops.loop import CoroutineLoop
    from penstock.runtime.executors.executor import Executor, Lease

#: How long a wait sleeps at most before it looks again: some platforms deliver no signal meanwhile.
_LOOK_AGAIN_S: Final = 0.25
#: How long cancelled coroutines and futures may take to end after an error before they are given up.
_GRACE_S: Final = 10.0
#: How long waiting application threads may hear nothing while light steps are ready: telling one at
#: each packet costs a hand-off at each packet. Those that wait to add more have a queue before them
#: that lasts longer.
_QUIET_S: Final = 200e-6
_QUIET_FOR_ADDERS_S: Final = 2e-3


class Runner:
    """One run of a graph.

    Args:
        schedule: the engine of the run, not started.
        executors: who serves each of the schedule's queues, in the same order.
        loop: runs the coroutines.
        explain: returns in words why the run does not go on, for waits that expire.
        clock: what the time-outs of waits read, in seconds.
    """

    def __init__(
        self,
        schedule: Schedule,
        executors: Sequence[Executor],
        loop: CoroutineLoop,
        explain: Callable[[Runner], str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.schedule: Final = schedule
        self.lock: Final = threading.RLock()
        self.changed: Final = News(self.lock)
        self.waiters = 0
        self.executors: Final = tuple(executors)
        self._loop: Final = loop
        self._explain: Final = explain
        self.clock: Callable[[], float] = clock
        self.works: Final = [QueueWork(self, queue) for queue in schedule.queues]
        self._only_work: Final = self.works[0] if len(self.works) == 1 else None
        self.leases: list[Lease] = []
        #: Whether nodes run inside the application's waits. In most runs none does, and no wait asks.
        self._has_helpers = False
        #: Until when nothing is told to waiting threads while light steps are ready.
        self.quiet_until = 0.0
        #: How many of the waiting threads wait for room in a graph input.
        self.adders = 0
        #: Whether a thread sleeps until the run is idle that is to be woken early: see `wake_early`.
        self.wakes_early = False
        #: Threads that are inside a step or observer of this run; they must not wait for it.
        self.inside: Final[set[int]] = set()
        #: Queues whose executor failed; application threads do in their waits what is left there.
        self.stranded: Final[set[QueueWork]] = set()
        #: Steps that complete later: the token of each, and what to cancel.
        self.pending: Final[dict[Step, concurrent.futures.Future[Any]]] = {}
        self._failing_since: float | None = None
        #: Queues whose lease has been stopped.
        self._stopped: Final[set[QueueWork]] = set()
        self._timer: Timer | None = Timer(self) if schedule.patient else None
        self.is_poisoned = False
        self._is_stopped = False

    # --- start and end ------------------------------------------------------------------------

    def start(self, headers: dict[int, Packet], *, held: bool = False) -> None:
        """Lend the queues to their executors and let the run begin.

        Args:
            headers: graph input's stream id → header.
            held: whether no step is taken before `Schedule.resume`. For runs that an event loop awaits.

        Raises:
            FailedPreconditionError: it is held, and nodes run inside the application's waits.
            Whatever an executor raises; those that were lent to before it are stopped again.
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
        if self._timer is not None:
            self._timer.start()
        self.change(lambda schedule: _start_held(schedule, headers) if held else schedule.start(headers))

    def stop(self, timeout: float | None = None) -> None:
        """Stop all threads of an ended run and close what a poisoned one left open.

        Raises:
            WaitTimeoutError: a thread is still inside a calculator; the message names the node.
        """
        if self._is_stopped:
            return
        stopped = [self._stop_leases(timeout)]
        if self._timer is not None:
            stopped.append(self._timer.stop(timeout))
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
        """Stop each lease once, whatever the others do; return whether no thread is inside any more."""
        have_stopped = True
        for work in self.works:
            if work.lease is None or work in self._stopped:
                continue
            try:
                has_stopped = work.lease.stop(timeout)
            except Exception as error:  # noqa: BLE001  # whatever an executor raises is an error of the run
                has_stopped = True
                failure = PenstockError(f"executor {work.name!r} failed to stop: {error}")
                failure.__cause__ = error
                self.schedule.errors.append(failure)
            if has_stopped:
                self._stopped.add(work)
            have_stopped = have_stopped and has_stopped
        return have_stopped

    def note_ended(self, step: Step, error: BaseException | None) -> None:
        """Take note of the end of a step that was under way when the run was poisoned."""
        step.is_running = False
        if step.method == OPEN and error is None:
            step.node.state = OPENED
        elif step.method == CLOSE:
            step.node.state = CLOSED

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
                self.schedule.errors.append(PenstockError(f"node {node.name!r}: close() failed: {error}"))

    @property
    def loop_thread(self) -> int | None:
        """The ident of the thread that coroutines run on; None while there is none."""
        return self._loop.thread_id

    @property
    def is_over(self) -> bool:
        """Whether the run has ended and nothing of it runs any more."""
        return self.schedule.state == TERMINATED and (self.is_poisoned or self.schedule.busy == 0)

    def running_nodes(self) -> list[Node]:
        """Return the nodes whose calculator is being called or has not come back."""
        return [node for node in self.schedule.nodes if node.running()]

    def error(self) -> GraphRunError | None:
        """Return what went wrong so far, or None."""
        errors = self.schedule.errors
        return GraphRunError(errors) if errors else None

    def give_up(self, error: BaseException) -> None:
        """Poison the run and unlock it, after something was raised in a locked section.

        Called by the thread that was interrupted. Where it was interrupted before it had the lock,
        or after it let go of it, nothing is half changed and nothing is given up.
        """
        if not self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            return
        if not self.is_poisoned:
            self.is_poisoned = True
            self.schedule.state = TERMINATED
            failure = PenstockError(
                f"the run was interrupted by {type(error).__name__} in the middle of a change and cannot "
                "go on",
                code=StatusCode.ABORTED,
            )
            failure.__cause__ = error
            self.schedule.errors.append(failure)
            self.changed.notify_all()
        self.lock.release()

    def lose(self, error: BaseException) -> None:
        """Poison the run after something was raised where a step, a wake-up or a delivery was in hand.

        Nobody else knows of it, so the run could not end by itself.
        """
        if not self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            self.lock.acquire()
        self.give_up(error)

    # --- changes from outside -----------------------------------------------------------------

    def change(self, event: Callable[..., Any], *arguments: object) -> Any:
        """Apply an event to the engine under the lock, then wake and deliver what came of it.

        Args:
            event: called with the engine, and:
            arguments: whatever it takes besides.

        Raises:
            Whatever the event raises; the engine is then unchanged, unless it was an interrupt.
        """
        wake: list[QueueWork] = []
        is_changed = False
        try:
            self.lock.acquire()
            is_changed = True
            try:
                result = event(self.schedule, *arguments)
            except Exception:  # refused: the engine is as it was
                is_changed = False
                self.lock.release()
                raise
            schedule, only = self.schedule, self._only_work
            is_usual = not (schedule.has_news or schedule.garbage or schedule.has_waited)
            if is_usual and only is not None and only.attentive:
                # a packet for a thread that is at work: `after_change` would do no more than this
                only.queue.is_fresh = False
                garbage = None
            else:
                garbage = self.after_change(wake)
            self.lock.release()
            del garbage
            if wake:
                self.wake(wake)
            if schedule.deliveries:
                self._deliver_here()
            is_changed = False
        except BaseException as error:
            if is_changed:
                self.lose(error)
            else:
                self.give_up(error)
            raise
        return result

    def after_change(self, wake: list[QueueWork], *, tell: bool = True) -> list[Packet] | None:
        """Collect, under the lock, what is to be done after unlocking."""
        schedule = self.schedule
        for work in self.works:
            if work.queue.is_fresh:
                work.queue.is_fresh = False
                if work.wants_thread():
                    wake.append(work)
        if schedule.has_waited:
            schedule.has_waited = False
            self._timer.tell()  # type: ignore[union-attr]  # there is one where nodes wait for some time only
        if tell and schedule.has_news:
            self.tell()
        if not schedule.garbage:
            return None
        garbage = schedule.garbage[:]
        schedule.garbage.clear()
        return garbage

    def claim_deliveries(self) -> list[Observer]:
        """Take, under the lock, the observers that have something to see; the caller drains them."""
        schedule = self.schedule
        # always another list: one that is still the schedule's could fill up after unlocking
        claimed, schedule.deliveries = schedule.deliveries, []
        return claimed

    def wake(self, works: Sequence[QueueWork]) -> None:
        """Ask for a thread for each of these queues. Called without the lock."""
        for work in works:
            if work.lease is None:
                continue
            try:
                work.lease.wake()
            except Exception as error:  # noqa: BLE001  # whatever an executor raises ends the run
                failure = PenstockError(f"executor {work.name!r} cannot run anything: {error}")
                failure.__cause__ = error
                with self.lock:
                    self.stranded.add(work)
                    self.schedule.fail(failure)
                    self.changed.notify_all()

    def tell(self) -> None:
        """Let waiting application threads look again. Called with the lock held."""
        self.schedule.has_news = False
        if self.waiters:
            self.changed.notify_all()
        self.quiet_until = perf_counter() + (_QUIET_FOR_ADDERS_S if self.waiters == self.adders else _QUIET_S)
        if self.pending and self.schedule.errors and self._failing_since is None:
            self._failing_since = monotonic()
            threading.Thread(
                target=self._cancel_pending,
                args=([future for step, future in self.pending.items() if step.method != CLOSE],),
                name="penstock-cancel",
                daemon=True,
            ).start()

    def wake_early(self) -> None:
        """Wake, once, who waits until the run is idle when that is near. Called with the lock held.

        Waking a thread takes 25 us, in which light observers, which are all that is left, come to their end.
        """
        self.wakes_early = False
        self.changed.notify_all()

    def _cancel_pending(self, futures: list[concurrent.futures.Future[Any]]) -> None:
        """Cancel what completes later. On a thread of its own: callbacks of futures run in cancel()."""
        for future in futures:
            future.cancel()

    def _deliver_here(self) -> None:
        """Drain observers on an application thread; inside a step the thread's own loop does it."""
        ident = get_ident()
        if ident in self.inside:
            return
        # a coroutine added a packet, or a node has waited long enough: these threads run no observers
        is_timer = self._timer is not None and ident == self._timer.thread_id
        if is_timer or ident == self._loop.thread_id or (is_on_event_loop() and not self.leases[0].helps):
            self.wake(self.works[:1])
            return
        try:
            self.inside.add(ident)
            self.works[0].deliver()
        finally:
            self.inside.discard(ident)

    # --- waiting ------------------------------------------------------------------------------

    def refuse_inside(self, what: str, *, awaits: bool = False) -> None:
        """Raise where a blocking call comes from inside this run, which would wait for itself.

        Args:
            what: was called.
            awaits: it only awaits: other tasks of an event loop may do so, this run's own may not.

        Raises:
            FailedPreconditionError: the thread is in a step, an observer or the loop of this run.
        """
        ident = get_ident()
        in_loop = self._loop.is_inside() if awaits else ident == self._loop.thread_id
        if ident in self.inside or in_loop:
            raise FailedPreconditionError(
                f"{what} was called from inside this graph's own step, observer or event loop, and would "
                "wait for itself; call it from the application's thread, or add with ADD_IF_NOT_FULL"
            )

    def refuse_helpers(self, what: str) -> None:
        """Raise where nodes run inside the application's waits: one that is awaited would do nothing.

        Raises:
            FailedPreconditionError: they do; names the executor.
        """
        for lease, work in zip(self.leases, self.works, strict=True):
            if lease.helps:
                raise FailedPreconditionError(
                    f"{what} cannot be awaited: executor {work.name!r} runs nodes on the application's own "
                    "thread, inside calls that block; use calls that block, or an executor with threads"
                )

    def wait_for_room(self, has_room: Callable[[], bool], what: str, timeout: float | None = None) -> None:
        """Wait until a throttled graph input takes packets again; raises as `wait`."""
        self.adders += 1
        try:
            self.wait(has_room, timeout, what)
        finally:
            self.adders -= 1

    def wait(
        self, done: Callable[[], bool], timeout: float | None, what: str, *, is_for_idle: bool = False
    ) -> None:
        """Block until `done()` (asked under the lock), helping executors that ask for it.

        Args:
            done: whether to wait no longer.
            timeout: seconds; None for ever.
            what: is waited for, for the message.
            is_for_idle: whether that comes with the end of the last step, so that it is worth waking early.

        Raises:
            WaitTimeoutError: `timeout` seconds have passed; says what the run waits for.
            FailedPreconditionError: called from inside the run.
        """
        self.refuse_inside(what)
        deadline = None if timeout is None else self.clock() + timeout
        while True:
            helped = (self._has_helpers or bool(self.stranded)) and self._help()
            left = None if deadline is None else deadline - self.clock()
            if self._wait_once(done, left, sleep=not helped, early=is_for_idle):
                return
            is_for_idle = False  # it was woken, or nothing came for long
            self._give_up_pending()
            if deadline is not None and self.clock() >= deadline:
                raise WaitTimeoutError(f"{what} did not come within {timeout} s\n{self.story()}")

    def _wait_once(self, done: Callable[[], bool], left: float | None, *, sleep: bool, early: bool) -> bool:
        with self.lock:
            if done():
                return True
            if not sleep or ((self._has_helpers or self.stranded) and self._could_help()):
                return False
            self.waiters += 1
            self.wakes_early = self.wakes_early or early
            try:
                self.changed.wait(_LOOK_AGAIN_S if left is None else max(0.0, min(left, _LOOK_AGAIN_S)))
            finally:
                self.waiters -= 1
            return done()

    def _help(self) -> bool:
        """Do what executors that work in waits have ready; return whether there was any."""
        helped = [lease.help() for lease in self.leases if lease.helps]
        helped.extend([work.run() for work in list(self.stranded)])
        return any(helped)

    def _could_help(self) -> bool:
        """Return whether an executor that works in waits has something to do."""
        schedule = self.schedule
        return any(
            (lease.helps or work in self.stranded)
            and (schedule.deliveries or (work.queue and schedule.state == RUNNING))
            for lease, work in zip(self.leases, self.works, strict=True)
        )

    def ask(self, question: Callable[[Schedule], Any]) -> Any:
        """Return an answer read under the lock."""
        with self.lock:
            return question(self.schedule)

    def story(self) -> str:
        """Return in words why the run does not go on."""
        return self._explain(self)

    def _give_up_pending(self) -> None:
        """End steps that did not follow their cancellation, so that the run can end."""
        since = self._failing_since
        if since is None or monotonic() - since < _GRACE_S:
            return
        for step in list(self.pending):
            self.complete_later(
                step,
                WaitTimeoutError(
                    f"node {step.node.name!r}: {METHODS[step.method]}() did not end within {_GRACE_S:g} s "
                    "after it was cancelled",
                    node=step.node.name,
                ),
            )

    # --- steps that complete later ------------------------------------------------------------

    def defer(self, step: Step, outcome: object) -> PenstockError | None:
        """Arrange that a step completes when an awaitable or future does.

        Returns an error where `outcome` is neither; the caller then completes the step with it.
        """
        import concurrent.futures  # brings logging; most graphs have no steps that wait

        if isinstance(outcome, concurrent.futures.Future):
            future = outcome
        elif inspect.isawaitable(outcome):
            future = self._loop.submit(outcome)
        else:
            return InvalidArgumentError(
                f"node {step.node.name!r}: {METHODS[step.method]}() returned {outcome!r}; it must return "
                "None, penstock.STOP, an awaitable or a concurrent.futures.Future",
                node=step.node.name,
            )
        with self.lock:
            self.pending[step] = future
            if step.method == CLOSE and self._failing_since is not None:
                self._failing_since = monotonic()  # a close has its time, whatever was waited for before it
            failing = bool(self.schedule.errors) and step.method != CLOSE
        if failing:
            future.cancel()
        future.add_done_callback(lambda done: self._later(step, done))
        return None

    def _later(self, step: Step, future: concurrent.futures.Future[Any]) -> None:
        import concurrent.futures

        error: BaseException | None
        outcome = None
        try:
            error = future.exception()
            if error is None:
                outcome = future.result()
        except concurrent.futures.CancelledError as cancelled:
            error = cancelled
        if error is None and outcome is not None and not (outcome is STOP and step.method == PROCESS):
            error = InvalidArgumentError(
                f"node {step.node.name!r}: the awaited result of {METHODS[step.method]}() is {outcome!r}; "
                "it must be None or penstock.STOP",
                node=step.node.name,
            )
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
        step.clear_inputs()
        import concurrent.futures

        was_cancelled = isinstance(error, concurrent.futures.CancelledError) and bool(self.schedule.errors)
        wake: list[QueueWork] = []
        garbage: list[Packet] | None = None
        with self.lock:
            if not self.is_poisoned:
                if was_cancelled:
                    error = CallCancelledError(f"{METHODS[step.method]}() was cancelled")
                self.schedule.complete(step, error, stop=stop)
                garbage = self.after_change(wake)
                if self.schedule.deliveries:
                    wake.append(self.works[0])
                    self.tell()
        del garbage
        self.wake(wake)


def _start_held(schedule: Schedule, headers: dict[int, Packet]) -> None:
    schedule.start(headers)
    schedule.pause()


def check_started(runner: Runner | None, what: str) -> Runner:
    """Return the runner, or raise where no run has begun.

    Raises:
        FailedPreconditionError: there was no `start_run`.
    """
    if runner is None or runner.schedule.state == NOT_STARTED:
        raise FailedPreconditionError(f"{what} needs a run; call start_run() first")
    return runner


def throttled_error(stream: str) -> UnavailableError:
    """Return the error of an add that would have to wait."""
    return UnavailableError(
        f"graph is throttled: input stream {stream!r} must wait until full queues drain; try again later",
        stream=stream,
    )
