"""Keeps LiteRT's notice that XNNPACK is used off the terminal.

LiteRT writes it once in a process, with C's `fprintf(stderr, ...)`, and its Python package has no switch for
it. Descriptor 2 is left alone: programs that other threads start then would inherit what is put in its place.
C's variable `stderr` belongs to this process only: for the moment it is a stream into memory, and what else
was written there is written to descriptor 2 afterwards. Python and its `faulthandler` do not use that.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTICE: Final = b"INFO: Created TensorFlow Lite XNNPACK delegate for CPU."
_STDERR: Final = 2
_LOCK: Final = Lock()
#: Whether a model was prepared with XNNPACK in this process: the notice does not come again.
_was_prepared = False


@contextmanager
def without_notice() -> Iterator[None]:
    """Prepare a model with XNNPACK, in this process the first without the notice; later ones as they are.

    Threads that prepare a model meanwhile wait. Where C's library has no such variable, as on Windows and
    macOS, the notice is written.
    """
    global _was_prepared  # noqa: PLW0603  # the notice comes once in a process
    if _was_prepared:
        yield
        return
    with _LOCK:
        stream = _MemoryStream.made() if _may_come() else None
        if stream is None:
            yield
        else:
            with stream.as_stderr():
                yield
        _was_prepared = True


def _may_come() -> bool:
    return not _was_prepared  # another thread may have prepared a model since


class _MemoryStream:
    """A stream of C into memory. It is never closed: a thread of C may have taken it for stderr."""

    def __init__(self, library: Any, variable: ctypes.c_void_p) -> None:
        self._library = library
        self._variable = variable
        self._data = ctypes.c_char_p()
        self._size = ctypes.c_size_t()
        library.open_memstream.restype = ctypes.c_void_p
        self._stream = library.open_memstream(ctypes.byref(self._data), ctypes.byref(self._size))

    @classmethod
    def made(cls) -> _MemoryStream | None:
        """Return a stream, or None where C's library has no variable `stderr` or no memory."""
        if sys.platform != "linux":
            return None
        library = ctypes.CDLL(None)
        try:
            variable = ctypes.c_void_p.in_dll(library, "stderr")
            stream = cls(library, variable)
        except (ValueError, AttributeError):  # no such name
            return None
        return stream if stream._stream else None

    @contextmanager
    def as_stderr(self) -> Iterator[None]:
        """Let C write to this stream what it writes to stderr; forward it afterwards."""
        before = self._variable.value
        self._variable.value = self._stream
        try:
            yield
        finally:
            self._variable.value = before
            self._forward()

    def _forward(self) -> None:
        """Write what came, but for the notice, to descriptor 2."""
        self._library.fflush(ctypes.c_void_p(self._stream))
        lines = ctypes.string_at(self._data, self._size.value).splitlines(keepends=True)
        with suppress(OSError):  # as `fprintf`, whose callers do not look at what it returns
            os.write(_STDERR, b"".join(line for line in lines if line.strip() != _NOTICE))
