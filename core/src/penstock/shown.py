"""Payloads in a few words, for people: in the repr of a packet, in errors, in drawings.

Invariant: `shown` never raises, whatever a payload's own repr does, and returns one line of at
most the given length. Large lists, dicts, strings, bytes and arrays are never written out in full;
of other classes the repr is taken, and cut.
"""

from __future__ import annotations

import reprlib
from contextlib import suppress
from contextvars import ContextVar
from itertools import islice
from typing import Any, Final

#: Characters of a payload, unless another length is given.
LONGEST: Final = 60
#: Characters of a payload's own repr that are looked at; lines are joined in these only.
_LOOKED_AT: Final = 4096
#: Characters of a value that a message quotes; `penstock.limits` sets it.
LONGEST_QUOTE: Final = ContextVar("longest quote", default=200)
#: Control characters, and marks that change the direction of text → as Python writes them.
_ESCAPES: Final = {
    number: repr(chr(number))[1:-1]
    for number in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if number not in {9, 10}
}
_BYTES: Final = 12
#: A number of so many bits has some 57 digits.
_BITS: Final = 190


class _Short(reprlib.Repr):
    """Knows the containers and numbers of the language, and bytes, by class; see `reprlib`."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = 6
        self.maxdict = 4
        self.maxstring = self.maxother = LONGEST

    def repr1(self, x: object, level: int) -> str:
        """Return the words for a payload, or for what is inside of one."""
        for cls, method in _BY_CLASS.items():
            if isinstance(x, cls) and _repr_of(type(x)) is _repr_of(cls):
                text: str = getattr(self, method)(x, level)
                return text
        return _instance(x)

    def repr_str(self, x: str, level: int) -> str:
        """Return a text, the middle left out where it is long, without passwords of addresses."""
        if "://" in x:
            from penstock.redacting import redacted  # few payloads are addresses

            x = redacted(x[:_LOOKED_AT])
        return super().repr_str(x, level)

    def repr_bytes(self, x: bytes, _level: int) -> str:
        """Return the first bytes, and how many there are."""
        return repr(x) if len(x) <= _BYTES else f"{x[:_BYTES]!r}… ({len(x)} bytes)"

    def repr_int(self, x: int, _level: int) -> str:
        """Return a number; of one with very many digits, which take long to find, its size."""
        bits = x.bit_length()
        return repr(x) if bits <= _BITS else f"<int of {bits} bits>"

    def repr_dict(self, x: dict[object, object], level: int) -> str:
        """Return the first entries, as they come: the base would sort all of them."""
        if level <= 0 and x:
            return "{...}"
        pieces = [
            f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}"
            for key, value in islice(x.items(), self.maxdict)
        ]
        return f"{{{', '.join(pieces)}{', ...' * (len(x) > self.maxdict)}}}"

    def repr_set(self, x: set[object] | frozenset[object], level: int) -> str:
        """Return some elements; a small set is sorted where it can be."""
        if not x:
            return f"{type(x).__name__}()"
        some: list[Any] = list(islice(x, self.maxset))
        if len(x) <= self.maxset:
            with suppress(Exception):  # elements that have no order, or raise when compared
                some.sort()
        pieces = [self.repr1(element, level - 1) for element in some] if level > 0 else ["..."]
        return f"{{{', '.join(pieces)}{', ...' * (len(x) > self.maxset)}}}"

    def repr_scalar(self, x: object, _level: int) -> str:
        """Return what is short by itself."""
        return repr(x)


#: A subclass that has no repr of its own is written as its base is.
_BY_CLASS: Final[dict[type, str]] = {
    bool: "repr_scalar",
    int: "repr_int",
    float: "repr_scalar",
    str: "repr_str",
    bytes: "repr_bytes",
    bytearray: "repr_bytes",
    list: "repr_list",
    tuple: "repr_tuple",
    dict: "repr_dict",
    set: "repr_set",
    frozenset: "repr_set",
}
_SHORT: Final = _Short()


def shown(payload: object, longest: int = LONGEST) -> str:
    """Return a payload in at most `longest` characters (at least 1), on one line. Never raises.

    An object without a repr of its own is `<Class>`; what has a shape and a dtype, such as an array,
    is `<ndarray (480, 640, 3) uint8>`; one whose repr raises is `<Class>` too.
    """
    try:
        words = _cut(_SHORT.repr1(payload, _SHORT.maxlevel), longest)
    except Exception:  # noqa: BLE001  # whatever foreign code raises: where it is shown is no place to fail
        words = ""
    return words or _cut(f"<{type(payload).__name__}>", longest)


def quoted(text: str, quote: Any = repr) -> str:
    """Return a value of a graph file as messages quote it; of one that is long, the beginning."""
    most = LONGEST_QUOTE.get()
    words: str = quote(text[:most])
    return words if len(text) <= most else f"{words}… ({len(text)} characters)"


def clipped(text: str) -> str:
    """Return a text as `quoted`, without quotes."""
    return quoted(text, str)


def printable(text: str) -> str:
    """Return a text with escapes where it cannot be printed, or changes how a terminal shows the rest.

    These are halves of characters, control characters other than tabs and newlines, and marks of direction.
    """
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_ESCAPES).encode(errors="backslashreplace").decode()


def _repr_of(cls: type) -> object:
    return cls.__repr__


def _instance(payload: object) -> str:
    cls = type(payload)
    if _repr_of(cls) is _repr_of(object):
        return f"<{cls.__name__}>"
    if hasattr(cls, "shape") and hasattr(cls, "dtype"):
        array: Any = payload
        if len(array.shape):  # an array, whose own repr shows elements and takes its time; not a number
            return f"<{cls.__name__} {tuple(array.shape)} {array.dtype}>"
    return repr(payload)


def _cut(text: str, longest: int) -> str:
    line = " ".join(text[:_LOOKED_AT].split())
    return line if len(line) <= longest and len(text) <= _LOOKED_AT else f"{line[: longest - 1]}…"
