"""A node whose options or calculator change in a run: the layer around its calculator that changes them.

A `Version` is a calculator with the options that it sees, from a timestamp on. Versions that have come wait
in order of their timestamps. Before each call of `process`, on the thread of the call, those that are due
take over: `options_changed` is called, or the object that was replaced is closed.

What holds here:

* `_lock` guards which version a call gets, and which timestamps have begun; no code of a calculator runs
  under it, nor under the lock of the run.
* A version that was refused changes nothing, and an object that was opened is closed once: after its last
  call, at the end of the run, or by who opened it where it was refused.
"""

from __future__ import annotations

import threading
from bisect import insort_right
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    PenstockError,
    TimestampOrderError,
    code_of,
    words_of,
)
from penstock.lowlevel import CLOSE, DONE, UNSTARTED, Layer, LayerLevel, next_allowed, show, show_method
from penstock.runs import OPENED
from penstock_steering.awaited_calls import all_of, finished, is_later, later, run_through
from penstock_steering.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from penstock.lowlevel import Invoker, LayerOptions, Node, ShownCall
    from penstock.runs import Runner, Schedule, Step
    from penstock_steering.kept import KeptCalculators
    from penstock_steering.opening import Beside
    from penstock_steering.wanted import Wanted

#: Larger than every timestamp: no version waits.
_NEVER: Final = DONE + 1
#: Smaller than every timestamp: due at the next call, whatever its timestamp.
_NEXT: Final = -_NEVER - 1


class Version:
    """A calculator with the options that it sees."""

    __slots__ = ("at", "beside", "calculator", "due", "owner", "wanted")

    def __init__(self, wanted: Wanted, beside: Beside | None = None, at: int = UNSTARTED) -> None:
        #: What the node is.
        self.wanted: Final = wanted
        #: The timestamp from which it counts.
        self.at = at
        #: A call at this timestamp or a later one gets it; below every timestamp: the next call does.
        self.due = at
        #: What opened the object beside the node's own; None for the node's own, and for changed options.
        self.beside: Final = beside
        #: The object; None for changed options until they take over.
        self.calculator: Invoker | None = None if beside is None else beside.calculator
        self.owner: SteeredNode | None = None


#: Whose call runs, where that is not the version that the node is at. Calls of one node may overlap.
_INSIDE: Final[ContextVar[Version | None]] = ContextVar("penstock_version", default=None)


class Superseded(Exception):  # noqa: N818  # no error: the caller looks again
    """Another thread has changed the node since a version was made from its options."""


