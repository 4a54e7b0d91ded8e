"""Calls of calculators in a row, each of which may return something to be awaited."""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock import STOP
from penstock.errors import FailedPreconditionError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from penstock.runs import Runner


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
        f"{what}() returned {outcome!r}; it must return None, an awaitable or a concurrent.futures.Future, "
        "which the change then awaits"
    )


async def finished(outcome: Any) -> Any:
    """Wait for an awaitable or a future, and return its result."""
    if isinstance(outcome, Future):
        import asyncio  # there is an event loop, so it is loaded

        return await asyncio.wrap_future(outcome)
    return await outcome


def run_alone(outcome: Any) -> Any:
    """Wait for an awaitable on this thread, on an event loop of its own, in a thread where one runs here."""
    answers: list[Any] = []
    thread = threading.Thread(target=partial(_run, outcome, answers), name="penstock-close")
    thread.start()
    thread.join()
    error, result = answers
    if error is not None:
        raise error
    return result


def _run(outcome: Any, answers: list[Any]) -> None:
    import asyncio  # few calculators are closed so

    try:
        result = asyncio.run(finished(outcome))
    except BaseException as error:  # noqa: BLE001  # raised by the thread that waits
        answers.extend((error, None))
    else:
        answers.extend((None, result))


#: Under this key the graph closes them.
def finish(runner: Runner, outcome: Any) -> None:
    """Wait, on this thread, for what runs on the graph's event loop, or on another one if that has ended.

    Raises:
        FailedPreconditionError: the run has ended, and has cancelled it.
    """
    if not is_later(outcome):
        return
    if runner.is_over:
        run_alone(outcome)
        return
    future = runner.loop.submit(outcome)
    try:
        future.result()  # no time-out: loading may take long, and the end of the run cancels it
    except CancelledError as error:
        raise FailedPreconditionError(
            "the awaited calls of the change were cancelled, since the run has ended"
        ) from error
    except BaseException:
        future.cancel()  # an interrupt of this thread; what has ended already stays
        raise


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
