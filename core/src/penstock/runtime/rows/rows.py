"""`graph.rows(...)`: the packets of several streams, one row per timestamp, in a `for` or `async for` loop.

What holds here: timestamps increase from row to row; each row is settled on all of its streams when it
comes; every packet of these streams is in one row, or dropped and counted because the rows were left. Rows
that were left throttle nothing.
"""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Self

from penstock.engine.run_state import NOT_STARTED
from penstock.engine.stream import UNLIMITED
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    WaitTimeoutError,
)
from penstock.near_names import did_you_mean
from penstock.runtime.row_desk import outputs_of
from penstock.runtime.rows.row_reader import RowReader
from penstock.runtime.runner.news import current_waiter
from penstock.timestamp import Timestamp, show

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.plan import Plan
    from penstock.runtime.graph_runs import GraphRuns
    from penstock.runtime.row_desk import RowDesk
    from penstock.runtime.runner.runner import Runner


class Row:
    """The packets of some streams at one timestamp. Made by `Rows`, never changed afterwards.

    `row["out"]` is the payload on a stream, None if it has no packet at this time; `"out" in row`
    says whether it has one. Payloads are shared, as everywhere: treat them as read-only. Two rows are
    equal if they have the same timestamp and the same payload objects on the same streams.
    """

    __slots__ = ("_packets", "_places", "stamp")

    def __init__(self, stamp: int, places: Mapping[str, int], packets: tuple[Packet | None, ...]) -> None:
        #: The timestamp as a plain int, in microseconds by convention.
        self.stamp: Final = stamp
        self._places: Final = places
        self._packets: Final = packets

    @property
    def timestamp(self) -> Timestamp:
        """The timestamp of the row; PRESTREAM and POSTSTREAM are possible."""
        return Timestamp.of(self.stamp)

    @property
    def packets(self) -> dict[str, Packet]:
        """Stream → packet, for the streams that have a packet at this time: at least one."""
        pairs = zip(self._places, self._packets, strict=True)
        return {name: packet for name, packet in pairs if packet is not None}

    def __getitem__(self, stream: str) -> Any:
        """Return the payload on a stream, None if there is no packet.

        Raises:
            NotFoundError: the rows are not of this stream.
        """
        place = self._places.get(stream)
        if place is None:
            raise _not_in_rows(stream, self._places)
        packet = self._packets[place]
        return None if packet is None else packet.payload

    def __contains__(self, stream: object) -> bool:
        place = self._places.get(stream)  # type: ignore[call-overload]  # anything may be asked for
        return place is not None and self._packets[place] is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self.stamp == other.stamp and self._places == other._places and self._packets == other._packets

    __hash__ = None  # type: ignore[assignment]  # equal by what they hold

    def __repr__(self) -> str:
        return f"Row({', '.join([show(self.stamp), *map(repr, self.packets)])})"


