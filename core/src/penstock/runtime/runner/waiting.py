"""Waits of the application: for room, for idle, for the end.

What holds here: a thread of the run itself may not wait, since it would wait for its own end; waits wake four
times a second, so that Ctrl-C works on every platform; if an executor runs its nodes inside the waits of the
application, a wait runs them.
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.run_state import RUNNING
from penstock.errors import FailedPreconditionError, WaitTimeoutError
from penstock.runtime.runner.deferred import DeferringRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.schedule import Schedule
    from penstock.runtime.event_loops.lazy_loop import LazyLoop
    from penstock.runtime.executors.executor import ExecutorLease

#: How long a wait sleeps at most before it looks again: some platforms deliver no signal meanwhile.
_LOOK_AGAIN_S: Final = 0.25


class AwaitedRun(DeferringRun):
    """A run that application threads can wait for.

    Args:
        schedule, loop, clock: as for `LockedRun`.
        explain: returns in words why the run does not go on, for waits that expire.
    """

    def __init__(
        self,
        schedule: Schedule,
        loop: LazyLoop,
        explain: Callable[[Any], str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(schedule, loop, clock)
        #: What the executors have lent, one for each queue, in the order of the queues.
        self.leases: Final[list[ExecutorLease]] = []
        #: Whether nodes run inside the application's waits. In most runs none do, and waits do not look.
        self._has_helpers = False
        self._explain: Final = explain

    def story(self) -> str:
        """Return in words why the run does not go on."""
        return self._explain(self)

    def refuse_inside(self, what: str, *, awaits: bool = False) -> None:
        """Raise an error if a blocking call comes from inside this run, which would wait for itself.

        Args:
            what: the call, for the message.
            awaits: whether the call only awaits: tasks of an event loop may do so, except this run's own.

        Raises:
            FailedPreconditionError: the thread is in a step, an observer or the loop of this run.
        """
        ident = get_ident()
        in_loop = self.loop.is_inside() if awaits else ident == self.loop.thread_id
        if ident in self.inside or in_loop:
            raise FailedPreconditionError(
                f"{what} was called from inside this graph's own step, observer or event loop, and would "
                "wait for itself; call it from the application's thread, or add with ADD_IF_NOT_FULL"
            )

    def refuse_helpers(self, what: str) -> None:
        """Raise an error if nodes run inside the application's waits: while a task awaits, none would run.

        Raises:
            FailedPreconditionError: there are such nodes; names their executor.
        """
        for lease, work in zip(self.leases, self.works, strict=True):
            if lease.helps:
                raise FailedPreconditionError(
                    f"{what} cannot be awaited: {work.queue.executor_name()} runs nodes on the application's "
                    "own thread, inside calls that block; use calls that block, or an executor with threads"
                )

    def wait_for_room(self, has_room: Callable[[], bool], what: str, timeout: float | None = None) -> None:
        """Wait until a throttled graph input takes packets again; raises as `wait`."""
        self.adders += 1
        try:
            self.wait(has_room, timeout, what)
        finally:
            self.adders -= 1

    def wait(
        self,
        done: Callable[[], bool],
        timeout: float | None,
        what: str,
        *,
        is_for_idle: bool = False,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Block until `done()` (asked under the lock), helping executors that ask for it.

        Args:
            done: whether to wait no longer.
            timeout: seconds; None for no limit.
            what: what the call waits for, for the message.
            is_for_idle: whether the wait ends with the last step, so that an early wake-up saves time.
            clock: what measures the timeout; None for the application's clock.

        Raises:
            WaitTimeoutError: `timeout` seconds have passed; says what the run waits for.
            FailedPreconditionError: called from inside the run, or by a destructor in the middle of a change.
            KeyboardInterrupt: Ctrl-C; a note says what the run waits for. The run goes on.
        """
        self.refuse_inside(what)
        if self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  # as threading.Condition asks
            self.refuse_destructor()
        now = clock or self.now
        deadline = None if timeout is None else now() + timeout
        try:
            while True:
                helped = (self._has_helpers or bool(self.stranded)) and self._help()
                left = None if deadline is None else deadline - now()
                if self._wait_once(done, left, sleep=not helped, early=is_for_idle):
                    return
                is_for_idle = False  # only the first sleep asks for an early wake-up
                self.give_up_late()
                if deadline is not None and now() >= deadline:
                    raise WaitTimeoutError(f"{what} took longer than {timeout} s\n{self.story()}")
        except KeyboardInterrupt as interrupt:
            self.unlock_interrupted()
            interrupt.add_note(f"interrupted while waiting: {what}\n{self.story()}")
            raise interrupt.with_traceback(None) from None  # not the inside of `threading`

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
        """Run what is ready on executors that run nodes inside waits; return whether anything was."""
        helped = [lease.help() for lease in self.leases if lease.helps]
        helped.extend([work.run() for work in list(self.stranded)])
        return any(helped)

    def _could_help(self) -> bool:
        """Return whether anything is ready on an executor that runs nodes inside waits."""
        schedule = self.schedule
        return any(
            (lease.helps or work in self.stranded)
            and (schedule.deliveries or (work.queue and schedule.state == RUNNING))
            for lease, work in zip(self.leases, self.works, strict=True)
        )
