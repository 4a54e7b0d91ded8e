"""The newest reading as JSON, for any number of clients at once.

A reading is encoded once, however many clients there are, and not at all where there is none. A client
that is slow gets the newest reading when it is ready for one, and misses those between; nobody waits for
it. All methods but `close` run on the server's event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from penstock.errors import PenstockError
from penstock_live.helpers import Helpers
from penstock_live.journal import Journal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from penstock import Packet
    from penstock_monitor import Budget, Reading

#: Between two events of a client: at most three a second. A stall begins after a second, so its culprit is
#: shown within 2 s of the last packet.
SHORTEST_S: Final = 0.33
#: A comment is sent after so long without an event, so that both ends notice when the other one is gone.
HEARTBEAT_S: Final = 10.0
#: How long one look for a new reading lasts.
_LOOK_S: Final = 1.0
#: The number of no reading.
_NO_NUMBER: Final = -1
_HEARTBEAT: Final = b": no news\n\n"
_CLOSED: Final = "the server is closed"


class Watched(Protocol):
    """What a server reads: a `penstock_monitor.Monitor`."""

    def reading(self) -> Reading:
        """Return the newest reading."""

    def wait(self, number: int, timeout: float | None = None) -> Reading | None:
        """Return a reading after that number; None on time-out, and when no more will come."""

    def peek_all(
        self, streams: Collection[str], timeout: float = 0.0
    ) -> dict[str, Packet | PenstockError | None]:
        """Return the next packet of each stream; where none comes in time the last one, or None."""

    def close(self) -> None:
        """End it."""


def encoded(reading: Reading) -> bytes:
    """Return a reading as JSON: the text of `attrs.asdict(reading)`. Numbers that are not finite are null."""
    return msgspec.json.encode(reading)


class Feed:
    """Readings of one monitor for clients.

    Args:
        monitor: closed by its owner, before this. It paces the readings.
        budget: gets the cost of the event loop from one reading to the next.
        journal: its changes are sent after the readings; None for one that stays empty.
    """

    def __init__(self, monitor: Watched, budget: Budget, journal: Journal | None = None) -> None:
        self._monitor: Final = monitor
        self._budget: Final = budget
        self._journal: Final = Journal() if journal is None else journal
        #: Processor time of the event loop, in seconds, when the last reading was given out.
        self._worked_s = 0.0
        #: One waits for the next reading, one asks for the newest.
        self._helpers: Final = Helpers(2, "penstock-live-feed")
        self._news: Final = asyncio.Condition()
        self._newest = b""
        self._number = _NO_NUMBER
        self._clients = 0
        self._pump: asyncio.Task[None] | None = None
        self._closed: Final = asyncio.Event()
        #: Why no more readings come, in a line.
        self._reason = _CLOSED

    @property
    def has_clients(self) -> bool:
        """Whether anybody gets events."""
        return self._clients > 0

    async def newest(self) -> bytes:
        """Return the newest reading."""
        return encoded(await self._asked())

    async def events(self) -> AsyncIterator[bytes]:
        """Yield server-sent events for one client, until it goes or the feed is closed."""
        self._clients += 1
        self._start()
        try:
            seen, told = _NO_NUMBER, 0
            while self._number != seen or not self._closed.is_set():
                await self._wait(seen)
                if self._number != seen:
                    seen = self._number
                    yield b"data: " + self._newest + b"\n\n"
                    if self._journal.version > told:
                        told, now_s, changed = self._journal.since(told)
                        news = msgspec.json.encode({"now_s": now_s, "events": changed})
                        yield b"event: journal\ndata: " + news + b"\n\n"
                elif not self._closed.is_set():
                    yield _HEARTBEAT
            yield f"event: end\ndata: {self._reason}\n\n".encode()
        finally:
            self._clients -= 1

    async def close(self) -> None:
        """Give the clients the last reading, and tell them that no more will come."""
        self._stop()
        if self._clients:
            with contextlib.suppress(PenstockError):  # there is none
                await self._publish(await self._asked())
        await self._end()
        self._helpers.close()

    async def _end(self) -> None:
        self._closed.set()
        async with self._news:
            self._news.notify_all()

    async def _asked(self) -> Reading:
        return await self._helpers.call(self._monitor.reading)

    async def _wait(self, seen: int) -> None:
        """Wait for a reading after one, for the end, or until a heartbeat is due."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S), self._news:
                await self._news.wait_for(lambda: self._number != seen or self._closed.is_set())

    def _start(self) -> None:
        """Look for readings, beginning with the newest, unless that is done already.

        It ends by itself a while after the last client has gone: a call that waits cannot be taken back.
        """
        if self._pump is None:
            self._number = _NO_NUMBER
            self._pump = asyncio.create_task(self._run())

    def _stop(self) -> None:
        if self._pump is not None:
            self._pump.cancel()
            self._pump = None

    async def _publish(self, reading: Reading) -> None:
        worked_s, self._worked_s = self._worked_s, thread_time()
        self._budget.spent("serving", self._worked_s - worked_s)
        async with self._news:
            self._newest, self._number = encoded(reading), reading.number
            self._news.notify_all()

    async def _run(self) -> None:
        try:
            await self._publish(await self._asked())
            while self._clients:
                await self._look()
            self._pump = None
        except PenstockError as error:  # the monitor has failed
            self._reason = " ".join(str(error).split())
            await self._end()

    async def _look(self) -> None:
        """Publish the next reading, or none if none comes soon."""
        began = monotonic()
        reading = await self._helpers.call(partial(self._monitor.wait, self._number, _LOOK_S))
        if reading is not None:
            await self._publish(reading)
        # also where the monitor is over, and says None at once
        await asyncio.sleep(max(0.0, SHORTEST_S - (monotonic() - began)))
