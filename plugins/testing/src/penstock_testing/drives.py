"""One run of a conformance test: a feed brought to a `ScheduleHarness` in some order, to its end.

The run is on a thread of its own, so that a calculator which never returns is reported and not waited
for. All calls of the harness are kept as lines that repeat them.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import traceback
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from penstock.runs import RUNNING
from penstock_testing.feeds import BOUND, END, PACKET

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from penstock import Calculator
    from penstock.errors import PenstockError
    from penstock_testing.feeds import Event
    from penstock_testing.schedules import ScheduleHarness

#: Steps that sources get before they are closed, and steps after which a run counts as hanging.
_SOURCE_STEPS: Final = 200
_MAX_STEPS: Final = 20_000
#: Steps between two events; often none, so that events come in bunches.
_PAUSES: Final = (0, 0, 1, 2, 8)
#: Seconds to wait for a Future that a calculator returns.
_PATIENCE_S: Final = 30.0


@attrs.define(eq=False)
class Run:
    """One run, and its result."""

    #: Stepped to its end, or to the failure.
    harness: ScheduleHarness
    #: Seed of the order; None for that of one thread.
    order: int | None
    #: The calculator's methods as they were called, each with whether it returned.
    calls: list[tuple[str, bool]]
    #: Output → its header, then timestamp and payload of each packet.
    seen: Mapping[str, list[tuple[Any, Any]]]
    #: Input → payload of its stream's header.
    headers: Mapping[str, object] = attrs.field(factory=dict)
    #: The calls of the harness, to paste.
    lines: list[str] = attrs.field(init=False)
    #: Whether sources or inputs ended before their time, so that outputs may be shorter.
    is_cut: bool = False
    #: Whether the run was cancelled before its end.
    is_cancelled: bool = False
    #: Packets that went in.
    fed: int = 0
    #: Whether calls of the calculator may overlap.
    overlaps: bool = False

    def __attrs_post_init__(self) -> None:
        self.lines = [f"harness.start({self.headers!r})" if self.headers else "harness.start()"]

    @property
    def error(self) -> PenstockError | None:
        """The first error of the run."""
        return self.harness.errors[0] if self.harness.errors else None

    @property
    def did_open(self) -> bool:
        """Whether the calculator's `open` returned."""
        return ("open", True) in self.calls


