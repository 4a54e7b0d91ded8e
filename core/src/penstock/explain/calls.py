"""Where the calls under way are: in which file, at which line, on which thread.

Two halves. `calls_under_way` reads the engine under the run's lock; `standing_calls` then looks at the stacks
of the run's threads, without it, and runs no code of users. A call that has come back meanwhile is
simply not found. Invariants: no frame is kept, since it would keep a calculator's locals alive; and no frame
is read that another thread may change meanwhile, which can end the process, so that less is seen without the
interpreter's lock.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.engine.methods import METHODS, PROCESS
from penstock.timestamp import show

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from types import CodeType, FrameType

    from penstock.engine.invoker import Invoker
    from penstock.engine.node import Node
    from penstock.engine.schedule import Schedule
    from penstock.engine.step import Step


#: Name in a module whose calculators call functions of the application, as `penstock.functions` makes them.
_CALLS_FUNCTIONS: Final = "__penstock_calls_functions__"
#: The arguments of a method that identify its call: `self` and the context.
_ARGUMENTS: Final = 2


@attrs.frozen
class Call:
    """One call of a calculator that has not come back, and where it stands."""

    #: Name of the node.
    node: str
    #: "open", "process" or "close".
    method: str
    #: The timestamp of the input, as a user reads it; "" for sources, `open` and `close`.
    timestamp: str
    #: Name of the thread that it is on; "" for calls that await or run elsewhere.
    thread: str = ""
    #: `file`, `line`, `function`: where the calculator's own code stands. "", 0 and "" where that cannot be
    #: seen: compiled code, a `Future` that the calculator returned, a call that just came back, and without
    #: the interpreter's lock also coroutines and, on Python 3.13, all other threads.
    file: str = ""
    line: int = 0
    function: str = ""
    #: `"file:line in function"` of what it has called or awaits, innermost; "" for nothing else.
    inside: str = ""
    #: In words, where a call is that has left this process, and since when; else "".
    elsewhere: str = ""

    def __str__(self) -> str:
        at = f" at {self.timestamp}" if self.timestamp else ""
        if self.elsewhere:
            return f"node {self.node!r}: {self.method}(){at} is {self.elsewhere}"
        if not self.file:
            return f"node {self.node!r}: where {self.method}(){at} stands cannot be seen"
        inside = f", inside {self.inside}" if self.inside else ""
        return (
            f"node {self.node!r}: {self.method}(){at} stands at {self.file}:{self.line} "
            f"in {self.function}{inside}"
        )


@attrs.frozen(eq=False)
class UnderWay:
    """A call as the engine knows it."""

    step: Step
    calculator: Invoker
    call: Call


def calls_under_way(schedule: Schedule) -> list[UnderWay]:
    """Return the calls that have not come back, in the order of the nodes. Call it with the lock held."""
    return [_under_way(node, step) for node in schedule.nodes for step in _steps(node)]


def _steps(node: Node) -> Iterator[Step]:
    if node.step.is_running:
        yield node.step
    for step in node.in_order or ():
        if step.is_running and not step.is_done and step is not node.step:
            yield step


def _under_way(node: Node, step: Step) -> UnderWay:
    method = METHODS[step.method]
    stamp = show(step.stamp) if step.method == PROCESS and node.inputs else ""
    return UnderWay(step, node.calculator, Call(node.name, method, stamp))


def standing_calls(
    calls: Collection[UnderWay], threads: Collection[int], awaited: Mapping[Step, object]
) -> tuple[Call, ...]:
    """Return where the calls stand, in their order. Call it without the lock.

    Args:
        calls: from `calls_under_way`.
        threads: idents of the run's threads.
        awaited: steps that complete later → the coroutine or future that does.
    """
    if not calls:
        return ()
    found = {step: _suspended(waited_for) for step, waited_for in awaited.items()}
    on_threads = _on_threads(calls, threads)
    return tuple(
        attrs.evolve(one.call, **(found.get(one.step) or on_threads.get(one.step) or {})) for one in calls
    )


# --- on threads -----------------------------------------------------------------------------------


def _on_threads(calls: Collection[UnderWay], threads: Collection[int]) -> dict[Step, dict[str, Any]]:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    by_code: dict[CodeType, list[UnderWay]] = {}
    for one in calls:
        method = getattr(type(one.calculator), one.call.method, None)
        code = getattr(method, "__code__", None)
        if code is not None:  # compiled methods have none
            by_code.setdefault(code, []).append(one)
    found: dict[Step, dict[str, Any]] = {}
    own = threading.get_ident()
    # This very call is among them. Nothing here keeps it: it would be a circle, and with it what its
    # callers hold, a run among others, would live until garbage is collected.
    frames = _stacks()
    try:
        for ident in threads:
            place = _on_thread(frames.pop(ident, None), by_code, with_locals=ident == own or has_lock())
            if place is not None:
                found[place[0]] = {"thread": names.get(ident, ""), **place[1]}
    finally:
        frames.clear()
    return found


def has_lock() -> bool:
    """Return whether the interpreter has its lock, so that no other thread runs while its frames are read."""
    is_on: bool = getattr(sys, "_is_gil_enabled", lambda: True)()  # from Python 3.13 on
    return is_on


def _stacks() -> dict[int, FrameType]:
    """Return the innermost frames of the threads whose stacks can be read.

    Without the lock, Python 3.13 crashes when a frame is read whose thread runs: gh-152355. From 3.14 on the
    frames have locks of their own, for all but the local variables: gh-128421.
    """
    if has_lock() or sys.version_info >= (3, 14):
        return sys._current_frames()  # noqa: SLF001  # documented, for this very use
    return {threading.get_ident(): sys._getframe(1)}  # noqa: SLF001


def _on_thread(
    innermost: FrameType | None, by_code: Mapping[CodeType, Sequence[UnderWay]], *, with_locals: bool
) -> tuple[Step, dict[str, Any]] | None:
    stack = list(_outwards(innermost))
    for depth, frame in enumerate(stack):
        step = _step_of(frame, by_code.get(frame.f_code, ()), with_locals=with_locals)
        if step is not None:
            return step, _place(stack[: depth + 1])
    return None


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _step_of(frame: FrameType, alike: Sequence[UnderWay], *, with_locals: bool) -> Step | None:
    """Return which of the calls with the same code a frame is of: its arguments identify it among several."""
    if len(alike) <= 1:
        return alike[0].step if alike else None
    if not with_locals:
        return None
    # Looked at only here: before 3.13 it makes the frame keep its locals until it returns.
    arguments = [frame.f_locals.get(name) for name in frame.f_code.co_varnames[:_ARGUMENTS]]
    for one in alike:
        if any(argument is one.step for argument in arguments):
            return one.step
    return None


def _place(stack: list[FrameType]) -> dict[str, Any]:
    """Return where a call stands: its frames, innermost first, the method's own last.

    The calculator's own code is the innermost frame of the module that the method is in. A calculator
    made from a function has its method in a module with the mark `_CALLS_FUNCTIONS`: then it is the
    outermost frame that is not of that module.
    """
    method = stack[-1]
    home = method.f_globals.get("__name__")
    if _CALLS_FUNCTIONS in method.f_globals:
        own = next((frame for frame in reversed(stack) if frame.f_globals.get("__name__") != home), method)
        home = own.f_globals.get("__name__")
    own = next((frame for frame in stack if frame.f_globals.get("__name__") == home), method)
    inside = "" if stack[0] is own else "{file}:{line} in {function}".format(**_fields(stack[0]))
    return {**_fields(own), "inside": inside}


def _fields(frame: FrameType) -> dict[str, Any]:
    code = frame.f_code
    # the line is None between two of them
    return {"file": code.co_filename, "line": frame.f_lineno or code.co_firstlineno, "function": code.co_name}


# --- in coroutines --------------------------------------------------------------------------------


def _suspended(coroutine: object) -> dict[str, Any]:
    """Return where a coroutine that awaits something stands; nothing for one that runs or has ended.

    A future may have a method `standing`, which says in words where its call is, outside of this process.
    """
    standing_words = getattr(coroutine, "standing", None)
    if standing_words is not None:
        return {"elsewhere": standing_words()}
    if not has_lock():  # its loop may go on with it at any moment: gh-120321, gh-144446
        return {}
    frames = []
    at: Any = coroutine
    while (frame := getattr(at, "cr_frame", None)) is not None:
        frames.append(frame)
        at = at.cr_await
    if not frames or getattr(coroutine, "cr_running", False):
        return {}
    return _place(list(reversed(frames)))
