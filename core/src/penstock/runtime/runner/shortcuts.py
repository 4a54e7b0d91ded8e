"""Short cuts of the loop that runs steps: the same results as `QueueWork`, in less time.

They are taken with those of `penstock.engine.shortcuts`, by runs whose schedule takes these.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final, cast

from penstock.engine.faults import words_of_call
from penstock.runtime.runner.queue_work import HEAVY, NO_PACKET, QueueWork, blame

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.scheduler_queue import ReadyQueue
    from penstock.engine.shortcuts import ShortSchedule
    from penstock.engine.step import Step
    from penstock.runtime.runner.deferred import DeferringRun
    from penstock.runtime.runner.queue_work import Rest

_NOTHING: Final = False, (), (), None
_AWAY: Final = True, (), (), None


class ShortQueueWork(QueueWork):
    """The work of one ready queue, with short cuts."""

    def __init__(self, runner: DeferringRun, queue: ReadyQueue) -> None:
        super().__init__(runner, queue)
        #: Whether the run has one queue, which sleeping threads watch, and no node that may time out. Then a
        #: round need not look at other queues or the timer, nor ask for a thread for what it leaves in its
        #: queue. Most runs are so.
        self._is_alone = False

    def _begin(self) -> Callable[[Step | None, bool], Rest]:
        self._is_alone = self.is_watched and len(self.runner.works) == 1 and not self.runner.schedule.patient
        return self._look_shortly if self._is_alone else self._look_around

    def _run_light(  # noqa: C901  # as the loop
        self, step: Step, untimed: int
    ) -> tuple[Step | None, int]:
        """Run light steps until the next one is not light or is to be timed, or packets wait to be freed.

        It also returns after a step that failed, returned STOP or was deferred. The other duties of the loop
        in `run` are done only before and after this one: that saves a tenth of the time of a chain of light
        nodes.
        """
        if not self._is_alone:
            return step, untimed
        runner, queue = self.runner, self.queue
        schedule = cast("ShortSchedule", runner.schedule)
        garbage, follow = schedule.garbage, schedule.follow
        acquire, release = runner.lock.acquire, runner.lock.release
        epoch = self._epoch
        following: Step | None = step
        outcome: object = None
        error: BaseException | None = None
        stop = is_deferred = False
        try:
            while untimed and following is not None and not (following.node.slowness or garbage):
                # Here the lock is held, `following` is taken and not begun, and its node has slowness 0.
                # This loop neither drains observers nor notifies waiting threads. It ends as soon as a
                # delivery is due, since `follow` then returns None; waiting threads are put off by at most 23
                # light steps (`untimed`). It need wake no thread: this one is attentive to the only queue.
                step = following
                untimed -= 1
                release()
                try:
                    outcome = step.call(step)
                    if outcome is not None:
                        is_deferred, stop, error = self._understand(step, outcome)
                        if is_deferred:
                            break
                except BaseException as raised:  # noqa: BLE001  # an error of the run, whatever it is
                    outcome = error = raised
                    is_deferred = False
                    step.words = words_of_call(step, raised)
                port = step.in_port
                if port is not None:  # a loop over one port would take 4 % of a step
                    port.packet = NO_PACKET
                else:
                    step.clear_inputs()
                # The step has run and is not completed yet. What follows is stages 1a and 1c of `run`, which
                # counts this thread as attentive again if the epoch has changed.
                acquire()
                if epoch != self._epoch:
                    blame(step)
                    untimed = 0
                if runner.is_poisoned:
                    runner.note_ended(step, error)
                    return None, untimed
                if outcome is not None:  # an error or STOP, which belongs to this step alone
                    following = schedule.turn(queue, step, error, stop)
                    break
                following = follow(queue, step)
            if is_deferred:  # left without the lock, and with no step to complete
                acquire()
                following = None if schedule.deliveries else schedule.take(queue)
        finally:
            outcome = error = None  # its traceback keeps this frame, which must not keep the error
        return following, untimed

    def _look_shortly(self, step: Step | None, is_round: bool) -> Rest:  # noqa: FBT001  # hot
        """As `_look_around`, in fewer calls where there is little or nothing to do."""
        runner, queue = self.runner, self.queue
        schedule = runner.schedule
        if step is not None:
            if step.node.slowness < HEAVY:
                # While steps are light, waiting threads are notified only now and then.
                if not (schedule.garbage or (is_round and schedule.has_news)):
                    return _NOTHING
            elif not (queue.others or queue.sources or schedule.garbage or schedule.has_news):
                self.attentive -= 1  # the step takes long while none else is ready: saves 3 us for each
                return _AWAY
        elif schedule.deliveries and self._slow_deliveries <= 1:
            # The observers finish soon: saves 1 us for each packet, and notifies waiting threads early.
            self.attentive -= 1
            claimed, schedule.deliveries = schedule.deliveries, []
            garbage = None
            if schedule.garbage:
                garbage = schedule.garbage[:]
                schedule.garbage.clear()
            if runner.wakes_early and schedule.busy == len(claimed):
                runner.wake_early()
            if schedule.has_news and (not queue.others or perf_counter() > runner.quiet_until):
                runner.tell()
            return True, claimed, (), garbage
        return self._look_around(step, is_round)
