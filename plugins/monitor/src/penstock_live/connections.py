"""What a connection may cost before anybody has shown the token: bytes, time, and how many there may be.

A request whose headers are not complete after 16 KiB is refused. A connection that has sent no whole request
for ten seconds is closed, also between two requests. One address may have 60 connections; a page takes two.
With the token too, a client that does not read what it is sent for ten seconds is let go.
"""

from __future__ import annotations

from collections import Counter
from logging import WARNING, LogRecord
from typing import TYPE_CHECKING, Any, Final

from h11 import LocalProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.log import get_logger

if TYPE_CHECKING:
    import asyncio

#: Bytes of a request line and its headers.
MOST_BYTES: Final = 16 * 1024
#: How long a request may take to arrive, in seconds.
PATIENCE_S: Final = 10.0
#: Gets what goes wrong here. Faults of clients are left out: strangers could fill the log with them.
_LOG: Final = get_logger(__name__)
_TOO_MANY: Final = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
#: Connections of one address.
_MOST_OF_ONE: Final = 60


def _is_of_client(record: LogRecord) -> bool:
    kind = record.exc_info[0] if record.exc_info else None
    return record.levelno <= WARNING or (kind is not None and issubclass(kind, LocalProtocolError))


_LOG.addFilter(lambda record: not _is_of_client(record))


def limited_protocol() -> type[H11Protocol]:
    """Return the protocol class of one server: its connections are counted together."""
    return type("LimitedProtocol", (_Limited,), {"counts": Counter[str]()})


class _Limited(H11Protocol):
    """A connection."""

    #: Address of a client → its connections. On the thread of the server alone.
    counts: Counter[str]
    _address = ""
    _deadline: asyncio.TimerHandle | None = None
    #: While the client does not read: when it is let go.
    _stall: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.logger = _LOG  # the messages of the base class go there too

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base has it
        """Count the connection; close it where its address has too many."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self.counts[self._address] += 1
        if self.counts[self._address] > _MOST_OF_ONE:
            transport.write(_TOO_MANY)
            transport.close()
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._expect_no_more()
        self._forget_stall()
        self.counts[self._address] -= 1
        if not self.counts[self._address]:
            del self.counts[self._address]
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Hold the answer, and let the client go if it goes on reading nothing."""
        super().pause_writing()
        self._forget_stall()
        self._look_again()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        super().resume_writing()
        self._forget_stall()

    def data_received(self, data: bytes) -> None:
        """Take bytes. What follows a request that is answered has its own time."""
        try:
            super().data_received(data)
        except LocalProtocolError:  # a fault of the client, in the middle of an answer
            self.transport.abort()
            return
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._expect_no_more()
        elif self._deadline is None:
            self._expect()

    def on_response_complete(self) -> None:
        """Wait for the next request, for a while."""
        super().on_response_complete()
        if not self.transport.is_closing() and self._deadline is None and self.cycle.response_complete:
            self._expect()

    def _look_again(self) -> None:
        """Look after a while whether the client has read anything."""
        left = self.transport.get_write_buffer_size()
        self._stall = self.loop.call_later(PATIENCE_S, self._look_at_stall, left)

    def _look_at_stall(self, before: int) -> None:
        if self.transport.get_write_buffer_size() < before:
            self._look_again()
        else:
            self.transport.abort()

    def _forget_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(PATIENCE_S, self.transport.abort)

    def _expect_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