class Rows:
    """The rows of some streams in one run. Made by `CalculatorGraph.rows`.

    For loops: `for row in rows`, `async for row in rows`. Or one by one: `rows.next()`. As a context
    manager it is closed at the end of the block. One thread or task at a time may read; a second one gets a
    FailedPreconditionError.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what `CalculatorGraph.rows` was given
        self,
        graph: object,
        runs: GraphRuns,
        desk: RowDesk,
        names: Sequence[str],
        max_size: int | None,
        timeout: float | None,
        side_packets: Mapping[str, Any] | None,
    ) -> None:
        #: Whether the application has closed the rows, or left their loop.
        self._is_left = True  # until the end of this method: if it raises, `__del__` has nothing to leave
        limit = _limit(max_size, desk.plan)  # first: rows that are refused name no stream at the desk
        numbers = _numbers(names, desk)
        self._graph: Final = graph  # a graph lives as long as its rows
        self._runs: Final = runs
        self._desk: Final = desk
        #: Their names, in the order in which they were asked for.
        self.streams: Final = tuple(numbers)
        self._numbers: Final = tuple(numbers.values())
        self._places: Final = {name: place for place, name in enumerate(numbers)}
        self._timeout: Final = timeout
        self._side_packets: Final = side_packets
        self._reader: Final = RowReader(limit)
        self._what: Final = f"the next row of {', '.join(map(repr, numbers))}"
        self._runner: Runner | None = None
        #: "by" → the thread or task that reads now.
        self._reading: Final[dict[str, object]] = {}
        self._is_starting = self._has_started_it = False
        #: Whether no row will come any more; and whether the end of the run has been reported too.
        self._is_at_end = self._is_over = False
        self._is_left = False

    # --- which run ----------------------------------------------------------------------------

    def attach(self, runner: Runner) -> None:
        """Read from this run, which is about to begin. For the graph.

        Raises:
            FailedPreconditionError: the rows have side packets for a run that they start.
        """
        self._refuse_own_side_packets()
        self._reader.attach(runner.schedule, self._desk.plan, self._numbers)
        self._runner = runner
        if self._is_left:  # by another thread, which may have seen no run yet
            runner.change(self._reader.close)

    def detach(self) -> None:
        """Forget the run, which could not begin. For the graph."""
        self._runner = None

    def attach_late(self, runner: Runner) -> None:
        """Read from a run that has begun, if no packet has been missed. For the graph.

        Raises:
            FailedPreconditionError: packets have been missed, or may have been.
        """
        self._refuse_own_side_packets()
        runner.change(self._attach_late)
        self._runner = runner

    def _refuse_own_side_packets(self) -> None:
        if self._side_packets is not None and not self._is_starting:
            raise FailedPreconditionError(
                "side_packets of rows() are for a run that the rows start, but another has been started; "
                "give them to start_run()"
            )

    def _attach_late(self, schedule: Schedule) -> None:
        self._desk.refuse_late(schedule, self._numbers)
        self._reader.attach(schedule, self._desk.plan, self._numbers)

    def _live(self, *, awaits: bool = False) -> Runner:
        """Return the run to read from; begin one if there is none.

        Raises:
            FailedPreconditionError: the rows are closed, or the graph has inputs, which could not be fed.
        """
        self._refuse_closed()
        if self._runner is None or self._runner.schedule.state == NOT_STARTED:
            self._runs.await_start()  # of another thread: until it has begun there is no run
        if self._runner is None:
            self._desk.refuse_unfed(self._what)
            self._start(awaits=awaits)
        runner = self._runner
        assert runner is not None  # all rows that wait for a run are attached to it  # noqa: S101
        return runner

    def _refuse_closed(self) -> None:
        if self._is_left or (self._reader.is_closed and not self._is_at_end):
            raise FailedPreconditionError(
                f"{self._what}: these rows are closed; ask graph.rows() for new ones"
            )

    def _start(self, *, awaits: bool) -> None:
        self._is_starting = True
        try:
            if awaits:  # what cannot be awaited is refused before it begins
                self._runs.start(self._side_packets, held=True)
                self._runs.resume()
            else:
                self._runs.start(self._side_packets)
        finally:
            self._is_starting = False
        self._has_started_it = True

    # --- reading ------------------------------------------------------------------------------

    def next(self, timeout: float | None = None) -> Row | None:
        """Return the next row; wait for it. Returns None when all streams have ended.

        Begins a run if none is under way. Then, before it returns None, it also waits for the end of that
        run and of its threads.

        Args:
            timeout: seconds; None for the `timeout` of `graph.rows`.

        Raises:
            WaitTimeoutError: no row was settled in time; says what the run waits for. No packet is lost,
                and the next call goes on.
            GraphRunError: the run has failed, and all rows that were settled have been read.
            FailedPreconditionError: the rows are closed, another thread reads them, or the call comes from
                inside the run.
        """
        if self._is_over:
            return None
        self._begin_reading(get_ident())
        try:
            runner = self._live()
            runner.refuse_inside(self._what)
            timeout = self._timeout if timeout is None else timeout
            while True:
                row = self._take_or_see_end(runner)
                if row is not None:
                    return row
                if self._is_at_end:
                    self._end(runner, timeout)
                    return None
                runner.wait(self._can_go_on, timeout, self._what)
        finally:
            self._reading.clear()

    async def next_async(self) -> Row | None:
        """Return the next row, as `next`, without blocking the event loop.

        If the task is cancelled here, no row is lost.

        Raises:
            FailedPreconditionError: nodes run inside the application's waits, so that nothing runs them.
            As `next`.
        """
        from asyncio import current_task

        from penstock.runtime.awaiting import in_thread, refuse, wait  # brings asyncio

        if self._is_over:
            return None
        self._begin_reading(current_task())
        try:
            runner = self._live(awaits=True)
            refuse(runner, self._what)
            while True:
                row = self._take_or_see_end(runner)
                if row is not None:
                    return row
                if self._is_at_end:
                    try:
                        await in_thread(lambda: self._end(runner, self._timeout))
                    except BaseException as error:
                        self._is_over = isinstance(error, GraphRunError)  # else the next call waits on
                        raise
                    return None
                await wait(runner, self._can_go_on, self._timeout, self._what)
        finally:
            self._reading.clear()

    def _begin_reading(self, reader: object) -> None:
        """Refuse a second reader: the first one may be starting the run, or waiting for its end."""
        if self._reading.setdefault("by", reader) != reader:  # one step, whichever threads call it
            raise FailedPreconditionError(
                f"{self._what}: another thread or task is waiting for it; one at a time may read these rows, "
                "so let one read and hand the rows on, or use a poller for each stream"
            )

    def _take_or_see_end(self, runner: Runner) -> Row | None:
        """Return the next row if it is settled; else note whether no row will come any more."""
        self._refuse_closed()
        reader = self._reader
        reader.who = current_waiter()
        has_failed = bool(runner.schedule.errors)  # read first: until the run fails, rows may come
        packets: tuple[Packet | None, ...] | None = runner.change(reader.take)
        if packets is None:
            self._is_at_end = has_failed or reader.is_at_end()
            return None
        first = packets[0] or next(packet for packet in packets if packet is not None)
        return Row(first.stamp, self._places, packets)

    def _can_go_on(self) -> bool:
        reader, runner = self._reader, self._runner
        return (
            reader.next_settled() is not None
            or reader.is_closed
            or reader.is_at_end()
            or reader.is_in_its_own_way()
            or runner is None
            or bool(runner.schedule.errors)
        )

    def _end(self, runner: Runner, timeout: float | None) -> None:
        """Wait for the end of a run that these rows have begun; raise the errors of the run."""
        self.close()
        self._is_over = True
        try:
            if self._has_started_it and self._desk.runner is runner:
                self._runs.wait_until_done(timeout)
        except (WaitTimeoutError, KeyboardInterrupt):
            self._is_over = False  # the next call waits on
            raise
        if runner.schedule.errors:
            raise GraphRunError(runner.schedule.errors)

    # --- loops --------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Row]:
        return _Loop(self)

    def __aiter__(self) -> AsyncIterator[Row]:
        from penstock.runtime.awaiting import refuse_without_loop  # brings asyncio

        refuse_without_loop(f"async for over rows of {', '.join(map(repr, self.streams))}")
        return _Loop(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Read no more. Packets that wait are dropped and counted; the run goes on.

        Closing again does nothing. May be called from any thread; a thread that waits for a row gets a
        FailedPreconditionError.
        """
        self._is_left = not self._is_at_end
        runner, reader = self._runner, self._reader  # after it was said: see `attach`
        if runner is not None and not reader.is_closed:
            runner.change(reader.close)

    def leave(self) -> None:
        """Close the rows soon, on a thread of its own, so that this may be called from anywhere.

        For loops that are freed: that may happen at any point, also in the locked sections of this run.
        """
        if self._is_left or self._is_at_end:
            return
        self._is_left = True
        runner, reader = self._runner, self._reader
        if runner is not None and not reader.is_closed:
            self._desk.leave(runner, reader.close)

    @property
    def waits_for_run(self) -> bool:
        """Whether the rows wait for a run that has not begun."""
        return self._runner is None and not self._is_left

    def __del__(self) -> None:
        self.leave()


