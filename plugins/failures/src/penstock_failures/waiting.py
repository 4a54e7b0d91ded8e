"""What a guarded node waits for on the graph's event loop: the end of a pause, of a renewal, of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

#: Method of a calculator → the field of the policy that limits how long a call of it may take.
LIMITS: Final = {"process": "timeout_ms", "open": "open_timeout_ms", "close": "close_timeout_ms"}
#: How often a process that is starting is asked whether it has begun.
_LOOK_S: Final = 0.05


class Resume(Exception):  # noqa: N818  # no error: it asks for the step to be called again
    """Ends a wait: the guard then lets the engine call the step again, on the node's executor."""


class _Around(Coroutine[Any, Any, Any]):
    """A coroutine around another one. Closing it closes both, whichever of them has begun."""

    def __init__(self, outer: Coroutine[Any, Any, Any], inner: object = None) -> None:
        self._outer: Final = outer
        self._inner: Final = inner

    def send(self, value: Any) -> Any:
        return self._outer.send(value)

    def throw(self, *error: Any) -> Any:
        return self._outer.throw(*error)

    def close(self) -> None:
        self._outer.close()
        if isinstance(self._inner, Coroutine):
            self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # an iterator with `send`, `throw` and `close` is enough

    def __iter__(self) -> _Around:
        return self

    def __next__(self) -> Any:
        return self._outer.send(None)


class Standing(_Around):
    """A wait that says in words what it waits for; `graph.why()` repeats them."""

    def __init__(
        self, outer: Coroutine[Any, Any, Any], words: Callable[[], str], inner: object = None
    ) -> None:
        super().__init__(outer, inner)
        self._words: Final = words

    def standing(self) -> str:
        """Return the words."""
        return self._words()


class Followed(_Around):
    """What follows a coroutine of a calculator; `graph.why()` looks at the latter."""

    @property
    def cr_frame(self) -> object:
        """The frame of the calculator's coroutine."""
        return getattr(self._inner, "cr_frame", None)

    @property
    def cr_await(self) -> object:
        """What it awaits."""
        return getattr(self._inner, "cr_await", None)


async def rest(seconds: float) -> None:
    """Wait, and raise `Resume`."""
    await asyncio.sleep(seconds)
    raise Resume


class Gate:
    """Calls that wait until another one has renewed the calculator. Its user holds a lock around `add`."""

    def __init__(self) -> None:
        self._waiting: list[Coroutine[Any, Any, Any]] = []
        self._events: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._round = 0

    def wait(self) -> Coroutine[Any, Any, None]:
        """Return a coroutine that ends with `Resume` after the next `open`."""
        return self._wait(self._round)

    def open(self) -> None:
        """Let all go on that wait. May be called from any thread; calls none of them."""
        self._round += 1
        events, self._events = self._events, []
        for loop, event in events:
            with suppress(RuntimeError):  # the loop is closed, and the wait was cancelled
                loop.call_soon_threadsafe(event.set)

    async def _wait(self, number: int) -> None:
        event = asyncio.Event()
        self._events.append((asyncio.get_running_loop(), event))
        if self._round == number:  # asked after `append`: what opens from now on finds the event
            await event.wait()
        raise Resume


async def in_time(call: Awaitable[Any] | Future[Any], seconds: float, method: str) -> Any:
    """Return what a call returns, if it ends in time; else cancel it, wait for its end, and raise.

    Args:
        call: the coroutine or future of the call.
        seconds: how long it may take; 0: as long as it likes.
        method: "open", "process" or "close", for the error.

    Raises:
        TimeoutError: it took longer.
    """
    if not seconds:
        return await (asyncio.wrap_future(call) if isinstance(call, Future) else call)
    if not isinstance(call, Future):
        try:
            async with asyncio.timeout(seconds) as limit:
                return await call
        except TimeoutError:
            if limit.expired():
                raise _too_long(seconds, method) from None
            raise
    return await _future_in_time(call, seconds, method)


async def _future_in_time(future: Future[Any], seconds: float, method: str) -> Any:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed, and this wait was cancelled
            loop.call_soon_threadsafe(ended.set)

    future.add_done_callback(tell)
    try:
        while _is_starting(future):  # which has a limit of its own
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await ended.wait()
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        future.cancel()
        await ended.wait()  # the executor kills the process of a call that goes on
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or error is not None:
            late = _too_long(seconds, method)
            late.calculator_is_lost = getattr(error, "calculator_is_lost", False)  # type: ignore[attr-defined]  # as Executor.place says
            raise late from error
    except asyncio.CancelledError:
        future.cancel()
        await ended.wait()
        raise
    return future.result()


def _is_starting(future: Future[Any]) -> bool:
    """Return whether the process in which a call is to be done has not begun to take calls yet."""
    starting: Callable[[], bool] = getattr(future, "is_starting", lambda: False)
    return not future.done() and starting()


def _too_long(seconds: float, method: str) -> TimeoutError:
    field = LIMITS[method]
    return TimeoutError(
        f"{method}() took longer than its {field}, {seconds * 1000:g}, for which the failure policy waits"
    )
