"""Waiting for a run on an event loop, without blocking the loop and without a thread for each task.

The run's news ring a bell on the loop. The waiting task then looks again, under the run's lock, which no
thread holds for long. A wait that is cancelled ends at once and cleans up.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import FailedPreconditionError, WaitTimeoutError
from penstock.runtime.threads import start

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.runtime.runner.runner import Runner

#: How long a wait sleeps at most before it looks again, as threads do: a clock may be moved by hand.
_LOOK_AGAIN_S: Final = 0.25


async def wait(
    runner: Runner,
    done: Callable[[], bool],
    timeout: float | None,  # noqa: ASYNC109  # its error tells why
    what: str,
    *,
    adds: bool = False,
) -> None:
    """Wait until `done()`, which is asked under the run's lock; as `Runner.wait`, for event loops.

    `adds` says that the task waits for room in a graph input.

    Raises:
        WaitTimeoutError: as `Runner.wait`.
        FailedPreconditionError: as `refuse`.
    """
    refuse(runner, what)
    deadline = None if timeout is None else runner.now() + timeout
    bell = _Bell(asyncio.get_running_loop())
    while True:
        with runner.lock:
            if done():
                return
            bell.hang(runner, adds=adds)
        try:
            left = None if deadline is None else deadline - runner.now()
            await bell.rings(_LOOK_AGAIN_S if left is None else max(0.0, min(left, _LOOK_AGAIN_S)))
        finally:
            with runner.lock:
                bell.take_down(runner, adds=adds)
        runner.give_up_late()
        if deadline is not None and runner.now() >= deadline and not runner.ask(lambda _: done()):
            raise WaitTimeoutError(f"{what} took longer than {timeout} s\n{runner.story()}")


def refuse(runner: Runner, what: str) -> None:
    """Raise FailedPreconditionError if an asynchronous wait could never end.

    That is in a step, an observer or a coroutine of this run; and where nodes run inside the application's
    waits, since an event loop must not run them.
    """
    runner.refuse_inside(what, awaits=True)
    runner.refuse_helpers(what)


class _Bell:
    """Wakes one task on an event loop when a run has news."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop: Final = loop
        self._rung: asyncio.Future[None] = loop.create_future()
        self._is_ringing = False

    def hang(self, runner: Runner, *, adds: bool) -> None:
        """Listen to the run's news from now on. Called with the lock held."""
        self._rung = self._loop.create_future()
        self._is_ringing = False
        runner.waiters += 1
        runner.adders += adds
        runner.changed.listeners.append(self._news)

    def take_down(self, runner: Runner, *, adds: bool) -> None:
        """Stop listening. Called with the lock held."""
        runner.waiters -= 1
        runner.adders -= adds
        runner.changed.listeners.remove(self._news)

    def _news(self) -> None:
        if self._is_ringing:
            return
        self._is_ringing = True
        with contextlib.suppress(RuntimeError):  # the loop was closed while the task waited
            self._loop.call_soon_threadsafe(_settle, self._rung, self._rung.set_result, None)

    async def rings(self, seconds: float) -> None:
        """Wait until the bell has rung, at most `seconds`."""
        timer = self._loop.call_later(seconds, _settle, self._rung, self._rung.set_result, None)
        try:
            await self._rung
        finally:
            timer.cancel()


def _settle(future: asyncio.Future[Any], set_outcome: Callable[[Any], None], outcome: object) -> None:
    """Call `set_result` or `set_exception` of a future, unless the task has stopped waiting for it."""
    if not future.done():
        set_outcome(outcome)


async def in_thread(call: Callable[[], Any]) -> Any:
    """Run a call that blocks on a thread of its own; return what it returns, or raise what it raises.

    If the task is cancelled meanwhile, the call goes on to its end; the canceller must allow for that.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def end(set_outcome: Callable[[Any], None], outcome: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: no task awaits any more
            loop.call_soon_threadsafe(_settle, future, set_outcome, outcome)

    def serve() -> None:
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001  # the awaiting task raises it
            end(future.set_exception, error)
        else:
            end(future.set_result, result)

    thread = threading.Thread(target=serve, name="penstock-await", daemon=True)
    start(thread, "that waits for the graph")
    try:
        return await future
    finally:
        if future.done() and not future.cancelled():
            thread.join()  # the thread has nothing left to do


def refuse_without_loop(what: str) -> None:
    """Raise FailedPreconditionError, which names `what`, if no event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise FailedPreconditionError(f"{what} needs a running event loop; use it in a coroutine") from None
