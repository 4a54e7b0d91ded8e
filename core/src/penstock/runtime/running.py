"""`async with graph.running(...)`: a run that belongs to a block of a coroutine and blocks no event loop.

What holds here: after the block the run has ended, its threads are gone, and its errors are raised; if the
block was left with an exception, or its task was cancelled, the run has been cancelled.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import attrs

from penstock.engine.packet import Packet
from penstock.errors import FailedPreconditionError, GraphRunError, WaitTimeoutError
from penstock.plugins.hookspecs import RunningGraph
from penstock.runtime.awaiting import in_thread, wait
from penstock.runtime.graph_runs import note_other_errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import SupportsIndex

    from penstock.runtime.graph_runs import GraphRuns
    from penstock.runtime.row_desk import RowDesk
    from penstock.runtime.rows.rows import Rows
    from penstock.runtime.runner.runner import Runner

#: How long a run may take to end after it was cancelled; a calculator may be in the middle of a long call.
_STOP_TIMEOUT_S: Final = 30.0


class GraphOfRun(RunningGraph, Protocol):
    """The calls of a `CalculatorGraph` that do not block: an event loop may make them during a run."""

    # Each is described there.
    def rows(  # noqa: D102
        self, *streams: str, timeout: float | None = None, max_queue_size: int | None = None
    ) -> Rows: ...
    def set_input_stream_timestamp_bound(self, stream: str, bound: SupportsIndex) -> None: ...  # noqa: D102
    def close_input_stream(self, stream: str) -> None: ...  # noqa: D102
    def close_all_input_streams(self) -> None: ...  # noqa: D102
    def close_all_packet_sources(self) -> None: ...  # noqa: D102
    def pause(self) -> None: ...  # noqa: D102
    def resume(self) -> None: ...  # noqa: D102
    def cancel(self) -> None: ...  # noqa: D102
    def has_error(self) -> bool: ...  # noqa: D102
    def get_combined_error_message(self) -> str: ...  # noqa: D102
    def get_output_side_packet(self, name: str) -> Packet: ...  # noqa: D102


@attrs.define(eq=False, repr=False)
class Running:
    """One run of a graph, for event loops. Made by `CalculatorGraph.running`; enter it with `async with`.

    Nodes begin to work when the block first awaits something, so rows that are asked for before that
    miss no packet. All methods must be called on the loop of the block, but from any of its tasks.
    """

    #: The graph of the run; its methods that do not block may be called meanwhile.
    graph: GraphOfRun
    _runs: GraphRuns
    _desk: RowDesk
    _side_packets: Mapping[str, Any] | None
    _stream_headers: Mapping[str, Any] | None
    _timeout: float | None
    _runner: Runner | None = attrs.field(default=None, init=False)
    _ending: asyncio.Task[None] | None = attrs.field(default=None, init=False)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._runner = self._runs.start(self._side_packets, self._stream_headers, held=True)
        self._ending = None  # forget that of an earlier run, if this object is entered again
        loop.call_soon(self._let_go)
        return self

    def _let_go(self) -> None:
        """Let the nodes work, unless they already do."""
        if self._runner is not None and self._is_under_way():
            self._runs.let_go(self._runner)

    def _is_under_way(self) -> bool:
        return self._runs.is_running and self._desk.runner is self._runner

    def _live(self, what: str) -> Runner:
        if self._runner is None or not self._is_under_way():
            raise FailedPreconditionError(
                f"{what} needs the run of `async with graph.running()`, inside its block"
            )
        return self._runner

    async def add(
        self,
        stream: str,
        payload: object,
        timestamp: SupportsIndex | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # its error tells why
    ) -> None:
        """Add a payload at a timestamp, or a Packet, to a graph input; await room if queues are full.

        Lets other tasks run each time. If the task is cancelled here, nothing was added.

        Args:
            stream: name of the graph input.
            payload: what to add; a `Packet` is added as it is, or at `timestamp` if that is given.
            timestamp: of the packet, in microseconds by convention.
            timeout: how many seconds to await room; None for no limit.

        Raises:
            WaitTimeoutError: no room in time; says what the run waits for. Nothing was added.
            As `CalculatorGraph.add_packet_to_input_stream`.
        """
        await asyncio.sleep(0)
        self._live(f"adding to {stream!r}")
        packet = payload if isinstance(payload, Packet) else Packet(payload)
        runner, addition = self._runs.addition(stream, packet, timestamp)
        while not runner.change(addition.try_patiently):
            await wait(runner, addition.has_room, timeout, addition.what, adds=True)

    async def wait_until_idle(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # its error tells why
        """Wait until no node runs or can run; as `CalculatorGraph.wait_until_idle`.

        Raises:
            GraphRunError, WaitTimeoutError, FailedPreconditionError: as there.
        """
        runner = self._live("wait_until_idle()")
        self._let_go()
        schedule = runner.schedule
        await wait(
            runner,
            lambda: not schedule.busy or runner.is_over or bool(schedule.errors),
            timeout,
            "wait_until_idle()",
        )
        if schedule.errors:  # an executor may have failed; then only a wait on a thread runs its steps
            await in_thread(lambda: self._runs.wait_until_idle(timeout))
            raise GraphRunError(schedule.errors)

    async def wait_until_done(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # its error tells why
        """Await the end of the run, and raise what went wrong; as `CalculatorGraph.wait_until_done`.

        Raises:
            GraphRunError, WaitTimeoutError, FailedPreconditionError: as there.
        """
        if self._runner is not None and not self._is_under_way():
            return
        runner = self._live("wait_until_done()")
        self._let_go()
        await wait(
            runner, lambda: runner.is_over or bool(runner.schedule.errors), timeout, "wait_until_done()"
        )
        await self._ended(timeout)

    async def _ended(self, timeout: float | None) -> None:  # noqa: ASYNC109  # its error tells why
        """Await the end of the run and of its threads, on one thread for all tasks that call this."""
        if self._ending is None:
            self._ending = asyncio.create_task(in_thread(lambda: self._runs.wait_until_done(timeout)))
            self._ending.add_done_callback(_look_at)
        try:
            await asyncio.shield(self._ending)
        except WaitTimeoutError:
            self._ending = None
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._is_under_way():
            return
        self._let_go()
        if error is not None:
            await self._cancel(error)
            return
        try:
            self._runs.close_input_streams()
            await self.wait_until_done(self._timeout)
        except (asyncio.CancelledError, WaitTimeoutError) as broken_off:
            await self._cancel(broken_off)
            raise

    async def _cancel(self, error: BaseException) -> None:
        """End the run because of `error`, which the block is about to raise."""
        if not self._is_under_way():
            return
        runner = self._live("cancel()")
        if not runner.schedule.errors:  # else it is ending already
            self._runs.cancel()
        try:
            await self._ended(_STOP_TIMEOUT_S)
        except GraphRunError as failure:
            note_other_errors(error, failure)
        except WaitTimeoutError as failure:
            error.add_note(f"while the graph was cancelled: {failure}")


def _look_at(task: asyncio.Task[None]) -> None:
    """Fetch the exception of a task, so that asyncio does not log it if no task awaits it any more."""
    if not task.cancelled():
        task.exception()
