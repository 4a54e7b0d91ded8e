"""A connection to a server that can be ended at any moment, with libav at its other end.

libav cannot be interrupted while it waits for a server. So it connects to a port of this machine, behind
which a thread of ours passes its bytes on, by TLS where the address asks for that. When the time for an
answer is up, when the server takes no more, or when it is told to, the relay closes both ends, and libav
returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import threading
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock.errors import UnavailableError
from penstock_video.streaming.hosts import resolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_video.streaming.destination import Destination

CLOSED: Final = "the server closed the connection"
ENDED: Final = "it was ended"
_CHUNK: Final = 65_536
#: Bytes that wait for the server: in the system's buffer, and in front of it. Much more would be seconds of a
#: video that is no longer the newest.
_SYSTEM_BYTES: Final = 131_072
_WAITING_BYTES: Final = 65_536
#: How often a wait looks whether it is to end, and how long the last bytes may take at the end, seconds.
_LOOK_S: Final = 0.05
_LAST_S: Final = 0.5


class Relay:
    """One connection. Made by one thread, which also calls `connect`; `close` may be called by any.

    Args:
        place: the server.
        open_s: seconds until the server must be connected and `settled` be called.
        stall_s: seconds that the server may take no bytes.
        is_over: whether to give up; asked often.
    """

    def __init__(
        self, place: Destination, open_s: float, stall_s: float, is_over: Callable[[], bool]
    ) -> None:
        self._place: Final = place
        self._open_s: Final = open_s
        self._stall_s: Final = stall_s
        self._is_over: Final = is_over
        self._deadline: Final = monotonic() + open_s
        self._lock: Final = threading.Lock()
        self._failure = ""
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        #: Set when the server is connected, and at the end.
        self._ready: Final = threading.Event()
        #: Whether the server takes what comes.
        self._is_clear: Final = threading.Event()
        self._is_clear.set()
        self._thread: threading.Thread | None = None

    @property
    def failure(self) -> str:
        """Why the connection has ended, in words; "" while it stands."""
        return self._failure

    def connect(self) -> int:
        """Connect to the server, and return the port of this machine that leads there.

        Raises:
            UnavailableError: the server refuses, there is no such host, or the time is up.
        """
        found = resolved(self._place.host, self._place.port, socket.SOCK_STREAM, self._open_s, self._is_over)
        listening = socket.create_server(("127.0.0.1", 0), backlog=1)
        listening.setblocking(False)  # noqa: FBT003  # the only argument
        port: int = listening.getsockname()[1]
        self._thread = threading.Thread(
            target=self._run, args=(listening, found[1]), name="penstock-relay", daemon=True
        )
        self._thread.start()
        while not self._ready.wait(_LOOK_S):
            if self._is_over():
                self.close()
        if self._failure:
            self.close()
            raise UnavailableError(self._failure)
        return port

    def settled(self) -> None:
        """Say that the server has answered all that it is asked at the beginning."""
        with self._lock:
            if self._loop is not None and self._timer is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._timer.cancel)

    def wait_until_clear(self) -> None:
        """Wait until the server takes bytes.

        Raises:
            UnavailableError: the connection has ended, or ends.
        """
        while not self._is_clear.wait(_LOOK_S) and not self._failure:
            if self._is_over():
                raise UnavailableError("the relay of the live stream was given up")
        if self._failure:
            raise UnavailableError(self._failure)

    def close(self) -> None:
        """End the connection, and wait for the thread. May be called again."""
        self.abort()
        if self._thread is not None:
            self._thread.join()

    def abort(self) -> None:
        """End the connection soon, without waiting for that. Called by any thread."""
        with self._lock:
            self._is_closed = True
            if self._loop is not None and self._task is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._task.cancel)

    # --- on the thread of the relay -----------------------------------------------------------------

    def _run(self, listening: socket.socket, server: tuple[str, int]) -> None:
        try:
            # a loop of selectors, on Windows too: the accepted connection must not get lost
            with listening, asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._serve(listening, server))
        except asyncio.CancelledError:
            pass
        except OSError as error:
            self._fail(_words(error))
        finally:
            self._fail(ENDED)
            self._is_clear.set()
            self._ready.set()

    def _fail(self, why: str) -> None:
        """Note the first reason."""
        with self._lock:
            self._failure = self._failure or why

    async def _serve(self, listening: socket.socket, server: tuple[str, int]) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            self._loop, self._task = loop, asyncio.current_task()
            if self._is_closed:
                return
            self._timer = loop.call_at(loop.time() + self._deadline - monotonic(), self._time_is_up)
        reader, writer = await asyncio.open_connection(
            server[0],
            server[1],
            ssl=ssl.create_default_context() if self._place.is_secure else None,
            server_hostname=self._place.host if self._place.is_secure else None,
        )
        try:
            _limit(writer, self._stall_s)
            self._ready.set()
            own_reader, own_writer = await asyncio.open_connection(sock=await _accepted(listening))
            try:
                await self._pass_on(reader, writer, own_reader, own_writer)
            finally:
                own_writer.transport.abort()
        finally:
            writer.transport.abort()

    def _time_is_up(self) -> None:
        self._fail(f"it did not answer within {self._open_s:g} s")
        if self._task is not None:
            self._task.cancel()

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        own_reader: asyncio.StreamReader,
        own_writer: asyncio.StreamWriter,
    ) -> None:
        """Pass bytes on in both directions until one end closes."""
        up = asyncio.create_task(self._up(own_reader, writer))
        down = asyncio.create_task(_down(reader, own_writer))
        try:
            done, _ = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            if down in done and up not in done:
                await down
                self._fail(CLOSED)
            else:
                await up
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)

    async def _up(self, own_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await own_reader.read(_CHUNK):
            writer.write(data)
            self._is_clear.clear()
            try:
                async with asyncio.timeout(self._stall_s):
                    await writer.drain()
            except TimeoutError:
                self._fail(f"it took no data for {self._stall_s:g} s")
                return
            self._is_clear.set()
        with contextlib.suppress(TimeoutError, OSError):  # libav has said all
            async with asyncio.timeout(_LAST_S):
                writer.close()
                await writer.wait_closed()


async def _accepted(listening: socket.socket) -> socket.socket:
    """Return the first connection; one that comes while this is cancelled is closed."""
    loop = asyncio.get_running_loop()
    coming: asyncio.Future[socket.socket] = loop.create_future()

    def take() -> None:
        loop.remove_reader(listening)
        if not coming.done():
            coming.set_result(listening.accept()[0])

    loop.add_reader(listening, take)
    try:
        return await coming
    except asyncio.CancelledError:
        loop.remove_reader(listening)
        if not coming.cancelled():
            coming.result().close()
        raise


async def _down(reader: asyncio.StreamReader, own_writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        own_writer.write(data)
        await own_writer.drain()


def _limit(writer: asyncio.StreamWriter, stall_s: float) -> None:
    """Bound what waits for the server, and let the system notice a server that is gone."""
    writer.transport.set_write_buffer_limits(_WAITING_BYTES)
    connected = writer.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_BYTES)
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux has it
    if option is not None:
        connected.setsockopt(socket.IPPROTO_TCP, option, round(stall_s * 1000))


def _words(error: OSError) -> str:
    """Return what an error of a connection says, without the address in it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    if error.errno == errno.ECONNREFUSED:
        return "connection refused"
    return os.strerror(error.errno).lower() if error.errno else str(error)
