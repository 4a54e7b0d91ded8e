"""`QueueWork`: the steps of one ready queue, as lent to its executor, and the loop that runs them.

Which thread wakes which: a thread is *attentive* to a queue while it is between steps of that queue or in
a step that will be over soon; it will look at the queue by itself. A thread that makes a step ready, or
begins a step that takes long, wakes one sleeping thread if steps are ready and no thread is attentive. Of
two threads that are attentive after a light step, one goes back to sleep. So a chain of light calculators
costs no hand-off between threads, and a backlog of heavy ones uses all threads. (Waking a thread for each
ready step makes a chain of pass-through nodes three to four times slower under the interpreter lock,
measured with 2 threads on 2 cores.)

The loop measures which calculators are heavy as they run. A call above `_HEAVY_S` adds 8 to the node's
`slowness`, any other call takes 1 from it, so that a node counts as heavy when about one call in nine takes
long; one call that lost the interpreter lock for 5 ms makes no node heavy. The first call of a node counts
more: if it is long, the node is heavy at once. (If it took three, one thread would run all 12 calls of four
heavy nodes.) A node whose slowness has fallen to 0 is light and is timed only now and then. The sleeping
threads notice a light node that suddenly blocks: see `executor.Work.is_neglected`.
"""

from __future__ import annotations

from math import inf
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.faults import words_of_call
from penstock.engine.methods import PROCESS
from penstock.engine.outcome import STOP
from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.engine.run_state import RUNNING
from penstock.errors import ObserverError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.engine.scheduler_queue import ReadyQueue
    from penstock.engine.step import Step
    from penstock.engine.stream import StreamObserver
    from penstock.runtime.executors.executor import ExecutorLease
    from penstock.runtime.runner.deferred import DeferringRun
    from penstock.runtime.runner.locked import QueueServer

    #: What a visit to the lock leaves to be done after unlocking; a plain tuple, made for nearly each step:
    #: whether the thread no longer counts as attentive (it has no step, its step takes long, or no sleeping
    #: thread watches the queue); the observers that this thread has claimed and must drain; the works that
    #: need a thread; packets that no queue holds any more, which are freed with it.
    Rest = tuple[bool, Sequence[StreamObserver], Sequence[QueueServer], Sequence[Packet] | None]

#: A call that takes longer is worth another thread: twice what waking one costs (20-40 us, 2 cores).
_HEAVY_S: Final = 100e-6
#: A node of this `slowness` is heavy: after three long calls in a row, or after a long first call.
HEAVY: Final = 24
_SLOWEST: Final = 64
#: After so many light steps, and up to 15 more, a thread times one step although its node is known to be
#: light, counts it in `taken` as a sign of life, and checks whether waiting threads should be notified. The
#: number varies: with a fixed one, a chain of that length would have the same node timed each time.
_UNTIMED: Final = 8
NO_PACKET: Final = Packet()
#: Why packets are dropped, as the ledger says.
FAILED_OBSERVER: Final = "the observer had failed"


