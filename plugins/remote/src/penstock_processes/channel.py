"""Messages over a socket: one system call to send a small one, and one to receive it."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from penstock_remote.api import THIS_MACHINE, Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Size of the content, kind and number of a message.
_HEAD: Final = struct.Struct("=QBQ")
#: What is asked for at once; few small messages come at the same time.
_CHUNK: Final = 1 << 14
#: From this size on a content is not copied behind its head.
_LARGE: Final = 1 << 16
#: The system takes a message below this size whole or not at all.
_WHOLE: Final = 1 << 14
#: How long nothing comes until the end that receives looks whether the other one lives, in seconds.
_QUIET_S: Final = 1
#: A time, as the system's calls take it: seconds and microseconds.
_TIME: Final = struct.Struct("@ll")


class NoRoomError(MemoryError):
    """There is no memory for the content of a message.

    Attributes:
        kind, number: of the message.
    """

    def __init__(self, kind: int, number: int, size: int) -> None:
        super().__init__(f"there is no memory for a message of {size} bytes")
        self.kind: Final = kind
        self.number: Final = number


class Channel:
    """One end of a connection.

    Its user sees to it that one thread at a time sends, and one receives.

    Args:
        end: a connected stream socket, which belongs to the channel from now on.
        when_quiet: called on the thread that receives when nothing has come for `_QUIET_S`, and then again.
    """

    def __init__(self, end: socket.socket, when_quiet: Callable[[], object] | None = None) -> None:
        self.socket: Final = end
        self._when_quiet: Final = when_quiet
        if when_quiet is not None:
            # Of the system, not of Python's socket, which would ask the system twice for each message.
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIME.pack(_QUIET_S, 0))
        #: The beginning of the next message, and perhaps more.
        self._have = b""

    def send(self, kind: int, number: int, content: bytes) -> None:
        """Send a message.

        Raises:
            OSError: the other end is closed.
        """
        head = _HEAD.pack(len(content), kind, number)
        if len(content) < _LARGE:
            self.socket.sendall(head + content)
        else:
            self.socket.sendall(head)
            self.socket.sendall(content)

    def receive(self) -> tuple[int, int, memoryview]:
        """Wait for a message; return its kind, its number and its content.

        Raises:
            EOFError: the other end is closed.
            OSError: this end is.
            NoRoomError: there is no memory for the content, which is dropped; the next message can be
                received.
        """
        have = self._have
        while len(have) < _HEAD.size:
            have += self._more()
        size, kind, number = _HEAD.unpack_from(have)
        end = _HEAD.size + size
        if len(have) >= end:
            self._have = have[end:]
            return kind, number, memoryview(have)[_HEAD.size : end]
        self._have = b""
        got = len(have) - _HEAD.size
        try:
            content = memoryview(bytearray(size))
        except MemoryError:
            self._drop(size - got)
            raise NoRoomError(kind, number, size) from None
        content[:got] = have[_HEAD.size :]
        while got < size:
            got += self._fill(content[got:])
        return kind, number, content

    def end_input(self) -> None:
        """Let `receive` return what has come, and then raise `EOFError`, though the other end is open."""
        self.socket.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        """Close this end; a thread that sends or receives through it gets an `OSError` or `EOFError`."""
        with suppress(OSError):  # it is closed already, or the other end is
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def _more(self) -> bytes:
        while True:
            try:
                chunk = self.socket.recv(_CHUNK)
            except BlockingIOError:
                self._look()
                continue
            if not chunk:
                raise EOFError
            return chunk

    def _fill(self, room: memoryview) -> int:
        """Receive into a part of a content; return how many bytes came."""
        while True:
            try:
                count = self.socket.recv_into(room)
            except BlockingIOError:
                self._look()
                continue
            if not count:
                raise EOFError
            return count

    def _drop(self, size: int) -> None:
        """Receive the rest of a content, and forget it."""
        room = memoryview(bytearray(min(size, _CHUNK)))
        while size > 0:
            size -= self._fill(room[: min(size, _CHUNK)])

    def _look(self) -> None:
        if self._when_quiet is not None:
            self._when_quiet()


class Outbox:
    """Sends messages through a channel without ever waiting, from any thread.

    What the socket does not take at once, a thread sends. So a thread that takes messages from the other end
    may send too: else both ends could wait for each other to receive. The main thread leaves a message of
    more than 16 KiB to that thread, because Ctrl-C could break it off in the middle.

    Args:
        channel: nobody else sends through it.
        name: of the thread.
        machine: whose thread it is.
    """

    def __init__(self, channel: Channel, name: str, machine: Machine = THIS_MACHINE) -> None:
        self._socket: Final = channel.socket
        self._lock: Final = machine.lock()
        self._news: Final = machine.condition(self._lock)
        #: What is still to be sent, oldest first; the first one may be under way.
        self._waiting: Final[deque[bytes | memoryview]] = deque()
        self._is_closed = False
        self._thread: Final = machine.thread(self._serve, name)
        self._thread.start()

    def send(self, kind: int, number: int, content: bytes) -> None:
        """Send a message, now or soon.

        Raises:
            OSError: the other end is closed.
        """
        head = _HEAD.pack(len(content), kind, number)
        parts = [head + content] if len(content) < _LARGE else [head, content]
        is_whole = len(content) < _WHOLE or threading.current_thread() is not threading.main_thread()
        with self._lock:
            if self._is_closed:
                raise BrokenPipeError
            left = self._send_now(parts) if is_whole and not self._waiting else parts
            if left:
                self._waiting.extend(left)
                self._news.notify()

    def _send_now(self, parts: Sequence[bytes]) -> Sequence[bytes | memoryview]:
        """Send what the socket takes at once; return what is left."""
        for number, part in enumerate(parts):
            try:
                count = self._socket.send(part, socket.MSG_DONTWAIT)
            except BlockingIOError:
                count = 0
            if count < len(part):
                return [memoryview(part)[count:], *parts[number + 1 :]]
        return ()

    def close(self) -> None:
        """Drop what has not been sent, and let the thread end. The other end is closed."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            self._news.notify()

    def join(self, timeout: float) -> None:
        """Wait until the thread has ended, at most so many seconds."""
        self._thread.join(timeout)

    def _serve(self) -> None:
        while True:
            with self._lock:
                while not (self._waiting or self._is_closed):
                    self._news.wait()  # no time-out: the thread that receives closes the box whatever ends it
                if self._is_closed:
                    return
                first = self._waiting[0]
            try:
                self._socket.sendall(first)
            except OSError:
                return  # the other end is closed, which the thread that receives sees
            del first
            with self._lock:
                if self._waiting:
                    self._waiting.popleft()
