"""`OutputStreamPoller`: takes the packets of a stream one by one, whenever the application wants."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock.engine.packet import Packet
from penstock.engine.stream import UNLIMITED, StreamObserver
from penstock.errors import FailedPreconditionError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from penstock.engine.schedule import Schedule
    from penstock.runtime.runner.runner import Runner


#: In place of a packet: there was one, and another thread has it.
_TAKEN: Final = Packet()


def _may_go_on(runner: Runner, observer: StreamObserver) -> bool:
    """Return whether a packet waits, or no packet will come. Called with the run's lock held."""
    return bool(observer.queue or observer.is_done or runner.schedule.errors or runner.is_over)


class OutputStreamPoller:
    """Returns the packets of one stream, one for each call of `next`. Made by the graph.

    Packets wait in a queue of the poller, which throttles the graph only after `set_max_queue_size`.
    `for packet in poller` and `async for packet in poller` end with the stream. Several threads and tasks may
    use a poller: each packet goes to one of them, and the end of the stream to all.
    """

    def __init__(self, stream: str, *, wants_bounds: bool) -> None:
        self.stream: Final = stream
        self._what: Final = f"the next packet of stream {stream!r}"
        self._wants_bounds: Final = wants_bounds
        self._max_size = UNLIMITED
        #: The run that it reads, and its queue there.
        self._run: tuple[Runner, StreamObserver] | None = None
        #: Its queue in a run that is being built.
        self._next: StreamObserver | None = None

    def attach(self) -> StreamObserver:
        """Return a new queue for a run that is being built. For the graph."""
        self._next = made = StreamObserver(self.stream, self, wants_bounds=self._wants_bounds, is_poller=True)
        made.max_size = self._max_size
        return made

    def follow(self, runner: Runner | None) -> None:
        """Read from this run from now on; None: from no run, until the next begins. For the graph."""
        made = self._next
        self._run = None if runner is None or made is None else (runner, made)

    def next(self, timeout: float | None = None) -> Packet | None:
        """Return the next packet; wait for it at most `timeout` seconds, or without limit if None.

        Returns None when the stream has ended, or the run has failed, and no packet is left.

        Raises:
            WaitTimeoutError: nothing came in time; says what the run waits for.
            FailedPreconditionError: no run has begun, or the call comes from inside the run.
        """
        runner, observer = self._live()
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            if not observer.queue:
                runner.wait(partial(_may_go_on, runner, observer), timeout, self._what)
            packet = self._take(runner, observer)
            if packet is not _TAKEN:
                return packet
            timeout = None if deadline is None else max(0.0, deadline - monotonic())

    async def next_async(self, timeout: float | None = None) -> Packet | None:  # noqa: ASYNC109  # its error tells why
        """Return the next packet, as `next`, without blocking the event loop.

        If the task is cancelled here, no packet is lost.

        Raises:
            FailedPreconditionError: nodes run inside the application's waits, so that nothing runs them.
            As `next`.
        """
        from penstock.runtime.awaiting import refuse, wait  # brings asyncio

        runner, observer = self._live()
        refuse(runner, self._what)
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            if not observer.queue:
                await wait(runner, partial(_may_go_on, runner, observer), timeout, self._what)
            packet = self._take(runner, observer)
            if packet is not _TAKEN:
                return packet
            timeout = None if deadline is None else max(0.0, deadline - monotonic())

    def _live(self) -> tuple[Runner, StreamObserver]:
        if self._run is None:
            raise FailedPreconditionError(
                f"poller of stream {self.stream!r}: no run has begun; call start_run() first"
            )
        return self._run

    def _take(self, runner: Runner, observer: StreamObserver) -> Packet | None:
        """Return the packet that waits, None at the end, or `_TAKEN` where another thread was faster."""

        def take(schedule: Schedule) -> Packet | None:
            if observer.queue:
                return schedule.polled(observer)
            return None if _may_go_on(runner, observer) else _TAKEN

        packet: Packet | None = runner.change(take)
        return packet

    def __iter__(self) -> Iterator[Packet]:
        while (packet := self.next()) is not None:
            yield packet

    async def __aiter__(self) -> AsyncIterator[Packet]:
        while (packet := await self.next_async()) is not None:
            yield packet

    def queue_size(self) -> int:
        """Return how many packets wait."""
        run = self._run
        return 0 if run is None else len(run[1].queue)

    def set_max_queue_size(self, size: int) -> None:
        """Throttle the graph's sources while `size` packets wait here; -1: never. Holds for later runs too.

        Raises:
            InvalidArgumentError: `size` is below -1.
        """
        if size < -1:
            raise InvalidArgumentError(
                f"the poller's max_queue_size {size}: must be at least 0, or -1 for no limit"
            )
        self._max_size = limit = UNLIMITED if size < 0 else size
        run, made = self._run, self._next
        if made is not None and (run is None or run[1] is not made):
            made.max_size = limit
        if run is not None:
            runner, observer = run
            runner.change(lambda schedule: schedule.limit(observer, limit))

    def reset(self) -> None:
        """Drop the packets that wait."""
        run = self._run
        if run is not None:
            runner, observer = run
            runner.change(lambda schedule: schedule.forget(observer))
