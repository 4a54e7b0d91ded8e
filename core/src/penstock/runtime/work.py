"""The steps of one ready queue, as lent to its executor, and the loop that runs them.

Who wakes whom: a thread is *attentive* to a queue while it is between steps of that queue or in a
step that will be over soon; it will look at the queue by itself. Whoever makes a step ready, or
goes away into a step that takes long, wakes one sleeping thread if steps are ready and nobody is
attentive. So a chain of light calculators costs no hand-off between threads, and a backlog of heavy
ones uses all threads. (Waking a thread for each ready step makes a chain of pass-through nodes four
times slower under the interpreter lock, measured with 2 threads on 2 cores.)

Which calculators are heavy is measured as they run: two calls in a row above `_HEAVY_S`. A light one
that blocks all of a sudden is noticed by the sleeping threads: see `executor.Work.is_neglected`.
"""

from __future__ import annotations

from math import inf
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.calculator import PROCESS, STOP
from penstock.engine.packet import Packet
from penstock.errors import ObserverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.node import Step
    from penstock.engine.ready import ReadyQueue
    from penstock.engine.stream import Observer
    from penstock.runtime.executor import Lease
    from penstock.runtime.runner import Runner

#: A call that takes longer is worth another thread: twice what waking one costs (20-40 us, 2 cores).
_HEAVY_S: Final = 100e-6
#: How long waiting application threads may hear nothing while there are steps to run; telling one
#: at each packet costs a hand-off at each packet.
_QUIET_S: Final = 200e-6
_NO_PACKET: Final = Packet()


class _Rest:
    """What a visit to the lock leaves to be done after unlocking.

    Attributes:
        was_away: the thread no longer counts as attentive: it leaves, or its step takes long.
        deliver: observers have something to see.
        wake: queues that want a thread.
        garbage: packets that nobody wants; they die with this object.
    """

    __slots__ = ("deliver", "garbage", "wake", "was_away")

    def __init__(self) -> None:
        self.was_away = False
        self.deliver = False
        self.wake: list[QueueWork] = []
        self.garbage: list[Packet] | None = None


_NO_REST: Final = _Rest()