class QueueWork:
    """The `executor.Work` of one ready queue of one run."""

    def __init__(self, runner: DeferringRun, queue: ReadyQueue) -> None:
        self.runner: Final = runner
        self.queue: Final = queue
        self.lease: ExecutorLease | None = None
        #: Number of threads that will look at the queue soon; changed under the lock.
        self.attentive = 0
        #: Whether sleeping threads look for neglected steps; see `executor.ExecutorLease.watches`.
        self.is_watched = False
        #: Counts the steps that were timed; read without the lock, as a sign of life.
        self.taken = 0
        self._is_waking = False
        #: Increased when the attentive threads are no longer relied on; see `is_neglected`.
        self._epoch = 0
        self._slow_deliveries = 0

    @property
    def name(self) -> str:
        """The executor's name in the graph."""
        return self.queue.name

    def notify_waiters(self) -> None:
        """Wake the application threads that wait for this run, so that they look again."""
        runner = self.runner
        if runner.waiters:
            with runner.lock:
                runner.changed.notify_all()

    def step(self) -> bool:
        """Run one ready step; return False if there was none."""
        asked = iter((False, True))
        return self.run(interrupted=lambda: next(asked, True))

    def has_ready(self) -> bool:
        """Return whether `run` would find something to do; may be asked at any time."""
        queue, schedule = self.queue, self.runner.schedule
        return bool(schedule.deliveries or ((queue.others or queue.sources) and schedule.state == RUNNING))

    def wants_thread(self) -> bool:
        """Return whether a sleeping thread must be woken for this queue. Called with the lock held."""
        queue = self.queue
        if self.attentive or self._is_waking or not (queue.others or queue.sources):
            return False
        if self.runner.is_poisoned:  # its steps stay ready; threads would wake each other without end
            return False
        self._is_waking = True
        return True

    def is_neglected(self, seen: int) -> bool:
        """Return whether steps are ready and none has been taken since `taken` was `seen`.

        If so, the attentive threads are no longer relied on; each is attentive again when it comes back.
        """
        if self.taken != seen or not (self.queue.others or self.queue.sources):
            return False
        with self.runner.lock:
            self.attentive = 0
            self._epoch += 1
        return True

    def run(  # noqa: C901, PLR0912, PLR0915  # the hot loop reads top to bottom; each part is short
        self,
        interrupted: Callable[[], bool] | None = None,
        choose: Callable[[int], int] | None = None,
        max_s: float | None = None,
    ) -> bool:
        """Run ready steps until none is left, time is up or `interrupted` says so.

        Args:
            interrupted: asked before each step is taken; True ends the loop. None: never.
            choose: picks one of n ready steps, for executors that explore orders. None: the first.
            max_s: how long to go on taking steps, in seconds; None for no limit.

        Returns:
            Whether any step ran or any observer was drained.
        """
        runner = self.runner
        schedule, queue = runner.schedule, self.queue
        acquire, release = runner.lock.acquire, runner.lock.release
        ident = get_ident()
        until = inf if max_s is None else perf_counter() + max_s
        is_free = interrupted is None and max_s is None
        step: Step | None = None
        error: BaseException | None = None
        stop = did_any = False
        drained: Sequence[StreamObserver] = ()
        wake: Sequence[QueueServer] = ()
        garbage: Sequence[Packet] | None = None
        epoch = self._epoch
        is_away = True
        is_round = False
        untimed = _UNTIMED
        look_around = self._begin()
        try:
            runner.inside.add(ident)
            while True:
                go_on = is_free or (perf_counter() < until and (interrupted is None or not interrupted()))
                # Stage 1, with the lock: complete the step that has run, take the next one.
                # Invariant: `step`, if any, has been called and is completed here, exactly once. While it
                # ran, another thread may have found the queue neglected (`epoch`), poisoned the run, or
                # taken the ready steps. An interrupt can come between any two lines; `give_up` and `lose`
                # say what holds then.
                try:
                    acquire()
                    # 1a. Count this thread as attentive again if it was not. A changed epoch means that a
                    # sleeping thread found the queue neglected while `step` ran: the step counts as long.
                    if is_away or epoch != self._epoch:
                        if step is not None and epoch != self._epoch:
                            blame(step)
                        epoch = self._come_back()
                        is_away = False
                    elif self.attentive > 1:
                        go_on = False  # one thread is enough for light steps
                    # 1b. Report the observers that stage 2 drained; until then the run is not idle.
                    if drained:
                        for observer in drained:
                            schedule.delivered(observer)
                        drained = ()
                    # 1c. Complete and take. No step is taken while observers have packets to see; `turn`
                    # checks that itself and then returns None.
                    if step is None:
                        step = schedule.take(queue, choose) if go_on and not schedule.deliveries else None
                    elif runner.is_poisoned:
                        runner.note_ended(step, error)
                        step = None
                    elif go_on and choose is None:
                        step = schedule.turn(queue, step, error, stop)
                        if step is not None and interrupted is None and not step.node.slowness:
                            step, untimed = self._run_light(step, untimed)
                            if epoch != self._epoch:
                                epoch = self._come_back()
                    else:
                        schedule.complete(step, error, stop)
                        step = schedule.take(queue, choose) if go_on and not schedule.deliveries else None
                    # 1d. Collect what is to be done after unlocking. `is_fresh` is cleared: `_look_around`
                    # decides whether this queue needs another thread; not while this one is attentive.
                    queue.is_fresh = False
                    is_away, drained, wake, garbage = look_around(step, is_round)
                    release()
                except BaseException as broken:
                    runner.give_up(broken)
                    raise
                # Stage 2, without the lock: wake threads, free packets, drain observers. User code runs here:
                # observers, and destructors of payloads. This thread claimed the observers in stage 1, so no
                # other thread drains them. A thread that has drained has no step and goes back to stage 1.
                if wake:
                    runner.wake(wake)
                if garbage is not None:  # without being read here, it would die under the lock once compiled
                    garbage = None
                if drained:
                    self._drain_all(drained)
                    did_any = True
                    continue
                if step is None:
                    return did_any
                # Stage 3, without the lock: call the calculator. Invariant: only this thread has the step,
                # and no other thread calls the node unless it allows overlapping calls. What the call raises
                # is kept for stage 1, interrupts included. A deferred step now belongs to its future.
                did_any = True
                error = None
                stop = False
                node = step.node
                is_round = not untimed
                is_timed = node.slowness or is_round
                if is_timed:
                    self.taken += 1
                    untimed = _UNTIMED + (self.taken * 7 & 15)
                    began = perf_counter()  # after unlocking: waiting for the lock makes no node heavy
                else:
                    untimed -= 1
                try:
                    outcome = step.call(step)
                    if outcome is not None:
                        is_deferred, stop, error = self._understand(step, outcome)
                        if is_deferred:
                            step = None
                except BaseException as raised:  # noqa: BLE001  # an error of the run, whatever it is
                    error = raised
                    if step is not None:
                        step.words = words_of_call(step, raised)
                if is_timed:
                    took = perf_counter() - began
                    node.slowness = min(is_timed + 8, _SLOWEST) if took > _HEAVY_S else is_timed - 1
                if step is not None:
                    for port in step.in_ports:
                        port.packet = NO_PACKET
        except BaseException as broken:
            runner.lose(broken)
            raise
        finally:
            runner.inside.discard(ident)
            # The traceback of an error may keep this frame alive, but must not keep its packets.
            garbage = step = error = None

    def _begin(self) -> Callable[[Step | None, bool], Rest]:
        """Return what the loop that begins calls to look around. For short cuts."""
        return self._look_around

    def _run_light(self, step: Step, untimed: int) -> tuple[Step | None, int]:
        """Run light steps before the other duties of the loop; here none. For short cuts.

        Called with the lock held, and returns with it held.

        Args:
            step: taken, not begun; its node is light.
            untimed: how many steps need not be timed.

        Returns:
            The next step, taken and not begun, or None; and how many of the untimed are left.
        """
        return step, untimed

    def send(self) -> BaseException | None:
        """Run one ready step on this thread, which has made it ready; see `executor.ExecutorLease.sends`.

        It calls no observer. For other steps that are ready, and for what this one leaves, threads are woken.

        Returns:
            An interrupt that came during the call. It ends the run, and is the application's too.
        """
        runner = self.runner
        ident = get_ident()
        step: Step | None = None
        error: BaseException | None = None
        stop = False
        try:
            runner.inside.add(ident)
            step = self._take_to_send()
            if step is None:
                return None
            self.taken += 1
            try:
                outcome = step.call(step)
                if outcome is not None:
                    is_deferred, stop, error = self._understand(step, outcome)
                    if is_deferred:
                        return None
            except BaseException as raised:  # noqa: BLE001  # an error of the run, whatever it is
                error = raised
            runner.complete_here(step, error, stop=stop)
            return None if isinstance(error, Exception) else error
        except BaseException as broken:
            runner.lose(broken)
            raise
        finally:
            runner.inside.discard(ident)
            step = error = None

    def _take_to_send(self) -> Step | None:
        runner = self.runner
        wake: list[QueueServer] = []
        try:
            runner.lock.acquire()
            self._is_waking = False
            step = runner.schedule.take(self.queue)
            if runner.schedule.state == RUNNING and self.wants_thread():
                wake.append(self)
            garbage = runner.after_change(wake)
            runner.lock.release()
        except BaseException as broken:
            runner.give_up(broken)
            raise
        del garbage
        if wake:
            runner.wake(wake)
        return step

    def _understand(self, step: Step, outcome: object) -> tuple[bool, bool, BaseException | None]:
        """Return what a call's result means: whether it completes later, whether it is STOP, its error."""
        if outcome is STOP and step.method == PROCESS:
            return False, True, None
        error = self.runner.defer(step, outcome)
        return error is None, False, error

    def _come_back(self) -> int:
        """Count this thread as attentive again; return the epoch. Called with the lock held."""
        self.attentive += 1
        self._is_waking = False
        return self._epoch

    def _look_around(self, step: Step | None, is_round: bool) -> Rest:  # noqa: ARG002, FBT001  # for short cuts
        """Collect what else there is to do before `step`, or if there is none. Called with the lock held.

        Args:
            step: taken, not begun.
            is_round: whether the last step was light, and timed as one of many.
        """
        runner = self.runner
        claimed = runner.claim_deliveries() if step is None and runner.schedule.deliveries else ()
        was_away = step is None or step.node.slowness >= HEAVY or not self.is_watched
        is_soon_back = not was_away
        wake: list[QueueServer] = []
        if was_away:
            self.attentive -= 1
            takes_long = not claimed or self._slow_deliveries > 1 or not self.is_watched
            if takes_long and self.wants_thread():
                wake.append(self)
            is_soon_back = not takes_long and bool(self.queue.others)
        tell = not is_soon_back or perf_counter() > runner.quiet_until
        return was_away, claimed, wake, runner.after_change(wake, tell=tell)

    def deliver(self) -> None:
        """Call observers with the packets that wait for them, until no packet waits."""
        runner = self.runner
        claimed: list[StreamObserver] = []
        while True:
            wake: list[QueueServer] = []
            try:
                runner.lock.acquire()
                for observer in claimed:
                    runner.schedule.delivered(observer)
                claimed = runner.claim_deliveries()
                garbage = runner.after_change(wake)
                runner.lock.release()
            except BaseException as broken:
                runner.give_up(broken)
                raise
            del garbage
            runner.wake(wake)
            if not claimed:
                return
            self._drain_all(claimed)

    def _drain_all(self, observers: Sequence[StreamObserver]) -> None:
        """Call observers with all their packets, and note whether that took long. Called without the lock."""
        began = perf_counter()
        for observer in observers:
            self._drain(observer)
        self._slow_deliveries = self._slow_deliveries + 1 if perf_counter() - began > _HEAVY_S else 0

    def _drain(self, observer: StreamObserver) -> None:
        queue = observer.queue
        target: Any = observer.target
        while queue:
            packet = queue.popleft()
            if target.has_failed:
                with self.runner.lock:
                    observer.count_dropped(FAILED_OBSERVER, int(packet.value is not NO_PAYLOAD))
                continue
            observer.delivered += packet.value is not NO_PAYLOAD
            try:
                target.call(packet)
            except BaseException as error:  # noqa: BLE001  # an error of the run, whatever it is
                target.has_failed = True
                failure = ObserverError(observer.name, error, packet.stamp)  # runs user code
                with self.runner.lock:
                    self.runner.schedule.fail(failure)
                del failure  # the traceback of its cause keeps this frame, which must not keep it


def blame(step: Step) -> None:
    """Count a step as long for its node: the queue was neglected while it ran. Called with the lock held."""
    step.node.slowness = min(step.node.slowness + 8, _SLOWEST)