class SteeredNode(Layer):
    """The layer of a node whose calls of `process` do not overlap; `inner` is the calculator of now.

    Args:
        node: of the run.
        wanted: what it is now.
        runner: of the run.
    """

    def __init__(self, node: Node, wanted: Wanted, runner: Runner) -> None:
        super().__init__(LayerLevel.STEER)
        self._node: Final = node
        #: Of whose run it is.
        self.runner: Final = runner
        self._lock: Final = threading.Lock()
        #: Receives the calculator at the end of the run, where it has `reset`; None: it is closed.
        self.kept: KeptCalculators | None = None
        self._has_inputs: Final = bool(node.inputs)
        self._now = Version(wanted)
        self._now.calculator = node.calculator
        self._now.owner = self
        self._coming: list[Version] = []
        self._next = _NEVER
        self._begun = UNSTARTED
        self._is_closed = False

    # --- what the graph asks ------------------------------------------------------------------

    @property
    def options(self) -> LayerOptions:
        """The options of the version whose call runs."""
        version = _INSIDE.get()
        if version is None or version.owner is not self:
            version = self._now
        options: LayerOptions = version.wanted.node.options
        return options

    @property
    def now(self) -> Wanted:
        """What the node is: what the next run begins with."""
        return self._now.wanted

    def before(self, at: int | None) -> Wanted:
        """Return what the node will be just before a timestamp, or before the next call."""
        with self._lock:
            return self._before(at)

    def _before(self, at: int | None) -> Wanted:
        at = self._begun + 1 if at is None else at
        coming = [one for one in self._coming if one.due <= at]
        return (coming[-1] if coming else self._now).wanted

    def check_in_time(self, at: int | None, what: str) -> None:
        """Raise an error if the node has begun with a timestamp, or has closed.

        Raises:
            TimestampOrderError, FailedPreconditionError: as `add`.
        """
        with self._lock:
            self._check_open(what)
            self._check_in_time(at, what)

    def add(self, version: Version, at: int | None, what: str, base: Wanted | None) -> int:
        """Let a version take over at a timestamp, or at the next call; return the timestamp.

        Args:
            version: is added.
            at: the timestamp.
            what: the call, for messages.
            base: the node as it was when the version was made; None for any.

        Raises:
            Superseded: the node is something else before the timestamp by now. Nothing has changed.
            TimestampOrderError: `process` has begun for that timestamp or a later one; says for which.
            FailedPreconditionError: the node has closed; or the version has another calculator, and a change
                of options that was checked for the present one comes later. Nothing has changed.
        """
        name = self._node.name
        with self._lock:
            self._check_open(what)
            self._check_in_time(at, what)
            if base is not None and self._before(at) is not base:
                raise Superseded
            stamp = self._begun + 1 if at is None else at
            is_other = (
                version.beside is not None
                and version.wanted.node.factory is not self._now.wanted.node.factory
            )
            if is_other and any(one.due > stamp and one.beside is None for one in self._coming):
                raise FailedPreconditionError(
                    f"{what}: node {name!r}: options that were checked for the present calculator change "
                    f"after {show(stamp)}; swap it at a later timestamp than theirs",
                    node=name,
                )
            version.at = stamp
            version.due = _NEXT if at is None and self._node.policy.depends_on_arrival else stamp
            version.owner = self
            insort_right(self._coming, version, key=lambda one: one.due)
            self._next = self._coming[0].due
            return stamp

    def _check_open(self, what: str) -> None:
        if self._is_closed:
            raise FailedPreconditionError(
                f"{what}: the steered node {self._node.name!r} has closed in this run; change it before the "
                "next one",
                node=self._node.name,
            )

    def _check_in_time(self, at: int | None, what: str) -> None:
        if at is not None and at <= self._begun:
            where = "process() has begun for" if self._has_inputs else "its outputs are settled up to"
            raise TimestampOrderError(
                f"{what}: steered node {self._node.name!r}: {show(at)} is too late, {where} "
                f"{show(self._begun)}; give a later timestamp, or none, for the next call",
                node=self._node.name,
                timestamp=at,
            )

    # --- into the run -------------------------------------------------------------------------

    def install(self, schedule: Schedule) -> None:
        """Stand between engine and calculator from now on. Called under the lock of the run, or before it.

        Raises:
            FailedPreconditionError: the node has closed.
            GraphRunError: the run has failed. Nothing has changed.
        """
        node = self._node
        if schedule.errors:
            raise GraphRunError(schedule.errors)
        if node.state > OPENED:
            raise FailedPreconditionError(
                f"the steered node {node.name!r} has closed in this run, so it cannot be steered; change it "
                "before the next one",
                node=node.name,
            )
        self._begun = self._begun_so_far()
        schedule.put_around(node, self)

    def _begun_so_far(self) -> int:
        """Return the timestamp of the last call that has begun, or one between it and the next call's."""
        node, step = self._node, self._node.step
        if node.state != OPENED:
            return UNSTARTED
        if node.is_source:
            return node.behind() - (not step.is_running)
        return step.stamp if step.is_running or not node.in_flight else step.stamp - 1

    # --- what the engine calls ----------------------------------------------------------------

    def open(self, step: Step, /) -> object:
        """Open the calculator, and then those that are to take over later."""
        return run_through(self._open(step))

    def process(self, step: Step, /) -> object:
        """Call the calculator; versions that are due take over first."""
        at = step.stamp if self._has_inputs else min([one.stream.bound for one in step.out_ports])
        with self._lock:
            self._begun = max(self._begun, at)
            is_due = self._next <= at
        return run_through(self._take_over(step, at)) if is_due else self.inner.process(step)

    def close(self, step: Step, /) -> object:
        """Close the calculator and all that were opened to take over, or keep it for the next run."""
        return run_through(all_of(self._to_close(step)))

    def _open(self, step: Step) -> Generator[Any, Any, None]:
        opened: list[Callable[[], Any]] = []
        name, kept = self._node.name, self.kept
        try:
            try:
                yield self._first_open(step)
            except Exception:
                if kept is not None and kept.is_lent(name):  # it was opened in an earlier run
                    opened.append(partial(self._close_own, step))
                raise
            opened.append(partial(self._close_own, step))
            for version in tuple(self._coming):
                if version.beside is not None:
                    yield from version.beside.open()
                    opened.append(version.beside.close)
        except Exception as error:
            self._is_closed = True
            try:
                yield from all_of(opened)
            except Exception as further:  # noqa: BLE001  # the first error is the run's
                error.add_note(f"{type(further).__name__}: {further}")
            raise
        finally:
            if kept is not None:
                kept.forget(name)

    def _first_open(self, step: Step) -> object:
        """Open the node's own calculator: by `reset`, where an earlier run has opened it."""
        if self.kept is not None and self.kept.is_lent(self._node.name):
            calculator: Any = self.inner
            return calculator.reset(step)
        return self.inner.open(step)

    def _to_close(self, step: Step) -> list[Callable[[], Any]]:
        """Return what closes each object that is open. Nothing can be added any more."""
        with self._lock:
            self._is_closed = True
            coming, self._coming = self._coming, []
            self._next = _NEVER
        return [
            partial(self._end, step),
            *[version.beside.close for version in coming if version.beside is not None],
        ]

    def _end(self, step: Step) -> Any:
        """Close the calculator at the end of the run, or keep it."""
        calculator = self._now.calculator
        if self.kept is not None and hasattr(calculator, "reset") and not self.runner.schedule.errors:
            self.kept.keep(Kept(self._node, calculator, self._now.wanted))
            return None
        return self._close_own(step)

    def _close_own(self, step: Step) -> Any:
        calculator = self._now.calculator
        assert calculator is not None  # only versions that wait have none  # noqa: S101
        return call_as(self._now, calculator.close, step)

    # --- taking over --------------------------------------------------------------------------

    def _take_over(self, step: Step, at: int) -> Generator[Any, Any, Any]:
        """Let all versions take over that are due, in order, and call `process`; return what that returns."""
        while True:
            with self._lock:
                if self._next > at:
                    break
                old, version = self._now, self._pop_first()
                if version.beside is None:
                    version.calculator = old.calculator
                self._now = version  # at once: changes of other threads go on from it
            if version.beside is None:
                yield from self._change_options(version, step)
            else:
                yield from self._replace(old, version, step)
        return self.inner.process(step)

    def _pop_first(self) -> Version:
        """Return the version that is due first, which no longer waits. Called with `_lock`."""
        version = self._coming.pop(0)
        self._next = self._coming[0].due if self._coming else _NEVER
        return version

    def _change_options(self, version: Version, step: Step) -> Generator[Any, Any, None]:
        calculator: Any = version.calculator
        before = [(len(output.packets), output.bound) for output in step.out_ports]
        try:
            yield later(calculator.options_changed(step), "options_changed")
        except Exception as error:
            raise _failed("options_changed()", error) from error
        for output, (count, bound) in zip(step.out_ports, before, strict=True):
            if len(output.packets) > count or output.bound > bound or output.will_close:
                raise FailedPreconditionError(
                    f"options_changed() of the steered node wrote to stream {output.name!r}; only open(), "
                    "process() and close() may write",
                    stream=output.name,
                )

    def _replace(self, old: Version, version: Version, step: Step) -> Generator[Any, Any, None]:
        """Let another object take over, and close the one before it. What that writes comes first."""
        assert version.calculator is not None  # it was opened  # noqa: S101
        assert old.calculator is not None  # noqa: S101
        self.inner = version.calculator
        shown = show_method(step, CLOSE)
        try:
            yield later(call_as(old, old.calculator.close, step), "close")
        except Exception as error:
            raise _failed("close() of the calculator that was replaced", error) from error
        finally:
            shown.again()
        self._check_last_words(step, shown)

    def _check_last_words(self, step: Step, shown: ShownCall) -> None:
        """Check what an object has written in `close` before another one goes on; take back its promises."""
        for output, (count, bound) in zip(step.out_ports, shown.written, strict=True):
            output.will_close = False
            written = output.packets[count:]
            if not written:
                output.bound = bound
                continue
            last = written[-1].stamp
            if self._has_inputs and last >= step.stamp:
                raise FailedPreconditionError(
                    "close() of the steered node's calculator that was replaced wrote a packet at "
                    f"{show(last)} to stream {output.name!r}, but the other one works from "
                    f"{show(step.stamp)} on; it must write before that",
                    stream=output.name,
                    timestamp=last,
                )
            output.bound = max(bound, next_allowed(last))


def call_as(version: Version, call: Callable[[Any], Any], step: Step) -> Any:
    """Call a method of a version's calculator, for which `cc.options` are that version's, to its end."""
    token = _INSIDE.set(version)
    try:
        outcome = call(step)
    finally:
        _INSIDE.reset(token)
    return _await_as(version, outcome) if outcome is not None and is_later(outcome) else outcome


async def _await_as(version: Version, outcome: Any) -> Any:
    token = _INSIDE.set(version)
    try:
        return await finished(outcome)
    finally:
        _INSIDE.reset(token)


def _failed(what: str, error: Exception) -> PenstockError:
    return PenstockError(f"{what} failed: {words_of(error)}", code=code_of(error))
