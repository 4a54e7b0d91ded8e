"""Tasks on an event loop, and how they end. Importing this imports asyncio, which costs 30 ms."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable


class Ended:
    """An exception that a coroutine raised, hidden from asyncio as a result."""

    def __init__(self, error: BaseException) -> None:
        self.error: Final = error


class TaskFuture(concurrent.futures.Future[Any]):
    """The outcome of a task. `cancel` only asks: a task that still cleans up does not count as ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop: Final = loop
        #: None until the loop has begun it.
        self.task: asyncio.Task[Any] | None = None
        #: What the task awaits; None until the loop has begun it, and when it has ended.
        self.awaited: Awaitable[Any] | None = None
        self._is_cancel_requested = False
        self.set_running_or_notify_cancel()

    def begin(self, coroutine: Coroutine[Any, Any, Any], awaited: Awaitable[Any]) -> None:
        """Make the task; called on the loop. A coroutine that was cancelled before that never begins."""
        if self._is_cancel_requested:
            coroutine.close()
            if isinstance(awaited, Coroutine):
                awaited.close()
            self.set_exception(concurrent.futures.CancelledError())
            return
        self.task = self._loop.create_task(coroutine)
        self.task.add_done_callback(self._ended)
        self.awaited = awaited

    def cancel(self) -> bool:
        """Ask the task to end. Returns True; the future is done when the task is."""
        self._is_cancel_requested = True
        if self.task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.task.cancel)
        return True

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.awaited = None
        if task.cancelled():
            self.set_exception(concurrent.futures.CancelledError())
            return
        error = task.exception()
        if error is None and isinstance(task.result(), Ended):
            error = task.result().error
        if error is None:
            self.set_result(task.result())
        else:
            self.set_exception(error)


async def wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all other tasks, wait until they have ended, and stop the loop."""
    others = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    loop.stop()
