"""The lock around the engine of one run, and what every thread does before and after it changes the engine.

What holds here:

* The engine (`Schedule`) is touched only under `lock`. User code (calculators, observers, payload
  destructors) never runs under it: packets that no queue holds any more are freed after unlocking.
* The garbage collector calls destructors at any point, also under the lock. Calls of the graph that such a
  destructor makes are refused: they would change the engine in the middle of another change.
* A KeyboardInterrupt inside the lock may leave the engine half changed. The run is then poisoned: it
  takes no further step and ends with an error, but never hangs.

The lock is an RLock for one reason: it knows its owner, so that a release after an interrupted
acquire fails instead of opening a lock that another thread holds. Nothing here acquires it twice.
"""

from __future__ import annotations

import threading
from threading import get_ident
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from penstock.engine.methods import CLOSE
from penstock.engine.run_state import TERMINATED
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    PenstockError,
    StatusCode,
    text_of,
    words_of,
)
from penstock.late_log import LateLogger
from penstock.runtime.runner.clock import read_clock
from penstock.runtime.runner.news import News, is_on_event_loop
from penstock.runtime.runner.stuck_moments import StuckMoments
from penstock.runtime.threads import has_started

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Callable, Sequence

    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.scheduler_queue import ReadyQueue
    from penstock.engine.step import Step
    from penstock.engine.stream import StreamObserver
    from penstock.runtime.event_loops.lazy_loop import LazyLoop
    from penstock.runtime.executors.executor import ExecutorLease

_logger: Final = LateLogger("runtime")
#: How long waiting application threads are not notified while light steps are ready: to notify one at
#: each packet would cost a hand-off at each packet. A thread that waits to add a packet can wait longer,
#: since full queues keep the graph at work.
_QUIET_S: Final = 200e-6
_QUIET_FOR_ADDERS_S: Final = 2e-3


class QueueServer(Protocol):
    """What a locked run uses of the `QueueWork` of one of its ready queues."""

    attentive: int
    lease: ExecutorLease | None

    @property
    def name(self) -> str:
        """The executor's name in the graph."""

    @property
    def queue(self) -> ReadyQueue:
        """The ready queue."""

    def wants_thread(self) -> bool:
        """Return whether a sleeping thread must be woken for this queue. Called with the lock held."""

    def deliver(self) -> None:
        """Call observers with the packets that wait for them. Called without the lock."""

    def run(self) -> bool:
        """Run ready steps until none is left; return whether any ran. Called without the lock."""

    def send(self) -> BaseException | None:
        """Run one ready step, of a queue whose steps are calls that are sent. Called without the lock.

        Returns an interrupt that came meanwhile.
        """


class Alarm(Protocol):
    """What a locked run uses of its `Timer`."""

    @property
    def thread_id(self) -> int | None:
        """The ident of the timer's thread; None before it has begun."""

    def tell(self) -> None:
        """Report that a node may have begun to wait. Never blocks."""


