"""One event loop thread for a graph's coroutines. It runs nothing else.

The thread starts with the first coroutine of a run and ends with the run. An application can lend a
loop of its own instead, which must be running in another thread than the one that waits for the graph.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import FailedPreconditionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

#: The `CoroutineLoop` that a coroutine runs on. The thread does not tell: it may be the application's.
_INSIDE: Final[ContextVar[CoroutineLoop | None]] = ContextVar("penstock_inside", default=None)


class CoroutineLoop:
    """Runs awaitables on one event loop.

    Args:
        name: of the thread.
        loop: the application's own loop, which must be running; None to make one.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._name: Final = name
        self._given: Final = loop
        self._lock: Final = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ident: int | None = None

    @property
    def thread_id(self) -> int | None:
        """The ident of the loop's thread; None while no coroutine has run there."""
        return self._ident

    def is_inside(self) -> bool:
        """Return whether the caller is a coroutine that runs here, or a task that it has made."""
        return _INSIDE.get() is self

    def submit(self, awaitable: Awaitable[Any]) -> concurrent.futures.Future[Any]:
        """Run an awaitable on the loop; the future is done when the awaitable has ended, also if cancelled.

        Raises:
            FailedPreconditionError: the application's loop is not running.
        """
        loop = self._running_loop()
        if self._given is not None and not loop.is_running():
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            raise FailedPreconditionError(
                "the event loop given with set_event_loop is not running; run it in another thread until the "
                "graph is done"
            )
        future = _TaskFuture(loop)
        loop.call_soon_threadsafe(future.begin, self._finish(awaitable), awaitable)
        return future

    async def _finish(self, awaitable: Awaitable[Any]) -> Any:
        self._ident = threading.get_ident()
        _INSIDE.set(self)  # for this task alone
        try:
            return await awaitable
        except (KeyboardInterrupt, SystemExit) as error:
            return _Ended(error)  # if raised, asyncio would end the loop

    def run_alone(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine to its end on the calling thread, when the loop has stopped."""
        asyncio.run(coroutine)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._given is not None:
            return self._given
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
            return self._loop

    def _serve(self) -> None:
        loop = self._loop
        assert loop is not None  # set before the thread starts  # noqa: S101
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            asyncio.set_event_loop(None)
            loop.close()

    def stop(self, timeout: float | None = None) -> bool:
        """Cancel the coroutines that still run and end the loop's own thread; return whether it has ended."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        if thread.is_alive() and not loop.is_closed():
            loop.call_soon_threadsafe(loop.create_task, _wind_up(loop))
            thread.join(timeout)
        return not thread.is_alive()


class _Ended:
    """An exception that a coroutine raised, hidden from asyncio as a result."""

    def __init__(self, error: BaseException) -> None:
        self.error: Final = error


class _TaskFuture(concurrent.futures.Future[Any]):
    """The outcome of a task. `cancel` only asks: a task that still cleans up does not count as ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop: Final = loop
        #: None until the loop has begun it.
        self.task: asyncio.Task[Any] | None = None
        self._is_cancel_requested = False
        self.set_running_or_notify_cancel()

    def begin(self, coroutine: Coroutine[Any, Any, Any], awaited: Awaitable[Any]) -> None:
        """Make the task; called on the loop. A coroutine that was cancelled before that never begins."""
        if self._is_cancel_requested:
            coroutine.close()
            if inspect.iscoroutine(awaited):
                awaited.close()
            self.set_exception(concurrent.futures.CancelledError())
            return
        self.task = self._loop.create_task(coroutine)
        self.task.add_done_callback(self._ended)

    def cancel(self) -> bool:
        """Ask the task to end. Returns True; the future is done when the task is."""
        self._is_cancel_requested = True
        if self.task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.task.cancel)
        return True

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            self.set_exception(concurrent.futures.CancelledError())
            return
        error = task.exception()
        if error is None and isinstance(task.result(), _Ended):
            error = task.result().error
        if error is None:
            self.set_result(task.result())
        else:
            self.set_exception(error)


async def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all other tasks, wait until they have ended, and stop the loop."""
    others = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    loop.stop()
