"""One event loop thread for a graph's coroutines. It runs nothing else.

The thread starts with the first coroutine of a run and ends with the run. An application that has
a loop of its own can lend that instead; then the loop must be running in another thread than the
one that waits for the graph.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Awaitable


class CoroutineLoop:
    """Runs awaitables on one event loop.

    Args:
        name: of the thread.
        loop: the application's own loop, which must be running; None for one of ours.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._name: Final = name
        self._given: Final = loop
        self._lock: Final = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def thread_id(self) -> int | None:
        """The ident of the thread that is ours, or None."""
        thread = self._thread
        return None if thread is None else thread.ident

    def submit(self, awaitable: Awaitable[Any]) -> concurrent.futures.Future[Any]:
        """Run an awaitable on the loop; the future is done when it is."""
        return asyncio.run_coroutine_threadsafe(_finish(awaitable), self._running_loop())

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
        """End our thread, cancelling what it still runs; return whether it has ended."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        if thread.is_alive() and not loop.is_closed():
            loop.call_soon_threadsafe(loop.create_task, _wind_up(loop))
            thread.join(timeout)
        return not thread.is_alive()


async def _finish(awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401  # whatever the calculator returns
    return await awaitable


async def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all other tasks, wait until they have seen it, and stop the loop."""
    others = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    loop.stop()