class Drive:
    """Brings a feed to a run's harness.

    Without `order` it does so by time, and lets the graph become idle after each timestamp, as an
    application with one thread would. With it the inputs take turns in any order, and the graph
    gets any number of steps between two events.
    """

    def __init__(
        self, run: Run, feed: Mapping[str, list[Event]], order: random.Random | None, *, cancels: bool
    ) -> None:
        self._run: Final = run
        self._harness: Final = run.harness
        self._order: Final = order
        self._left: Final = {stream: deque(events) for stream, events in feed.items()}
        total = sum(map(len, feed.values())) + 1
        self._cancel_after: Final = order.randrange(total) if order is not None and cancels else None

    def to_the_end(self) -> None:
        """Feed all events, close the inputs, and take all steps.

        Raises:
            InternalError: an invariant of the engine is broken, or there is no end of steps.
        """
        self._harness.start(self._run.headers)
        done = 0
        while any(self._left.values()):
            if done == self._cancel_after:
                break
            self._one_event()
            done += 1
        if self._cancel_after is not None and self._order is not None:
            self._steps(self._order.choice(_PAUSES))
        if self._cancel_after is not None and self._is_running():
            self._note("harness.cancel()")
            self._run.is_cancelled = True
            self._harness.cancel()
        self._end()

    def _one_event(self) -> None:
        if self._order is None:
            streams = [name for name, events in self._left.items() if events]
            stream = min(streams, key=lambda name: self._left[name][0].at)
        else:
            stream = self._order.choice([name for name, events in self._left.items() if events])
        event = self._left[stream].popleft()
        if not self._is_running() or self._harness.stream(stream).is_closed:
            # STOP, or an error, has closed the graph inputs; later events are lost
            self._run.is_cut = True
            return
        self._note(event.call(stream))
        if event.kind == PACKET:
            self._run.fed += 1
            self._harness.add(stream, event.payload, event.at)
        elif event.kind == BOUND:
            self._harness.set_bound(stream, event.at)
        elif event.kind == END:
            self._harness.close_input(stream)
        self._some_steps()

    def _some_steps(self) -> None:
        if self._order is None:
            later = min((events[0].at for events in self._left.values() if events), default=None)
            if later is not None:
                self._steps(_SOURCE_STEPS)
            return
        self._steps(self._order.choice(_PAUSES))
        waiting = self._harness.schedule.waiting()
        if waiting and self._order.randrange(4) == 0:
            name = self._harness.schedule.nodes[self._order.choice(sorted(waiting))].name
            self._note(f"harness.time_out({name!r})")
            self._harness.time_out(name)

    def _steps(self, count: int) -> None:
        done = 0
        while done < count and self._harness.step():
            done += 1
        if done:
            self._note(f"for _ in range({done}): harness.step()" if done > 1 else "harness.step()")

    def _end(self) -> None:
        harness = self._harness
        self._note("harness.close_input()")
        harness.close_input()
        self._steps(_SOURCE_STEPS)
        if self._is_running() and any(node.is_source and node.is_active for node in harness.schedule.nodes):
            self._run.is_cut = True
            self._note("harness.close_sources()")
            harness.close_sources()
        self._note("harness.run()")
        harness.run(_MAX_STEPS)

    def _is_running(self) -> bool:
        return self._harness.schedule.state == RUNNING and not self._harness.errors

    def _note(self, line: str) -> None:
        self._run.lines.append(line)


def call_on_a_thread(function: Callable[[], None], timeout: float) -> str | None:
    """Call a function on a daemon thread; return None when it has returned, else where it hangs.

    Raises:
        Whatever the function raises.
    """
    raised: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001  # raised again on the caller's thread
            raised.append(error)

    thread = threading.Thread(target=call, name="conformance", daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        return _stack_of(thread)
    if raised:
        raise raised[0]
    return None


def _stack_of(thread: threading.Thread) -> str:
    """Return the innermost frames of a thread that runs, in words."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()  # from Python 3.13 on
    if not has_lock and sys.version_info < (3, 14):
        return "where is unknown: without its lock, Python 3.13 cannot read the stack of a thread (gh-152355)"
    frame = sys._current_frames().get(cast("int", thread.ident))  # noqa: SLF001  # there is no other way
    return "".join(traceback.format_stack(frame)[-4:]) if frame is not None else "between two frames"


def spied(calculator: type[Calculator], calls: list[tuple[str, bool]]) -> type[Calculator]:
    """Return a subclass that notes its calls, and waits for the awaitables and Futures of its methods."""
    base: Any = calculator

    class Spied(base):  # type: ignore[misc]  # a class is given
        def open(self, cc: Any) -> Any:
            return _noted("open", super().open, cc, calls)

        def process(self, cc: Any) -> Any:
            return _noted("process", super().process, cc, calls)

        def close(self, cc: Any) -> Any:
            return _noted("close", super().close, cc, calls)

    Spied.__name__, Spied.__qualname__ = calculator.__name__, calculator.__qualname__
    Spied.__module__, Spied.__doc__ = calculator.__module__, calculator.__doc__
    return cast("type[Calculator]", Spied)


def _noted(name: str, method: Callable[[Any], Any], cc: Any, calls: list[tuple[str, bool]]) -> Any:
    place = len(calls)
    calls.append((name, False))
    outcome = method(cc)
    if isinstance(outcome, Future):
        outcome = outcome.result(_PATIENCE_S)
    elif inspect.isawaitable(outcome):
        outcome = asyncio.run(_awaited(outcome))
    calls[place] = (name, True)
    return outcome


async def _awaited(outcome: Any) -> Any:
    return await outcome
