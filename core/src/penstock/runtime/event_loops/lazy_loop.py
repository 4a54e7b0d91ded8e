"""A `CoroutineLoop` that is made with the first coroutine: asyncio costs 30 ms to import."""

from __future__ import annotations

import inspect
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio
    import concurrent.futures
    from collections.abc import Awaitable, Coroutine

    from penstock.engine.schedule import Schedule
    from penstock.runtime.event_loops.loop import CoroutineLoop


class LazyLoop:
    """Stands for the loop of a run, which it makes when it is needed; see `loop.CoroutineLoop`."""

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._name: Final = name
        self._given: Final = loop
        self._lock: Final = threading.Lock()
        self._made: CoroutineLoop | None = None

    @property
    def thread_id(self) -> int | None:
        """The ident of the loop's own thread, or None."""
        return None if self._made is None else self._made.thread_id

    def is_inside(self) -> bool:
        """Return whether the caller is a coroutine that runs here, or a task that it has made."""
        return self._made is not None and self._made.is_inside()

    def submit(self, awaitable: Awaitable[Any]) -> concurrent.futures.Future[Any]:
        """Run an awaitable on the loop; the future is done when it is."""
        with self._lock:
            if self._made is None:
                self._made = _loop_class()(self._name, self._given)
        return self._made.submit(awaitable)

    def run_alone(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine to its end on the calling thread, when the loop has stopped."""
        _loop_class()(self._name).run_alone(coroutine)

    def stop(self, timeout: float | None = None) -> bool:
        """End the loop's own thread; return whether it has ended."""
        return self._made is None or self._made.stop(timeout)


def import_for(schedule: Schedule) -> None:
    """Import what coroutines need if a calculator of this run has any; before the run's threads begin."""
    for kind in {type(node.calculator) for node in schedule.nodes}:
        if any(map(inspect.iscoroutinefunction, (kind.process, kind.open, kind.close))):
            _loop_class()
            return


def _loop_class() -> type[CoroutineLoop]:
    """Return `CoroutineLoop`, imported on a thread of its own.

    An interrupt reaches the main thread only. If it broke the import of asyncio off, no coroutine could run
    in this process any more.
    """
    name = "penstock.runtime.event_loops.loop"
    if name not in sys.modules:
        importing = threading.Thread(target=__import__, args=(name,), name="penstock-import", daemon=True)
        importing.start()
        importing.join()
    from penstock.runtime.event_loops.loop import CoroutineLoop

    return CoroutineLoop
