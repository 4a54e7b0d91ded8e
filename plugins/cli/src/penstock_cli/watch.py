"""Waits for a run to its end: shows progress, and acts on Ctrl-C and a time limit.

The first Ctrl-C closes the graph's sources and inputs, and packets under way are still processed; the
second cancels the run, which still closes every calculator; the third exits the process (see
`interrupts`). In the first two cases the run closes all nodes, so an encoder's file plays.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic, process_time
from typing import TYPE_CHECKING, Final

from penstock import CalculatorGraph, GraphRunError, StatusCode, WaitTimeoutError
from penstock_cli.failures import RunFailed
from penstock_cli.interrupts import Interrupts
from penstock_cli.saying import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.explain import Ledger, Snapshot, Why
    from penstock_cli.progress import Display

#: How often progress is shown and Ctrl-C is checked for.
_LOOK_S: Final = 0.2
#: How long a cancelled run may take to end once its time is up.
_GRACE_S: Final = 10.0


@dataclass(frozen=True)
class Outcome:
    """The result of a run that did not fail.

    Attributes:
        snapshot: the run after its end, with the time of each node.
        wall_s: seconds from start to end.
        cpu_s: processor seconds of this process meanwhile, of all threads.
        was_interrupted: whether Ctrl-C ended it.
        ledger: where its packets went.
        why: what waited with packets in its queues when the run began to close its nodes.
    """

    snapshot: Snapshot
    wall_s: float
    cpu_s: float
    was_interrupted: bool
    ledger: Ledger
    why: Why


def run_to_end(
    graph: CalculatorGraph,
    side_packets: Mapping[str, object],
    display: Display,
    *,
    timeout_s: float | None = None,
    wait: Callable[[float], None] | None = None,
) -> Outcome:
    """Start a run and wait for its end.

    Args:
        graph: without graph inputs, not running.
        side_packets: name → payload, for this run.
        display: shows the progress; entered and left here.
        timeout_s: cancel the run after so many seconds; None for never.
        wait: waits for the run's end at most so many seconds, as `graph.wait_until_done` does, which is
            the default. For callers whose thread has other work meanwhile.

    Raises:
        GraphConfigError: the side packets do not fit; nothing has run.
        GraphRunError: the run failed.
        RunFailed: its time was up; the message has what it waited for. If a calculator does not return
            even when cancelled, threads of the run are left behind.
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
            timeout_s=timeout_s,
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
    return Outcome(graph.snapshot(), wall, cpu, interrupts.count > 0, graph.ledger(), graph.why())


class _Watch:
    """One run, from its start to its end."""

    def __init__(  # noqa: PLR0913  # what `run_to_end` has
        self,
        graph: CalculatorGraph,
        display: Display,
        interrupts: Interrupts,
        *,
        began: float,
        timeout_s: float | None,
        wait: Callable[[float], object],
    ) -> None:
        self._graph = graph
        self._wait = wait
        self._display = display
        self._interrupts = interrupts
        self._began = began
        self._timeout_s = timeout_s
        self._obeyed = 0
        #: What the run waited for when its time was up; "" before that.
        self._story = ""

    def until_done(self) -> None:
        """Wait for the end; check Ctrl-C and the time limit and show progress five times a second.

        Raises:
            GraphRunError: the run failed, or was cancelled, here or by a calculator.
            RunFailed: its time was up and it did not end after being cancelled.
            WaitTimeoutError: it ended, but threads of an executor did not.
        """
        while True:
            try:
                self._wait(self._pause())
            except WaitTimeoutError as late:
                waits = str(late).partition("\n")[2]
                if not waits:  # the run is over; the error is of the executors' threads
                    raise
                self._obey_interrupts()
                self._obey_time(waits)
                self._display.show(self._graph.snapshot(), self._elapsed())
            else:
                return

    def check_end(self, error: GraphRunError) -> None:
        """Return normally if only Ctrl-C cancelled the run.

        Raises:
            RunFailed: its time was up.
            GraphRunError: the run failed.
        """
        if self._story:
            raise self._late() from error
        if not (self._interrupts.count and error.code is StatusCode.CANCELLED):
            raise error

    def _elapsed(self) -> float:
        return monotonic() - self._began

    def _pause(self) -> float:
        left = _LOOK_S if self._timeout_s is None or self._story else self._timeout_s - self._elapsed()
        return min(_LOOK_S, max(left, 0.0))

    def _obey_interrupts(self) -> None:
        if self._interrupts.count <= self._obeyed:
            return
        self._obeyed += 1
        if self._obeyed == 1:
            self._graph.close_all_packet_sources()
            say("interrupted: sources are closed, packets under way are processed; Ctrl-C again to cancel")
        else:
            self._graph.cancel()
            say("cancelled: closing all calculators; Ctrl-C again to exit at once")

    def _obey_time(self, waits: str) -> None:
        if self._timeout_s is None or self._elapsed() < self._timeout_s:
            return
        if not self._story:
            self._story = waits
            self._graph.cancel()
        elif self._elapsed() > self._timeout_s + _GRACE_S:
            raise self._late()

    def _late(self) -> RunFailed:
        return RunFailed(f"the run did not end within {self._timeout_s:g} s and was cancelled\n{self._story}")
