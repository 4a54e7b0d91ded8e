"""A web server on a thread of its own, with the limits of `connections`; it ends soon when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from penstock_live.connections import MOST_BYTES, limited_protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp

    from penstock_live.listening import TlsFiles

#: How long clients may take to read what is under way when the server is closed.
_GRACE_S: Final = 0.5
#: How often the server looks whether the interpreter is about to end.
_TICK_S: Final = 0.5
#: Requests at once; one page takes two.
_MOST: Final = 200


class WebServer:
    """Serves an application from the moment it is made until `close`.

    Args:
        application: what answers, behind a guard.
        listening: the socket, bound and listening. Closed with the server.
        tls: certificate and key; None for plain HTTP.
        ending: called on the server's event loop before the connections are closed.
        name: of the thread.
    """

    def __init__(
        self,
        application: ASGIApp,
        listening: socket.socket,
        tls: TlsFiles | None,
        ending: Callable[[], Awaitable[None]],
        name: str,
    ) -> None:
        self._server: Final = _Server(
            uvicorn.Config(
                application,
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
            ending,
        )
        self._thread: Final = threading.Thread(target=self._server.run, args=([listening],), name=name)
        self._thread.start()

    def close(self) -> None:
        """Tell the clients, close all connections, and wait for the thread. May be called again."""
        self._server.end()
        self._thread.join()


class _Server(uvicorn.Server):
    """uvicorn's server, which ends with the interpreter, and soon even if a client does not read."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._ending: Final = ending
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
        await self._ending()
        asyncio.get_running_loop().call_later(_GRACE_S, self._abort)
        await super().shutdown(sockets)

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            transport: Any = getattr(connection, "transport", None)
            with contextlib.suppress(AttributeError):  # a connection that is not made yet has none
                transport.abort()
