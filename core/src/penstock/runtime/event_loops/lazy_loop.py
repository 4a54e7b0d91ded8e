"""One event loop thread for a graph's coroutines. It runs nothing else.

The thread starts with the first coroutine of a run and ends with the run. An application can lend a
loop of its own instead, which must be running in another thread than the one that waits for the graph.
asyncio costs 30 ms to import, so it is imported with the first coroutine.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from contextvars import ContextVar
from types import CoroutineType, FunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import FailedPreconditionError, UnavailableError

if TYPE_CHECKING:
    import asyncio
    import concurrent.futures
    from collections.abc import Awaitable, Coroutine

    from penstock.engine.schedule import Schedule

#: A flag of code, as `inspect` knows it.
_CO_COROUTINE: Final = 0x80
#: The `LazyLoop` that a coroutine runs on. The thread does not tell: it may be the application's.
_INSIDE: Final[ContextVar[LazyLoop | None]] = ContextVar("penstock_inside", default=None)


class LazyLoop:
    """Runs awaitables on one event loop, which is made with the first of them.

    Args:
        name: of the thread.
        loop: the application's own loop, which must be running; None to make one.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._name: Final = name
        self._given: Final = loop
        #: A destructor may stop the run on the thread that makes the loop.
        self._lock: Final = threading.RLock()
        self._is_stopped = False
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
            FailedPreconditionError: the application's loop is not running; or `stop` was called, as by a run
                that was given up while the call of this thread was under way.
            UnavailableError: no loop can be made: the process has no descriptor or no thread left.
        """
        try:
            tasks = _tasks()
            loop = self._running_loop()
        except (OSError, RuntimeError) as error:
            if isinstance(awaitable, CoroutineType):
                awaitable.close()
            raise UnavailableError(
                f"no event loop can be made for the graph's coroutines: {error}; look at the limits of the "
                "process, and at what holds its files and threads"
            ) from error
        if loop is None:
            if isinstance(awaitable, CoroutineType):
                awaitable.close()
            raise FailedPreconditionError("the run is over, and so is its event loop")
        if self._given is not None and not loop.is_running():
            if isinstance(awaitable, CoroutineType):
                awaitable.close()
            raise FailedPreconditionError(
                "the event loop given with set_event_loop is not running; run it in another thread until the "
                "graph is done"
            )
        task = tasks.TaskFuture(loop)
        loop.call_soon_threadsafe(task.begin, self._finish(awaitable), awaitable)
        future: concurrent.futures.Future[Any] = task
        return future

    async def _finish(self, awaitable: Awaitable[Any]) -> Any:
        self._ident = threading.get_ident()
        _INSIDE.set(self)  # for this task alone
        try:
            return await awaitable
        except (KeyboardInterrupt, SystemExit) as error:
            return _tasks().Ended(error)  # if raised, asyncio would end the loop

    def run_alone(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine to its end on the calling thread, when the loop has stopped."""
        _tasks().asyncio.run(coroutine)

    def _running_loop(self) -> asyncio.AbstractEventLoop | None:
        """Return the loop, made where there is none yet; None after `stop`: nothing would end a new one."""
        if self._given is not None:
            return self._given
        with self._lock:
            if self._is_stopped:
                return None
            if self._loop is None:
                loop: asyncio.AbstractEventLoop = _tasks().asyncio.new_event_loop()
                thread = threading.Thread(target=self._serve, args=(loop,), name=self._name, daemon=True)
                try:
                    thread.start()
                except BaseException:
                    loop.close()
                    raise
                self._loop, self._thread = loop, thread
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio = _tasks().asyncio
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            asyncio.set_event_loop(None)
            loop.close()

    def stop(self, timeout: float | None = None) -> bool:
        """Cancel the coroutines that still run and end the loop's own thread; return whether it has ended."""
        with self._lock:
            self._is_stopped = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        if thread.is_alive():
            with suppress(RuntimeError):  # the loop is closed: the thread is about to end
                loop.call_soon_threadsafe(_wind_up, loop)
            thread.join(timeout)
        return not thread.is_alive()

    def forget_after_fork(self) -> None:
        """Leave the loop to the parent, in a forked child: the thread is not there."""
        self._thread = self._ident = None


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    loop.create_task(_tasks().wind_up(loop))  # the loop runs until this task stops it, and so keeps it


def import_for(schedule: Schedule) -> None:
    """Import what coroutines need if a calculator of this run has any; before the run's threads begin."""
    for kind in {type(node.calculator) for node in schedule.nodes}:
        if any(map(_is_coroutine, (kind.process, kind.open, kind.close))):
            _tasks()
            return


def _is_coroutine(method: object) -> bool:
    if type(method) is MethodDescriptorType:  # of the compiled engine
        return False
    if type(method) is FunctionType and not vars(method):  # without a mark, and not wrapped
        return bool(method.__code__.co_flags & _CO_COROUTINE)
    import inspect  # most methods are plain functions

    return inspect.iscoroutinefunction(method)


def _tasks() -> Any:
    """Return the module `tasks`, imported on a thread of its own.

    An interrupt reaches the main thread only. If it broke the import of asyncio off, no coroutine could run
    in this process any more.
    """
    name = "penstock.runtime.event_loops.task_futures"
    if name not in sys.modules:
        importing = threading.Thread(target=__import__, args=(name,), name="penstock-import", daemon=True)
        importing.start()
        importing.join()
    from penstock.runtime.event_loops import task_futures as tasks

    return tasks
