"""`serve(graph)`: a server of one graph, on a thread of its own.

The server reads the graph through a `penstock_monitor.Monitor` and never waits for it, nor the graph for
the server. It keeps the graph alive no longer than the application does.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from typing import TYPE_CHECKING, Any, Final, Self

import uvicorn

from penstock.errors import InvalidArgumentError, PenstockError
from penstock_live.address import TlsFiles, listen
from penstock_live.application import Application
from penstock_live.connections import MOST_BYTES, limited_protocol
from penstock_live.feed import SHORTEST_S, Feed
from penstock_live.thumbnails import Thumbnails
from penstock_monitor import Budget, Monitor

if TYPE_CHECKING:
    import socket
    from types import TracebackType

    from penstock import CalculatorGraph
    from penstock_live.address import Address
    from penstock_live.feed import Watched

#: How long clients may take to read what is under way when the server is closed.
_GRACE_S: Final = 0.5
#: How long to wait for the last reading, which is due after a third of a second but for large graphs.
_LAST_S: Final = 2.0
#: How often the server looks whether the interpreter is about to end.
_TICK_S: Final = 0.5
#: Requests at once; one page takes two.
_MOST: Final = 200
_SHORTEST_TOKEN: Final = 16
#: Of one processor, that server and monitor take at most. A graph loses up to twice as much: to threads that
#: wake up, to the start of a connection, to the caches that it finds cold (`benchmarks/live.py`).
_SHARE: Final = 0.009


def serve(
    graph: CalculatorGraph,
    port: int = 0,
    address: str = "127.0.0.1",
    token: str | None = None,
    tls: TlsFiles | None = None,
) -> Server:
    """Serve a graph to browsers, before, during or after its runs, until `close`.

    The page shows how busy each node is only of runs that are timed: call `graph.set_timing()` before the
    run. `penstock run --serve` does.

    Args:
        graph: is only looked at, and not kept alive.
        port: 0 for any that is free.
        address: of this machine, where it listens; others than loopback ones need `tls`.
        token: what requests must have in their query; None makes one of 32 random characters.
        tls: certificate and key; None for plain HTTP.

    Raises:
        InvalidArgumentError: the port is not between 0 and 65535, the token is shorter than 16 characters,
            the TLS files cannot be used, or others can reach the address and there are none. Nothing is left
            behind.
        UnavailableError: the port is taken, or the machine has no such address. Nothing is left behind.
    """
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise InvalidArgumentError(
            f"a token of {len(token)} characters could be guessed: it must have at least {_SHORTEST_TOKEN}; "
            "without any, one is made"
        )
    if tls is not None:
        tls.check()
    listening, place = listen(address, port, is_tls=tls is not None)
    try:
        return serve_on(listening, place, graph, token, tls)
    except BaseException:
        listening.close()
        raise


def serve_on(
    listening: socket.socket,
    place: Address,
    graph: CalculatorGraph,
    token: str | None = None,
    tls: TlsFiles | None = None,
) -> Server:
    """Serve a graph on a socket that listens already; see `serve`. The server closes the socket."""
    budget = Budget(_SHARE)
    monitor = Monitor(graph, interval_s=SHORTEST_S, budget=budget)
    try:
        return Server(listening, place, graph.binary_config, monitor, budget=budget, token=token, tls=tls)
    except BaseException:
        monitor.close()
        raise


class Server:
    """Serves one graph. Made by `serve`; a context manager, which closes it.

    Args:
        listening: the socket, bound and listening. Closed with the server.
        address: where that is.
        config: the graph as it was checked, in binary form.
        monitor: of the graph. Closed with the server.
        budget: shared with the monitor; None for one of its own.
        token: what requests must have in their query; None makes one.
        tls: certificate and key; None for plain HTTP.
        title: of the page.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        listening: socket.socket,
        address: Address,
        config: bytes,
        monitor: Watched,
        *,
        budget: Budget | None = None,
        token: str | None = None,
        tls: TlsFiles | None = None,
        title: str = "Penstock",
    ) -> None:
        token = token or secrets.token_urlsafe(24)
        #: The address of the page, with the token. A browser that has it shows all that the graph handles.
        self.url: Final = f"{address.origin}/?token={token}"
        self._monitor: Final = monitor
        budget = Budget(_SHARE) if budget is None else budget
        self._feed: Final = Feed(monitor, budget)
        self._thumbnails: Final = Thumbnails(monitor, budget)
        self._application: Final = Application(config, title, self._feed, self._thumbnails)
        self._server: Final = _Server(
            uvicorn.Config(
                self._application.guarded(address, token),
                access_log=False,  # it would have the token
                h11_max_incomplete_event_size=MOST_BYTES,
                http=limited_protocol(),
                interface="asgi3",
                lifespan="off",
                limit_concurrency=_MOST,
                log_config=None,
                loop="asyncio",
                proxy_headers=False,
                server_header=False,
                ssl_certfile=None if tls is None else tls.certificate,
                ssl_keyfile=None if tls is None else tls.key,
                ws="none",
            ),
            self._feed,
        )
        self._thread: Final = threading.Thread(
            target=self._server.run, args=([listening],), name="penstock-live"
        )
        self._thread.start()

    @property
    def was_opened(self) -> bool:
        """Whether a browser has opened the page."""
        return self._application.opened > 0

    def close(self) -> None:
        """Stop: tell the pages, close all connections, and wait for the thread. May be called again.

        Pages that are open get a reading that is taken now. The graph goes on.
        """
        if self._feed.has_clients:
            with contextlib.suppress(PenstockError):  # a monitor that has failed has no last reading
                self._monitor.wait(self._monitor.reading().number, _LAST_S)
        self._monitor.close()
        self._server.end()
        self._thread.join()
        self._thumbnails.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(uvicorn.Server):
    """uvicorn's server, which ends with the interpreter, and soon even if a client does not read."""

    def __init__(self, config: uvicorn.Config, feed: Feed) -> None:
        super().__init__(config)
        self._feed: Final = feed
        self._has_ended: Final = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def end(self) -> None:
        """Let `run` return soon. Called by any thread, also before it has begun."""
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended by itself
                self._loop.call_soon_threadsafe(self._has_ended.set)

    async def main_loop(self) -> None:
        """Wait for the end. The base class looks for it ten times a second: 0.2 % of a processor."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):  # each tenth time, from 0, sets the date of the answers
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await self._has_ended.wait()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end: asked to, or because the interpreter ends, which waits for this thread."""
        return await super().on_tick(counter) or not threading.main_thread().is_alive()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the clients, and end all connections."""
        await self._feed.close()
        asyncio.get_running_loop().call_later(_GRACE_S, self._abort)
        await super().shutdown(sockets)

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            transport: Any = getattr(connection, "transport", None)
            with contextlib.suppress(AttributeError):  # a connection that is not made yet has none
                transport.abort()
