"""Calls of calculators in a row, each of which may return something to be awaited."""

from __future__ import annotations

import inspect
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from penstock import STOP
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable


def run_through(calls: Generator[Any, Any, Any]) -> Any:
    """Run a generator that yields what calls have returned, and gets back what became of it.

    Returns:
        What the generator returns; or, where a call returned an awaitable or a future, a coroutine that waits
        for it, goes on, and returns that.
    """
    try:
        outcome = next(calls)
        while outcome is None or outcome is STOP:
            outcome = calls.send(outcome)
    except StopIteration as end:
        return end.value
    return _run_on(calls, outcome)


async def _run_on(calls: Generator[Any, Any, Any], outcome: Any) -> Any:
    try:
        while True:
            if outcome is None or outcome is STOP:
                outcome = calls.send(outcome)
                continue
            try:
                result = await finished(outcome)
            except BaseException as error:  # noqa: BLE001  # the generator decides
                outcome = calls.throw(error)
            else:
                outcome = calls.send(result)
    except StopIteration as end:
        last = end.value
    return await finished(last) if is_later(last) else last


def is_later(outcome: object) -> bool:
    """Return whether what a call returned is to be waited for."""
    return isinstance(outcome, Future) or inspect.isawaitable(outcome)


def later(outcome: Any, what: str) -> Any:
    """Return what `options_changed`, `open` or `close` returned, if it is one that a generator may yield.

    Raises:
        InvalidArgumentError: it is neither None nor an awaitable or a future; names `what` was called.
    """
    if outcome is None or is_later(outcome):
        return outcome
    raise InvalidArgumentError(
        f"{what}() returned {outcome!r}; it must return None, an awaitable or a concurrent.futures.Future"
    )


async def finished(outcome: Any) -> Any:
    """Wait for an awaitable or a future, and return its result."""
    if isinstance(outcome, Future):
        import asyncio  # there is an event loop, so it is loaded

        return await asyncio.wrap_future(outcome)
    return await outcome


def all_of(calls: Iterable[Callable[[], Any]]) -> Generator[Any, Any, None]:
    """Make several calls, each one even if one before it has raised; yields what they return.

    Raises:
        BaseException: the first that a call raised, with the others as notes.
    """
    first: BaseException | None = None
    for call in calls:
        try:
            yield call()
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001  # the others come first
            if first is None:
                first = error
            else:
                first.add_note(f"{type(error).__name__}: {error}")
    if first is not None:
        raise first
