"""A table of a FlatBuffers file, read field by field: numbers of fields stand for their names.

The bytes may be anybody's: what leads out of them is refused. Source: the format's own description,
"FlatBuffers Internals".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

_UINT: Final = struct.Struct("<I")
_INT: Final = struct.Struct("<i")
_USHORT: Final = struct.Struct("<H")
#: The most entries of a list.
_MOST: Final = 100_000


class FlatTable:
    """A table that begins at some byte.

    Args:
        data: the whole file.
        at: where the table begins.

    Every method raises InvalidArgumentError where the bytes are no such table.
    """

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._fields = at - self._read(_INT, at)
        self._size = self._read(_USHORT, self._fields)

    @classmethod
    def root(cls, data: bytes) -> FlatTable:
        """Return the table that a file begins with."""
        if len(data) < _UINT.size:
            raise _damaged()
        return cls(data, _UINT.unpack_from(data)[0])

    def number(self, field: int) -> int:
        """Return an unsigned number of 32 bits; 0 where it is not there."""
        place = self._place(field)
        return 0 if place is None else self._read(_UINT, place)

    def kind(self, field: int) -> int:
        """Return a number of one byte, such as the type of a union; 0 where it is not there."""
        place = self._place(field)
        return 0 if place is None else self._bytes(place, 1)[0]

    def table(self, field: int) -> FlatTable | None:
        """Return a table, or the value of a union; None where it is not there."""
        place = self._place(field)
        return None if place is None else FlatTable(self._data, self._follow(place))

    def tables(self, field: int) -> Iterator[FlatTable]:
        """Yield the tables of a list; none where it is not there."""
        place = self._place(field)
        if place is None:
            return
        start = self._follow(place)
        count = self._read(_UINT, start)
        if count > _MOST:
            raise _damaged()
        for i in range(count):
            yield FlatTable(self._data, self._follow(start + 4 + 4 * i))

    def data(self, field: int) -> bytes:
        """Return a list of bytes; no bytes where it is not there."""
        place = self._place(field)
        if place is None:
            return b""
        start = self._follow(place)
        return self._bytes(start + 4, self._read(_UINT, start))

    def text(self, field: int) -> str:
        """Return a string; "" where it is not there."""
        return self.data(field).decode("utf-8", errors="replace")

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self._size:
            return None
        offset = self._read(_USHORT, self._fields + entry)
        return self._at + offset if offset else None

    def _follow(self, place: int) -> int:
        return place + self._read(_UINT, place)

    def _read(self, kind: struct.Struct, place: int) -> int:
        found: int = kind.unpack(self._bytes(place, kind.size))[0]
        return found

    def _bytes(self, place: int, count: int) -> bytes:
        if place < 0 or place + count > len(self._data):
            raise _damaged()
        return self._data[place : place + count]


def _damaged() -> InvalidArgumentError:
    return InvalidArgumentError(
        "the table of the model file is damaged: a place in it leads out of it; get the file again"
    )
