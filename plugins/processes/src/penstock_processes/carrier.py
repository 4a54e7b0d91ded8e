"""Payloads to bytes and back, with large buffers in shared memory.

Each end of a link has a `Carrier`. A message is a pickle, without the buffers of at least `IN_ARENA` bytes,
and a table that says where these lie: in a block of an arena. The end that sends a block keeps it, under a
token, until the other end says that its last view is dead; tokens to give back ride on the next message.
"""

from __future__ import annotations

import ctypes
import io
import itertools
import pickle
import struct
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_processes.plain_payloads import PlainUnpickler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock_processes.arena import Arena, OwnArena

#: Buffers of at least so many bytes go through an arena: copying fewer through a socket costs less than a
#: block.
IN_ARENA: Final = 4096

_COUNTS: Final = struct.Struct("=HH")
_PLACE: Final = struct.Struct("=QIQQ")
_TOKEN: Final = struct.Struct("=Q")
_MOST_TOKENS: Final = 4096
_MOST_PLACES: Final = 0xFFFF
#: Kinds of elements that one character names.
_PLAIN_KINDS: Final = frozenset("biufc")


def _reduced(array: Any) -> Any:
    """Return how an array is made again, in half the time that NumPy's own way takes; or NotImplemented."""
    kind = array.dtype
    if kind.kind in _PLAIN_KINDS and kind.isnative and array.flags.c_contiguous:
        return np.ndarray, (array.shape, kind.char, pickle.PickleBuffer(array))
    return NotImplemented


class _ArrayPickler(pickle.Pickler):
    """Packs arrays faster than `pickle.dumps`, and all else slower."""

    def reducer_override(self, obj: Any) -> Any:
        return _reduced(obj) if obj.__class__ is np.ndarray else NotImplemented


class Carrier:
    """One end of a link.

    Args:
        own: where this end puts buffers; None: all go in the message.
        arenas: number → each arena that buffers may lie in; it may grow.
        is_plain: whether only plain payloads pass, see `Codec.NO_PICKLE`.
    """

    def __init__(self, own: OwnArena | None, arenas: Mapping[int, Arena], *, is_plain: bool = False) -> None:
        self._own = own
        self._arenas = arenas
        self._is_plain: Final = is_plain
        self._lent: Final[dict[int, Any]] = {}
        self._tokens: Final = itertools.count()
        #: Whether the last message had large buffers, so that the next one may have arrays.
        self._has_buffers = False
        #: Tokens of blocks of the other end whose last view here is dead.
        self._dead: Final[deque[int]] = deque()

    def dumps(self, content: object) -> bytes:
        """Return a message with a content.

        Raises:
            Exception: what pickling raises; nothing is kept then.
        """
        places: list[tuple[int, int, int, int]] = []

        def place(buffer: pickle.PickleBuffer) -> bool:
            try:
                view = buffer.raw()
            except BufferError:  # not contiguous: pickle copies it
                return True
            if view.nbytes < IN_ARENA or len(places) == _MOST_PLACES:
                return True
            found = self._place(view)
            if found is None:
                return True
            places.append(found)
            return False

        try:
            if self._has_buffers and not self._is_plain:
                file = io.BytesIO()
                _ArrayPickler(file, protocol=5, buffer_callback=place).dump(content)
                body = file.getvalue()
            else:
                body = pickle.dumps(content, protocol=5, buffer_callback=place)
        except BaseException:
            for token, _, _, _ in places:
                del self._lent[token]
            raise
        self._has_buffers = bool(places)
        if not places and not self._dead:
            return _NOTHING_LENT + body
        dead = self._take_dead()
        parts = [_COUNTS.pack(len(places), len(dead))]
        parts += [_PLACE.pack(*one) for one in places]
        parts += [_TOKEN.pack(token) for token in dead]
        return b"".join([*parts, body])

    def loads(self, message: memoryview) -> Any:
        """Return the content of a message.

        Raises:
            Exception: what unpickling raises; the blocks of the message are given back then.
        """
        count, dead = _COUNTS.unpack_from(message)
        at = _COUNTS.size
        buffers = []
        for _ in range(count):
            token, arena, offset, size = _PLACE.unpack_from(message, at)
            at += _PLACE.size
            block = self._arenas[arena].block(offset, size, partial(self._note_dead, token))
            buffers.append(memoryview(block).cast("B").toreadonly())
        for _ in range(dead):
            (token,) = _TOKEN.unpack_from(message, at)
            at += _TOKEN.size
            self._lent.pop(token, None)
        body = message[at:]
        if self._is_plain:
            return PlainUnpickler(io.BytesIO(body), buffers=buffers).load()
        return pickle.loads(body, buffers=buffers)  # noqa: S301  # from a process that we have started

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return an array in this end's arena, or in ordinary memory where there is no room."""
        kind = np.dtype(dtype)
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        size = int(np.prod(wanted, dtype=np.int64)) * kind.itemsize
        block = None
        own = self._own
        if own is not None and size >= IN_ARENA and not kind.hasobject:
            block = own.take(size)
        if block is None:
            return np.empty(wanted, kind)
        return np.frombuffer(block, kind).reshape(wanted)

    def release(self) -> None:
        """Let go of the arenas and of what the other end holds: it is dead. Later messages carry all."""
        self._own = None
        self._arenas = {}
        self._lent.clear()

    def lent_count(self) -> int:
        """Return how many blocks the other end holds."""
        return len(self._lent)

    def _note_dead(self, token: int, _: object) -> None:
        self._dead.append(token)

    def _take_dead(self) -> list[int]:
        """Return tokens to give back; threads that send at once share them."""
        dead: list[int] = []
        try:
            while len(dead) < _MOST_TOKENS:
                dead.append(self._dead.popleft())
        except IndexError:
            return dead
        return dead

    def _place(self, view: memoryview) -> tuple[int, int, int, int] | None:
        """Return token, arena, offset and size of a buffer for the other end; None where there is no room."""
        size = view.nbytes
        address = np.frombuffer(view, np.uint8).__array_interface__["data"][0]
        for arena in self._arenas.values():
            if arena.address <= address and address + size <= arena.address + arena.size:
                held: Any = view
                return self._lend(held, arena.number, address - arena.address, size)
        own = self._own
        block = None if own is None else own.take(size)
        if block is None or own is None:
            return None
        target = memoryview(block).cast("B")
        target[:] = view
        target.release()
        return self._lend(block, own.number, ctypes.addressof(block) - own.address, size)

    def _lend(self, held: Any, arena: int, offset: int, size: int) -> tuple[int, int, int, int]:
        token = next(self._tokens)
        self._lent[token] = held
        return token, arena, offset, size


_NOTHING_LENT: Final = _COUNTS.pack(0, 0)
