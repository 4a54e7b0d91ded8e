"""A node whose calculator changes in a run, and whose calls of `process` may overlap (`max_in_flight`).

The timestamp of a call decides which object gets it, so calls of both run side by side for a while. The
object that was replaced is closed when no call of it is under way and none can come: by the thread that ends
the last of its calls, or, where two of them end at once, with the next call.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from penstock import STOP
from penstock.errors import FailedPreconditionError
from penstock.lowlevel import CLOSE, UNSTARTED, show_method
from penstock.runs import OPENED
from penstock_steering.awaited_calls import is_later, run_through
from penstock_steering.steered_node import _INSIDE, SteeredNode, Version, call_as

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from penstock.lowlevel import LayerOptions, Node
    from penstock.runs import Runner, Schedule, Step
    from penstock_steering.wanted import Wanted


class OverlappingNode(SteeredNode):
    """As `SteeredNode`, for calls that may overlap. Its options change by a swap only."""

    def __init__(self, node: Node, wanted: Wanted, runner: Runner) -> None:
        super().__init__(node, wanted, runner)
        #: Versions before the present one whose calls may be under way, the oldest first.
        self._leaving: Final[list[Version]] = []
        self._first: Final = self._now
        #: Calls, with their timestamps, that had begun before this object stood between.
        self._direct: tuple[tuple[Step, int], ...] = ()

    @property
    def options(self) -> LayerOptions:
        """The options of the version whose call runs; on a thread of its own, of the last one."""
        version = _INSIDE.get()
        if version is None or version.owner is not self:
            is_direct = any(step.is_running and step.stamp == stamp for step, stamp in self._direct)
            version = self._first if is_direct else self._now
        options: LayerOptions = version.wanted.node.options
        return options

    def process(self, step: Step, /) -> object:
        """Call the object that the timestamp of the call belongs to."""
        at = step.stamp
        with self._lock:
            self._begun = max(self._begun, at)
            while self._next <= at:
                self._leaving.append(self._now)
                self._now = self._pop_first()
                self.inner = self._now.calculator  # type: ignore[assignment]  # it was opened
            version, is_quiet = self._now, not self._leaving
            if version.due > at:  # a call that has begun late
                version = next(one for one in reversed(self._leaving) if one.due <= at)
        call: Any = version.calculator
        if is_quiet:
            return call_as(version, call.process, step)
        return run_through(self._call(version, step))

    def _call(self, version: Version, step: Step) -> Generator[Any, Any, Any]:
        yield from self._close_unused(None)
        calculator: Any = version.calculator
        outcome = call_as(version, calculator.process, step)
        if is_later(outcome):
            outcome = yield outcome
        if outcome is None or outcome is STOP:
            yield from self._close_unused(step)
        return outcome

    def _close_unused(self, ended: Step | None) -> Generator[Any, Any, None]:
        """Close the objects that no call belongs to any more, but for `ended`, which has just ended."""
        while True:
            with self._lock:
                if not self._leaving:
                    return
                oldest = self._leaving[0]
                until = (*self._leaving, self._now)[1].due

            def is_used(_: Schedule, until: int = until) -> bool:
                calls = self._node.in_order or ()
                return any(one.stamp < until and not one.is_done and one is not ended for one in calls)

            if self.runner.ask(is_used):
                return
            with self._lock:
                if not self._leaving or self._leaving[0] is not oldest:
                    continue  # another thread closes it
                self._leaving.pop(0)
            yield from self._close_version(oldest)

    def _close_version(self, version: Version) -> Generator[Any, Any, None]:
        node = self._node
        step = node.new_step(node)
        show_method(step, CLOSE)
        calculator: Any = version.calculator
        yield call_as(version, calculator.close, step)
        for output in step.out_ports:
            if output.packets:
                raise FailedPreconditionError(
                    f"node {node.name!r}: close() of the calculator that was replaced wrote to stream "
                    f"{output.name!r}; with max_in_flight {node.max_in_flight} later, overlapping calls "
                    "have begun already, so it must write in process()",
                    node=node.name,
                    stream=output.name,
                )

    def _to_close(self, step: Step) -> list[Callable[[], Any]]:
        calls = super()._to_close(step)
        leaving = [partial(self._run_close, version) for version in self._leaving]
        self._leaving.clear()
        return [*leaving, *calls]

    def _run_close(self, version: Version) -> Any:
        return run_through(self._close_version(version))

    def _begun_so_far(self) -> int:
        node = self._node
        calls = node.in_order
        if node.state != OPENED or calls is None:
            return UNSTARTED
        waiting = [step.stamp for step in node.prepared]
        self._direct = tuple((step, step.stamp) for step in calls if step not in node.prepared)
        begun = [stamp for _, stamp in self._direct]
        if begun:
            return max(begun)
        if waiting:
            return min(waiting) - 1
        return node.forwarded - 1 if node.steps else UNSTARTED
