"""Waits for a run to its end: shows progress, and acts on Ctrl-C, a time limit and a standstill.

The first Ctrl-C closes the graph's sources and inputs, and packets under way are still processed; the
second cancels the run, which still closes every calculator; the third exits the process (see
`interrupts`). In the first two cases the run closes all nodes, so an encoder's file plays. SIGTERM does the
same as the first Ctrl-C, and a second SIGTERM exits the process.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic, process_time
from typing import TYPE_CHECKING, Final

from penstock import CalculatorGraph, GraphRunError, StatusCode, WaitTimeoutError
from penstock_cli.failures import RunFailed
from penstock_cli.runs.interrupts import Interrupts
from penstock_cli.saying import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.explain import Ledger, Snapshot, Why
    from penstock_cli.runs.progress import Display

#: How often progress is shown and Ctrl-C is checked for.
_LOOK_S: Final = 0.2
#: How long a cancelled run may take to end once its time is up.
_GRACE_S: Final = 10.0


@dataclass(frozen=True)
class Moment:
    """A run at one moment."""

    #: Where its calls and queues stood.
    snapshot: Snapshot
    #: Where its packets were.
    ledger: Ledger
    #: What it waited for.
    why: Why

    @classmethod
    def of(cls, graph: CalculatorGraph) -> Moment:
        """Return where the run of a graph stands; the graph has been started."""
        return cls(graph.snapshot(), graph.ledger(), graph.why())


class RunStopped(RunFailed):
    """A run was cancelled because a limit of the command was reached."""

    def __init__(self, reason: str, moment: Moment) -> None:
        super().__init__(f"{reason}\n{moment.why}")
        #: Which limit, in words.
        self.reason: Final = reason
        #: The run just before it was cancelled.
        self.moment: Final = moment


@dataclass(frozen=True)
class Outcome:
    """The result of a run that did not fail."""

    #: The run after its end, with the time of each node.
    snapshot: Snapshot
    #: Seconds from start to end.
    wall_s: float
    #: Processor seconds of this process meanwhile, of all threads.
    cpu_s: float
    #: Whether Ctrl-C or SIGTERM ended it.
    was_interrupted: bool
    #: Where its packets went.
    ledger: Ledger
    #: What waited with packets in its queues when the run began to close its nodes.
    why: Why
    #: The run when Ctrl-C was seen, before its sources were closed; None without Ctrl-C.
    interrupted_at: Moment | None = None
    #: What the command exits with: 0, or the code of the signal that ended the run.
    exit_code: int = 0


def run_to_end(  # noqa: PLR0913  # the limits and the wait are named
    graph: CalculatorGraph,
    side_packets: Mapping[str, object],
    display: Display,
    *,
    timeout_s: float | None = None,
    still_s: float | None = None,
    wait: Callable[[float], None] | None = None,
) -> Outcome:
    """Start a run and wait for its end.

    Args:
        graph: without graph inputs, not running.
        side_packets: name → payload, for this run.
        display: shows the progress; entered and left here.
        timeout_s: cancel the run after so many seconds; None for never.
        still_s: cancel the run when for so many seconds no call has returned and no packet was written or
            dropped; None for never.
        wait: waits for the run's end at most so many seconds, as `graph.wait_until_done` does, which is
            the default. For callers whose thread has other work meanwhile.

    Raises:
        GraphConfigError: the side packets do not fit; nothing has run.
        GraphRunError: the run failed.
        RunStopped: its time was up, or it stood still; the message has what it waited for. If a calculator
            does not return even when cancelled, threads of the run are left behind.
    """
    graph.set_timing()
    with Interrupts() as interrupts, display:
        began, cpu_began = monotonic(), process_time()
        graph.start_run(side_packets)
        watch = _Watch(
            graph,
            display,
            interrupts,
            began=began,
            limits=(timeout_s, still_s),
            wait=wait or graph.wait_until_done,
        )
        try:
            watch.until_done()
        except GraphRunError as error:
            watch.check_end(error)
        except BaseException:
            graph.cancel()
            raise
        wall, cpu = monotonic() - began, process_time() - cpu_began
    end = Moment.of(graph)
    return Outcome(
        end.snapshot,
        wall,
        cpu,
        interrupts.count > 0,
        end.ledger,
        end.why,
        watch.interrupted_at,
        interrupts.exit_code,
    )


class _Watch:
    """One run, from its start to its end."""

    def __init__(  # noqa: PLR0913  # what `run_to_end` has
        self,
        graph: CalculatorGraph,
        display: Display,
        interrupts: Interrupts,
        *,
        began: float,
        limits: tuple[float | None, float | None],
        wait: Callable[[float], object],
    ) -> None:
        self._graph = graph
        self._wait = wait
        self._display = display
        self._interrupts = interrupts
        self._began = began
        self._timeout_s, self._still_s = limits
        self._obeyed = 0
        #: What has moved until now, and when that was seen.
        self._moved: tuple[int, ...] = ()
        self._moved_at = 0.0
        #: Why the run was cancelled here, and when.
        self._stopped: RunStopped | None = None
        self._stopped_at = 0.0
        #: The run when the first Ctrl-C was seen; None before that.
        self.interrupted_at: Moment | None = None

    def until_done(self) -> None:
        """Wait for the end; check Ctrl-C and the limits and show progress five times a second.

        Raises:
            GraphRunError: the run failed, or was cancelled, here or by a calculator.
            RunStopped: a limit was reached, and it did not end after being cancelled.
            WaitTimeoutError: it ended, but threads of an executor did not.
        """
        while True:
            try:
                self._wait(self._pause())
            except WaitTimeoutError as late:
                if "\n" not in str(late):  # the run is over; the error is of the executors' threads
                    raise
                self._obey_interrupts()
                snapshot = self._graph.snapshot()
                self._obey_limits(snapshot)
                self._display.show(snapshot, self._elapsed())
            else:
                return

    def check_end(self, error: GraphRunError) -> None:
        """Return normally if only Ctrl-C cancelled the run.

        Raises:
            RunStopped: a limit was reached.
            GraphRunError: the run failed.
        """
        if self._stopped is not None:
            raise self._stopped from error
        if not (self._interrupts.count and error.code is StatusCode.CANCELLED):
            raise error

    def _elapsed(self) -> float:
        return monotonic() - self._began

    def _pause(self) -> float:
        is_limited = self._timeout_s is not None and self._stopped is None
        left = (self._timeout_s or 0.0) - self._elapsed() if is_limited else _LOOK_S
        return min(_LOOK_S, max(left, 0.0))

    def _obey_interrupts(self) -> None:
        if self._interrupts.count <= self._obeyed:
            return
        self._obeyed += 1
        if self._obeyed == 1:
            self.interrupted_at = Moment.of(self._graph)
            self._graph.close_all_packet_sources()
            if self._interrupts.is_terminated:
                said, then = "SIGTERM", "a second SIGTERM exits at once"
            else:
                said, then = "interrupted", "Ctrl-C again to cancel"
            say(f"{said}: sources are closed, packets under way are processed; {then}")
        else:
            self._graph.cancel()
            say("cancelled: closing all calculators; Ctrl-C again to exit at once")

    def _obey_limits(self, snapshot: Snapshot) -> None:
        if self._stopped is not None:
            if self._elapsed() > self._stopped_at + _GRACE_S:
                raise self._stopped
            return
        reason = self._reached(snapshot)
        if reason:
            self._stopped = RunStopped(reason, Moment.of(self._graph))
            self._stopped_at = self._elapsed()
            self._graph.cancel()

    def _reached(self, snapshot: Snapshot) -> str:
        """Return which limit is reached; "" for none."""
        now = self._elapsed()
        if self._timeout_s is not None and now >= self._timeout_s:
            return f"the run did not end within {self._timeout_s:g} s and was cancelled"
        if self._still_s is None:
            return ""
        moved = _moved(snapshot)
        if moved != self._moved:
            self._moved, self._moved_at = moved, now
        elif now - self._moved_at >= self._still_s:
            return f"nothing moved for {self._still_s:g} s, and the run was cancelled"
        return ""


def _moved(snapshot: Snapshot) -> tuple[int, ...]:
    """Return numbers of which one changes whenever a call returns, or a packet is written or dropped."""
    return (
        sum(node.steps for node in snapshot.nodes),
        sum(stream.added for stream in snapshot.streams),
        sum(stream.dropped for stream in snapshot.streams),
    )
