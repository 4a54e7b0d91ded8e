"""Messages over a socket: one system call to send a small one, and one to receive it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket

#: Size of the content, kind and number of a message.
_HEAD: Final = struct.Struct("=QBQ")
#: What is asked for at once; few small messages come at the same time.
_CHUNK: Final = 1 << 14
#: From this size on a content is not copied behind its head.
_LARGE: Final = 1 << 16


class Channel:
    """One end of a connection.

    Its user sees to it that one thread at a time sends, and one receives.

    Args:
        end: a connected stream socket, which belongs to the channel from now on.
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket: Final = end
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
        content = memoryview(bytearray(size))
        got = len(have) - _HEAD.size
        content[:got] = have[_HEAD.size :]
        while got < size:
            count = self.socket.recv_into(content[got:])
            if not count:
                raise EOFError
            got += count
        return kind, number, content

    def close(self) -> None:
        """Close this end."""
        self.socket.close()

    def _more(self) -> bytes:
        chunk = self.socket.recv(_CHUNK)
        if not chunk:
            raise EOFError
        return chunk
