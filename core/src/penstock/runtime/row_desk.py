"""`RowDesk`: the rows of a graph that wait for a run, and the threads that close rows whose loop was left."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import TYPE_CHECKING, Final, Protocol

from penstock.engine.run_state import PAUSED
from penstock.errors import FailedPreconditionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.engine.schedule import Schedule
    from penstock.plan import Plan
    from penstock.runtime.runner.runner import Runner

#: How long a run waits for the threads that are closing its rows; each needs a lock for a moment only.
_LEAVE_TIMEOUT_S: Final = 30.0


class WaitingRows(Protocol):
    """What the desk uses of `Rows`."""

    @property
    def waits_for_run(self) -> bool:
        """Whether the rows wait for a run that has not begun."""

    def attach(self, runner: Runner) -> None:
        """Read from this run, which is about to begin."""

    def detach(self) -> None:
        """Forget the run, which could not begin."""


class RowDesk:
    """Keeps the rows of a graph that wait for a run, and the threads that close rows."""

    def __init__(self, plan: Plan) -> None:
        #: The plan of the graph; from the first run on as its executors have arranged it.
        self.plan = plan
        #: Numbers of the streams that are graph outputs, or of which rows were asked for.
        self.named: Final = {plan.stream_ids[name] for name in outputs_of(plan)}
        self._runner: weakref.ref[Runner] | None = None
        #: Whether the run has begun, but takes no step before it is resumed.
        self.is_held = False
        self._waiting: list[weakref.ref[WaitingRows]] = []
        self._leaving: list[threading.Thread] = []

    @property
    def runner(self) -> Runner | None:
        """The run under way or the last one; None before the first, and once the graph has dropped it."""
        return None if self._runner is None else self._runner()

    # --- rows and runs ------------------------------------------------------------------------

    def keep(self, rows: WaitingRows) -> None:
        """Let rows wait for the next run."""
        self._waiting.append(weakref.ref(rows))

    def attach(self, runner: Runner, *, held: bool) -> None:
        """Attach all rows that wait for a run to this one, which is about to begin."""
        self._runner = weakref.ref(runner)
        self.is_held = held
        self._waiting = [one for one in self._waiting if (rows := one()) is not None and rows.waits_for_run]
        for reference in self._waiting:
            rows = reference()
            if rows is not None:
                rows.attach(runner)

    def detach(self) -> None:
        """Let the rows wait for another run: this one could not begin."""
        self._runner = None
        self.is_held = False
        for reference in self._waiting:
            rows = reference()
            if rows is not None:
                rows.detach()

    def refuse_unfed(self, what: str) -> None:
        """Raise FailedPreconditionError if the graph has inputs: a run that rows start could not be fed."""
        inputs = self.plan.streams[: self.plan.graph_inputs]
        if inputs:
            names = ", ".join(repr(stream.name) for stream in inputs)
            raise FailedPreconditionError(
                f"{what} needs a run, and the graph has inputs ({names}) that must be fed; call "
                "start_run(), add packets in another thread or between two rows.next(), or use penstock.run()"
            )

    def refuse_late(self, schedule: Schedule, numbers: Sequence[int]) -> None:
        """Raise an error if packets of these streams have been missed, or may have been. Lock held.

        The answer depends on what the application did before, never on how far the nodes are.

        Raises:
            FailedPreconditionError: packets may have been missed; names the stream and what has begun.
        """
        for number in numbers:
            stream = schedule.streams[number]
            begun = self._what_has_begun(schedule, number)
            if self.plan.streams[number].producer is None and number >= self.plan.graph_inputs:
                begun = "it does not leave the process of its nodes in this run"
            if begun is None and stream.added:
                begun = f"{stream.added} packets have been written"
            if begun is None and stream.is_closed:
                begun = "it has ended"
            if begun is not None:
                raise FailedPreconditionError(
                    f"rows of stream {stream.name!r} could miss packets: {begun}; ask for rows "
                    "before start_run(), or before the first packet is added",
                    stream=stream.name,
                )

    def _what_has_begun(self, schedule: Schedule, number: int) -> str | None:
        if self.is_held and schedule.state == PAUSED:
            return None
        for source in sorted(self.plan.throttled[number]):
            if source >= 0:
                return f"source {schedule.nodes[source].name!r} runs"
            if schedule.streams[~source].added:
                return f"packets have been added to {schedule.streams[~source].name!r}"
        return None

    # --- leaving ------------------------------------------------------------------------------

    def leave(self, runner: Runner, close: Callable[[Schedule], object]) -> None:
        """Apply an event that closes rows, on a thread of its own.

        At the end of the interpreter this does nothing: all runs have ended, and no thread can start.
        """
        if sys.is_finalizing():
            return
        thread = threading.Thread(target=runner.change, args=(close,), name="penstock-leave", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is about to end, and so are all runs
            return
        self._leaving.append(thread)

    def settle(self) -> None:
        """Wait until the threads that close rows have ended."""
        while self._leaving:
            thread = self._leaving.pop()
            if thread is not threading.current_thread():
                thread.join(_LEAVE_TIMEOUT_S)


def outputs_of(plan: Plan) -> list[str]:
    """Return the names of the graph outputs that something produces, in the order of the graph."""
    names = (entry.rpartition(":")[2] for entry in plan.fields.output_stream)
    return list(dict.fromkeys(name for name in names if name in plan.stream_ids))
