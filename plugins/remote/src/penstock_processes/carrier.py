"""Payloads to bytes and back, with large buffers in shared memory.

Each end of a link has a `Carrier`. A message is a pickle, without the buffers of at least `IN_ARENA` bytes,
and a table that says where these lie: in a block of an arena. Arrays that are lent are no part of the pickled
content at all: the other end gets a list of them. The end that sends a block keeps it, under a token, until
the other end says that its last view is dead; tokens to give back ride on the next message.
"""

from __future__ import annotations

import io
import itertools
import math
import pickle
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from penstock.errors import PacketTypeError
from penstock_processes.arena import BLOCKS
from penstock_processes.plain_payloads import PlainPickler, PlainUnpickler

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock_processes.arena import Arena, Block, OwnArena

#: Buffers of at least so many bytes go through an arena: copying fewer through a socket costs less than a
#: block.
IN_ARENA: Final = 4096

_COUNTS: Final = struct.Struct("=HHH")
_PLACE: Final = struct.Struct("=QIQQ")
_TOKEN: Final = struct.Struct("=Q")
_MOST_TOKENS: Final = 4096
_MOST_PLACES: Final = 0xFFFF
#: Kinds of elements that one character names.
_PLAIN_KINDS: Final = frozenset("biufc")
#: These characters.
_PLAIN_CHARS: Final = frozenset(np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?")


def _reduced(array: Any) -> Any:
    """Return how an array is made again, in half the time that NumPy's own way takes; or NotImplemented."""
    kind = array.dtype
    if kind.kind in _PLAIN_KINDS and kind.isnative and array.flags.c_contiguous:
        return np.ndarray, (array.shape, kind.char, pickle.PickleBuffer(array))
    return NotImplemented


def _block_of(array: np.ndarray[Any, Any]) -> Block | None:
    """Return the block that an array without gaps shows; None where it shows none, or a part of one."""
    found = BLOCKS.get(id(array))
    if found is None:
        base: Any = array.base
        found = BLOCKS.get(id(base))
        if found is not None and base.nbytes != array.nbytes:
            return None
    return found


class Lent(NamedTuple):
    """An array that goes to the other end in a block."""

    #: Token, number of the arena, offset, shape and character of the kind of elements.
    place: tuple[int, int, int, tuple[int, ...], str]
    #: The array over the block.
    block: np.ndarray[Any, Any]
    #: What its values are copied from; None where they lie there.
    source: np.ndarray[Any, Any] | None


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

    def lend(self, array: np.ndarray[Any, Any], lent: list[Lent]) -> bool:
        """Lend an array to the other end; its values are copied when the message with it is made.

        `lent`, which goes with the message, receives it. Returns False where the array can be in no block, so
        that it must be pickled.
        """
        size = array.nbytes
        kind = array.dtype
        if size < IN_ARENA or len(lent) == _MOST_PLACES:
            return False
        if not (kind.kind in _PLAIN_KINDS and kind.isnative and array.flags.c_contiguous):
            return False
        found = _block_of(array)
        own = self._own
        source: np.ndarray[Any, Any] | None
        if found is not None and self._arenas.get(found.arena.number) is found.arena:
            held, source = array, None
        else:
            taken = None if own is None else own.take(array.shape, kind, size)
            if taken is None:
                return False
            held, source, found = taken, array, BLOCKS[id(taken)]
        token = next(self._tokens)
        self._lent[token] = held
        lent.append(Lent((token, found.arena.number, found.offset, array.shape, kind.char), held, source))
        return True

    def take_back(self, lent: Sequence[Lent]) -> None:
        """Take back what was lent for a message that is not sent."""
        for one in lent:
            self._lent.pop(one.place[0], None)

    def dumps(self, content: object, lent: Sequence[Lent] = ()) -> bytes:
        """Return a message with a content, and with arrays that have been lent.

        Raises:
            Exception: what pickling raises; nothing is kept then but what was lent.
        """
        whole = content if not lent else ([one.place for one in lent], content)
        body, places = self._pickled(whole)
        if not places and not lent and not self._dead:
            return _NOTHING_LENT + body
        dead = self._take_dead()
        parts = [_COUNTS.pack(len(places), len(lent), len(dead))]
        parts += [_PLACE.pack(*one) for one in places]
        parts += [_TOKEN.pack(one.place[0]) for one in lent]
        parts += [_TOKEN.pack(token) for token in dead]
        message = b"".join([*parts, body])
        try:
            for _, block, source in lent:  # last, because a copy empties the caches
                if source is not None:
                    block[...] = source
        except BaseException:  # an interrupt
            self._dead.extend(dead)
            raise
        return message

    def _pickled(self, content: object) -> tuple[bytes, Sequence[tuple[int, int, int, int]]]:
        """Return a pickle, and token, arena, offset and size of each buffer that is not in it."""
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
            if self._is_plain or self._has_buffers:
                file = io.BytesIO()
                pickler = PlainPickler if self._is_plain else _ArrayPickler
                pickler(file, protocol=5, buffer_callback=place).dump(content)
                body = file.getvalue()
            else:
                body = pickle.dumps(content, protocol=5, buffer_callback=place)
        except BaseException:
            for token, _, _, _ in places:
                del self._lent[token]
            raise
        self._has_buffers = bool(places)
        return body, places

    def loads(self, message: memoryview) -> Any:
        """Return the content of a message.

        Raises:
            Exception: what unpickling raises; the blocks of the message are given back then.
        """
        return self.unpack(message)[0]

    def unpack(self, message: memoryview) -> tuple[Any, list[np.ndarray[Any, Any]]]:
        """Return the content of a message, and the arrays that were lent with it, read-only.

        Raises:
            Exception: what unpickling raises; the blocks of the message are given back then.
        """
        count, lent, dead = _COUNTS.unpack_from(message)
        at = _COUNTS.size
        if not (count or lent or dead):
            return self._unpickled(message[at:], ()), []
        buffers: list[memoryview] = []
        for _ in range(count):
            token, arena, offset, size = _PLACE.unpack_from(message, at)
            at += _PLACE.size
            buffers.append(self._arenas[arena].view((size,), "B", offset, self._dead, token).data)
        end = at + lent * _TOKEN.size
        tokens = [token for (token,) in _TOKEN.iter_unpack(message[at:end])]
        at = end + dead * _TOKEN.size
        for (token,) in _TOKEN.iter_unpack(message[end:at]):
            self._lent.pop(token, None)
        arrays: list[np.ndarray[Any, Any]] = []
        try:
            content = self._unpickled(message[at:], buffers)
            if lent:
                places, content = content
                for token, (_, arena, offset, shape, char) in zip(tokens, places, strict=True):
                    arrays.append(self._borrowed(token, arena, offset, shape, char))
        except BaseException:
            self._dead.extend(tokens[len(arrays) :])
            raise
        return content, arrays

    def _unpickled(self, body: memoryview, buffers: Iterable[memoryview]) -> Any:
        if self._is_plain:
            return PlainUnpickler(io.BytesIO(body), buffers=buffers).load()
        return pickle.loads(body, buffers=buffers)  # noqa: S301  # from a process that we have started

    def _borrowed(
        self, token: int, arena: int, offset: int, shape: tuple[int, ...], char: str
    ) -> np.ndarray[Any, Any]:
        """Return an array that the other end has lent."""
        if char not in _PLAIN_CHARS:  # objects would be read where the other end says that they are
            raise PacketTypeError(
                f"the carrier got an array of kind {char!r} in shared memory, but takes only numbers"
            )
        return self._arenas[arena].view(shape, char, offset, self._dead, token)

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return an array in this end's arena, or in ordinary memory where there is no room."""
        kind = np.dtype(dtype)
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(wanted) * kind.itemsize
        own = self._own
        if own is not None and size >= IN_ARENA and not kind.hasobject:
            block = own.take(wanted, kind, size)
            if block is not None:
                return block
        return np.empty(wanted, kind)

    def release(self) -> None:
        """Let go of the arenas and of what the other end holds: it is dead. Later messages carry all."""
        self._own = None
        self._arenas = {}
        self._lent.clear()

    def lent_count(self) -> int:
        """Return how many blocks the other end holds."""
        return len(self._lent)

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
            offset = arena.offset_of(address, size)
            if offset is not None:
                return self._lend(view, arena.number, offset, size)
        own = self._own
        block = None if own is None else own.take((size,), "B", size)
        if block is None or own is None:
            return None
        block.data[:] = view
        return self._lend(block, own.number, BLOCKS[id(block)].offset, size)

    def _lend(self, held: Any, arena: int, offset: int, size: int) -> tuple[int, int, int, int]:
        token = next(self._tokens)
        self._lent[token] = held
        return token, arena, offset, size


_NOTHING_LENT: Final = _COUNTS.pack(0, 0, 0)