class _Loop:
    """One loop over rows; when it is freed it closes the rows, unless a wait in it was broken off."""

    def __init__(self, rows: Rows) -> None:
        self._rows: Final = rows
        self._is_broken_off = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        self._is_broken_off = True  # until a row comes: the application may wait again after an error
        row = self._rows.next()
        self._is_broken_off = False
        if row is None:
            raise StopIteration
        return row

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Row:
        self._is_broken_off = True  # as above; also a task that was cancelled may wait again
        row = await self._rows.next_async()
        self._is_broken_off = False
        if row is None:
            raise StopAsyncIteration
        return row

    def __del__(self) -> None:
        if not self._is_broken_off:
            self._rows.leave()


def _not_in_rows(stream: str, places: Mapping[str, int]) -> NotFoundError:
    hint = did_you_mean(str(stream), places, 1)
    names = ", ".join(map(repr, places))
    return NotFoundError(f"the rows are of streams {names}, not of {stream!r}{hint}", stream=stream)


def _numbers(names: Sequence[str], desk: RowDesk) -> dict[str, int]:
    """Return name → number of the named streams, which the graph has; without names, of all graph outputs."""
    names = names or outputs_of(desk.plan)
    if not names:
        raise InvalidArgumentError('the graph has no output_stream; say which streams: graph.rows("a")')
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidArgumentError(f"rows: stream {twice!r} is named twice; name it once", stream=twice)
    numbers = {name: desk.plan.stream_ids[name] for name in names}
    desk.named.update(numbers.values())
    return numbers


def _limit(size: int | None, plan: Plan) -> int:
    if size is None:
        size = plan.max_queue_size or 1
    if size != -1 and size < 1:
        raise InvalidArgumentError(f"max_queue_size {size} of rows: must be at least 1, or -1 for no limit")
    return UNLIMITED if size < 0 else size