class QueueWork:
    """The `executor.Work` of one ready queue of one run."""

    def __init__(self, runner: Runner, queue: ReadyQueue) -> None:
        self.runner: Final = runner
        self.queue: Final = queue
        self.lease: Lease | None = None
        #: Threads that will look at the queue soon; changed under the lock.
        self.attentive = 0
        #: How many steps have been taken; read without the lock, as a sign of life.
        self.taken = 0
        self._is_waking = False
        self._slow_deliveries = 0

    @property
    def name(self) -> str:
        """The executor's name in the graph."""
        return self.queue.name

    def notify_waiters(self) -> None:
        """Let application threads that wait for this run look again."""
        runner = self.runner
        if runner.waiters:
            with runner.lock:
                runner.changed.notify_all()

    def step(self) -> bool:
        """Run one ready step; return False where there was none."""
        asked = iter((False, True))
        return self.run(interrupted=lambda: next(asked, True))

    def wants_thread(self) -> bool:
        """Return whether a sleeping thread shall be woken for this queue. Called with the lock held."""
        queue = self.queue
        if self.attentive or self._is_waking or not (queue.others or queue.sources):
            return False
        self._is_waking = True
        return True

    def is_neglected(self, seen: int) -> bool:
        """Return whether steps are ready and none has been taken since `taken` was `seen`."""
        return bool(self.queue.others or self.queue.sources) and self.taken == seen

    def run(  # noqa: C901, PLR0912, PLR0915  # the hot loop reads top to bottom; each part is short
        self,
        interrupted: Callable[[], bool] | None = None,
        choose: Callable[[int], int] | None = None,
        max_s: float | None = None,
    ) -> bool:
        """Run ready steps until none is left, time is up or `interrupted` says so; return whether any ran."""
        runner = self.runner
        schedule, queue = runner.schedule, self.queue
        acquire, release = runner.lock.acquire, runner.lock.release
        take, complete = schedule.take, schedule.complete
        several = len(runner.works) > 1
        ident = get_ident()
        runner.inside.add(ident)
        now = perf_counter()
        until = inf if max_s is None else now + max_s
        step: Step | None = None
        error: BaseException | None = None
        stop = did_any = False
        rest: _Rest | None = None
        try:
            while True:
                go_on = now < until and (interrupted is None or not interrupted())
                # An interrupt can come between any two lines; see `give_up` for what then holds.
                try:
                    acquire()
                    if rest is None or rest.was_away:
                        self._come_back()
                        rest = _NO_REST
                    if step is not None and not runner.is_poisoned:
                        complete(step, error, stop)
                    step = take(queue, choose) if go_on and not schedule.deliveries else None
                    queue.is_fresh = False
                    if (
                        step is None
                        or step.node.slow_calls > 1
                        or several
                        or schedule.garbage
                        or (schedule.has_news and now > runner.quiet_until)
                    ):
                        rest = self._look_around(step, now)
                    release()
                except BaseException as broken:
                    runner.give_up(broken)
                    raise
                if rest is not _NO_REST:
                    runner.wake(rest.wake)
                    if step is None:
                        if not rest.deliver:
                            return did_any
                        rest = None
                        self.deliver()
                        now = perf_counter()
                        did_any = True
                        continue
                    if not rest.was_away:
                        rest = _NO_REST  # and with it dies what nobody wants, outside the lock
                did_any = True
                self.taken += 1
                error = None
                stop = False
                node = step.node  # type: ignore[union-attr]  # no step: handled above
                began = now  # of the visit to the lock, really: one look at the clock in each round is enough
                try:
                    outcome = step.call(step)  # type: ignore[union-attr]
                    if outcome is not None:
                        if outcome is STOP and step.method == PROCESS:  # type: ignore[union-attr]
                            stop = True
                        else:
                            error = runner.defer(step, outcome)  # type: ignore[arg-type]
                            if error is None:
                                step = None
                except BaseException as raised:  # noqa: BLE001  # an error of the run, whatever it is
                    error = raised
                now = perf_counter()
                if now - began > _HEAVY_S:
                    node.slow_calls += 1
                elif node.slow_calls:
                    node.slow_calls = 0
                if step is not None:
                    for port in step.in_ports:
                        port.packet = _NO_PACKET
        finally:
            runner.inside.discard(ident)

    def _come_back(self) -> None:
        """Note that a thread looks at the queue again. Called with the lock held."""
        self.attentive += 1
        self._is_waking = False

    def _look_around(self, step: Step | None, now: float) -> _Rest:
        """Collect, under the lock, what else there is to do before `step`, or instead of it."""
        runner = self.runner
        rest = _Rest()
        rest.deliver = step is None and bool(runner.schedule.deliveries)
        rest.was_away = step is None or step.node.slow_calls > 1
        if rest.was_away:
            self.attentive -= 1
            takes_long = not rest.deliver or self._slow_deliveries > 1
            if takes_long and self.wants_thread():
                rest.wake.append(self)
        if rest.was_away or now > runner.quiet_until:
            runner.quiet_until = now + _QUIET_S
            rest.garbage = runner.after_change(rest.wake)
        else:
            rest.garbage = runner.after_change(rest.wake, tell=False)
        return rest

    def deliver(self) -> None:
        """Give observers what has been delivered to them, until none has anything."""
        runner = self.runner
        claimed: list[Observer] = []
        began = perf_counter()
        while True:
            wake: list[QueueWork] = []
            try:
                runner.lock.acquire()
                for observer in claimed:
                    runner.schedule.delivered(observer)
                # always another list: one that is still the schedule's could fill up after unlocking
                claimed, runner.schedule.deliveries = runner.schedule.deliveries, []
                garbage = runner.after_change(wake)
                runner.lock.release()
            except BaseException as broken:
                runner.give_up(broken)
                raise
            del garbage
            runner.wake(wake)
            if not claimed:
                break
            for observer in claimed:
                self._drain(observer)
        self._slow_deliveries = self._slow_deliveries + 1 if perf_counter() - began > _HEAVY_S else 0

    def _drain(self, observer: Observer) -> None:
        queue = observer.queue
        target: Any = observer.target
        while queue:
            packet = queue.popleft()
            if target.has_failed:
                continue
            try:
                target.call(packet)
            except BaseException as error:  # noqa: BLE001  # an error of the run, whatever it is
                target.has_failed = True
                with self.runner.lock:
                    self.runner.schedule.fail(ObserverError(observer.name, error, packet.stamp))