class LockedRun:
    """The engine of one run, its lock, and the state that all threads of the run share.

    Args:
        schedule: the engine of the run, not started.
        loop: runs the coroutines.
        clock: what the time-outs of waits read, in seconds.
    """

    def __init__(self, schedule: Schedule, loop: LazyLoop, clock: Callable[[], float] = monotonic) -> None:
        self.schedule: Final = schedule
        #: Why the run was stuck, and which warnings about it are still to be logged.
        self.stuck: Final = StuckMoments(schedule)
        #: Held while the engine is touched, by whichever thread does so.
        self.lock: Final = threading.RLock()
        #: A condition on `lock`; notified when something has changed that a thread may wait for.
        self.changed: Final = News(self.lock)
        self.clock: Callable[[], float] = clock
        #: What executors run, one for each queue of the schedule, in the same order.
        self.works: Sequence[QueueServer] = ()
        self._only_work: QueueServer | None = None
        #: Number of application threads and tasks that wait on `changed`.
        self.waiters = 0
        #: How many of them wait for room in a graph input.
        self.adders = 0
        #: Whether one of them sleeps until the run is idle; see `wake_early`.
        self.wakes_early = False
        #: Until when waiting threads are not notified while light steps are ready.
        self.quiet_until = 0.0
        #: Idents of the threads that are inside a step or observer of this run and must not wait for it.
        self.inside: Final[set[int]] = set()
        #: The works whose executor failed. Application threads run them in their waits.
        self.stranded: Final[set[QueueServer]] = set()
        #: Steps that complete later, each with the future that is cancelled after an error.
        self.pending: Final[dict[Step, concurrent.futures.Future[Any]]] = {}
        #: When the run was first seen to have failed while steps were pending.
        self._failing_since: float | None = None
        self.loop: Final = loop
        self._timer: Alarm | None = None
        #: Whether the engine may be half changed, or the run was abandoned: no step is taken any more, and
        #: what a call that comes back has written is dropped.
        self.is_poisoned = False
        #: Whether an interrupt came in the middle of a change of the engine.
        self.is_half_changed = False
        #: Whether calls are under way that the run does not wait for any more.
        self.has_given_up = False
        #: Gets the errors of the run, once, soon after the first; None: nobody asks.
        self.on_error: Callable[[GraphRunError], object] | None = None
        #: The thread that calls it.
        self.teller: threading.Thread | None = None

    def serve(self, works: Sequence[QueueServer], timer: Alarm | None) -> None:
        """Take the works of the schedule's queues, and the timer of a run whose nodes may time out."""
        self.works = works
        self._only_work = works[0] if len(works) == 1 else None
        self._timer = timer

    # --- reading ------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether the run has ended and no step or observer of it runs any more."""
        return self.schedule.state == TERMINATED and (self.is_poisoned or self.schedule.busy == 0)

    def now(self) -> float:
        """Return what the application's clock says, in seconds.

        Raises:
            PenstockError: the clock raised, or returned no finite number.
        """
        return read_clock(self.clock)

    def ask(self, question: Callable[[Schedule], Any]) -> Any:
        """Return an answer read under the lock.

        Raises:
            FailedPreconditionError: this thread holds the lock; see `refuse_destructor`.
        """
        if self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            self.refuse_destructor()
        try:
            with self.lock:
                return question(self.schedule)
        except KeyboardInterrupt:
            self.unlock_interrupted()
            raise

    def unlock_interrupted(self) -> None:
        """Release the lock where an interrupt came before the body of its `with`: from Python 3.14 on it may.

        Nothing has been done under it. Called by the thread that was interrupted.
        """
        if self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            self.lock.release()

    def refuse_destructor(self) -> NoReturn:
        """Refuse a call of a thread that holds the lock: a destructor makes it, in the middle of a change.

        Raises:
            FailedPreconditionError: always.
        """
        raise FailedPreconditionError(
            "the graph was called by a destructor (`__del__`, or the callback of a weak reference) that the "
            "garbage collector ran in the middle of a change of the same graph; let the destructor hand the "
            "call to another thread, or close what it closes before the payload is dropped"
        )

    # --- changes ------------------------------------------------------------------------------

    def change(self, event: Callable[..., Any], *arguments: object) -> Any:
        """Apply an event to the engine under the lock, then wake threads and call observers as needed.

        Args:
            event: called with the engine and `arguments`.
            arguments: what the event takes besides the engine.

        Raises:
            FailedPreconditionError: this thread holds the lock; see `refuse_destructor`.
            Whatever the event raises; the engine is then unchanged, unless it was an interrupt.
        """
        if self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            self.refuse_destructor()
        wake: list[QueueServer] = []
        interrupt: BaseException | None = None
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
                # a thread is attentive to the only queue: `after_change` would do no more than this
                only.queue.is_fresh = False
                garbage = None
            else:
                garbage = self.after_change(wake)
            self.lock.release()
            del garbage
            if wake:
                interrupt = self.wake(wake, sends=True)
            if schedule.deliveries:
                self._deliver_here()
            is_changed = False
        except BaseException as error:
            if is_changed:
                self.lose(error)
            else:
                self.give_up(error)
            raise
        if interrupt is not None:
            raise interrupt
        return result

    def after_change(self, wake: list[QueueServer], *, tell: bool = True) -> list[Packet] | None:
        """Collect, under the lock, what is to be done after unlocking.

        Args:
            wake: receives the works that need a thread, for the method `wake`.
            tell: whether waiting threads may be notified now.

        Returns:
            Packets that no queue holds any more, to be freed after unlocking; None if there are none.
        """
        schedule = self.schedule
        for work in self.works:
            if work.queue.is_fresh:
                work.queue.is_fresh = False
                if work.wants_thread():
                    wake.append(work)
        if schedule.has_waited:
            schedule.has_waited = False
            self._timer.tell()  # type: ignore[union-attr]  # a run with patient nodes has a timer
        if tell and schedule.has_news:
            self.tell()
            if self.stuck.growths and not wake:
                wake.append(self.works[0])  # `wake` also logs the growths
        if not schedule.garbage:
            return None
        garbage = schedule.garbage[:]
        schedule.garbage.clear()
        return garbage

    def claim_deliveries(self) -> list[StreamObserver]:
        """Claim the observers that have packets to see; the caller drains them. Called with the lock held."""
        schedule = self.schedule
        # always a new list: the schedule would go on filling its own after unlocking
        claimed, schedule.deliveries = schedule.deliveries, []
        return claimed

    def wake(self, works: Sequence[QueueServer], *, sends: bool = False) -> BaseException | None:
        """Log which queues have grown, and ask these works' executors for a thread each. Without the lock.

        Args:
            works: with ready steps that no thread will look at soon.
            sends: whether this thread may run steps that are calls to be sent, instead of a thread of theirs.

        Returns:
            An interrupt that came while a call was sent.
        """
        if self.stuck.growths:
            self.stuck.log_growths(self.lock)
        to_send: list[QueueServer] = []
        for work in works:
            if work.lease is None:
                continue
            if sends and work.lease.sends and work.lease.may_send() and self._may_send():
                to_send.append(work)
                continue
            try:
                work.lease.wake()
            except Exception as error:  # noqa: BLE001  # whatever an executor raises ends the run
                failure = PenstockError(f"{work.queue.executor_name()} cannot run anything: {text_of(error)}")
                failure.__cause__ = error
                with self.lock:
                    self.stranded.add(work)
                    self.schedule.fail(failure)
                    self.changed.notify_all()
        interrupts = [work.send() for work in to_send]
        return next((one for one in interrupts if one is not None), None)

    def _may_send(self) -> bool:
        """Return whether this thread is neither inside a step nor one that a loop needs."""
        ident = get_ident()
        is_timer = self._timer is not None and ident == self._timer.thread_id
        return not (is_timer or ident in self.inside or ident == self.loop.thread_id or is_on_event_loop())

    def tell(self) -> None:
        """Notify the waiting application threads and tasks. Called with the lock held."""
        self.schedule.has_news = False
        if self.on_error is not None and self.schedule.errors:
            self.tell_error()  # where it cannot: the next change tries again, and at last `stop`
        if self.waiters:
            self.changed.notify_all()
        self.quiet_until = perf_counter() + (_QUIET_FOR_ADDERS_S if self.waiters == self.adders else _QUIET_S)
        if self.pending and self.schedule.errors and self._failing_since is None:
            self._failing_since = monotonic()
            futures = [future for step, future in self.pending.items() if step.method != CLOSE]
            # where no thread can be started the futures have the grace time to end by themselves
            has_started(
                threading.Thread(target=_cancel, args=(futures,), name="penstock-cancel", daemon=True)
            )

    def tell_error(self) -> bool:
        """Call the application's error callback on a thread of its own; return whether one was started."""
        told = (self.on_error, GraphRunError(self.schedule.errors))
        teller = threading.Thread(target=_tell_error, args=told, name="penstock-error", daemon=True)
        if not has_started(teller):
            return False
        self.on_error, self.teller = None, teller
        return True

    def wake_early(self) -> None:
        """Notify, once, the threads that wait until the run is idle, shortly before it is. Lock held.

        Waking a thread takes 25 us. Light observers, the only work that is left then, take no longer.
        """
        self.wakes_early = False
        self.changed.notify_all()

    def note_ended(self, step: Step, error: BaseException | None) -> None:
        """Record the end of a step that was under way when the run was poisoned. Lock held."""
        self.schedule.note_ended(step, error)

    def _deliver_here(self) -> None:
        """Drain observers on the calling thread; inside a step the loop of the thread does it later."""
        ident = get_ident()
        if ident in self.inside:
            return
        # Event loops and the timer run no observers: they ask an executor for a thread.
        is_timer = self._timer is not None and ident == self._timer.thread_id
        if is_timer or ident == self.loop.thread_id or (is_on_event_loop() and not self._helps_first()):
            self.wake(self.works[:1])
            return
        try:
            self.inside.add(ident)
            self.works[0].deliver()
        finally:
            self.inside.discard(ident)

    def _helps_first(self) -> bool:
        """Return whether the executor of the first queue runs its steps inside the application's waits."""
        lease = self.works[0].lease
        return lease is not None and lease.helps

    # --- interrupts ---------------------------------------------------------------------------

    def give_up(self, error: BaseException) -> None:
        """Poison the run and unlock it, after something was raised in a locked section.

        Called by the thread that was interrupted. Where the interrupt came before the thread had the lock,
        or after it had released it, nothing is half changed, and this does nothing.
        """
        if not self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            return
        failure = PenstockError(
            f"the run was interrupted by {type(error).__name__} in the middle of a change and cannot go on",
            code=StatusCode.RESOURCE_EXHAUSTED if isinstance(error, MemoryError) else StatusCode.ABORTED,
        )
        failure.__cause__ = error
        self.is_half_changed = True
        self._poison(failure)
        self.lock.release()

    def _poison(self, failure: PenstockError) -> None:
        """End the run at once, with an error. Called with the lock held."""
        if not self.is_poisoned:
            self.is_poisoned = True
            self.schedule.state = TERMINATED
            self.schedule.errors.append(failure)
            self.changed.notify_all()

    def forget_after_fork(self, parent: int) -> None:
        """End the run in a forked child, which has none of its threads. What the parent does is unchanged.

        Args:
            parent: id of the process in which the run goes on.
        """
        # another thread may have had the lock
        self.changed._at_fork_reinit()  # type: ignore[attr-defined]  # noqa: SLF001  # as `threading` does
        self.changed.listeners.clear()
        self.inside.clear()  # nothing that a call of the child could wait for
        self.loop.forget_after_fork()
        said = f"the run goes on in process {parent}; this process was forked from it without its threads"
        with self.lock:
            self.has_given_up = True
            self._poison(PenstockError(said, code=StatusCode.ABORTED))

    def lose(self, error: BaseException) -> None:
        """Poison the run after something was raised while this thread had a step, wake-up or delivery to do.

        No other thread knows of that step, wake-up or delivery, so the run could not end by itself.
        """
        if not self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            self.lock.acquire()
        self.give_up(error)


def _tell_error(callback: Callable[[GraphRunError], object] | None, error: GraphRunError) -> None:
    """Call the application's callback. On a thread of its own: it may ask the graph, and take long."""
    if callback is None:
        return
    try:
        callback(error)
    except Exception as raised:  # noqa: BLE001  # the run has failed already
        _logger.warning("the error callback failed: %s", words_of(raised))


def _cancel(futures: list[concurrent.futures.Future[Any]]) -> None:
    """Cancel futures of pending steps. On a thread of its own: `cancel` calls the futures' callbacks."""
    for future in futures:
        future.cancel()
