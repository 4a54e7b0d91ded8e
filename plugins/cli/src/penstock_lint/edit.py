"""Small changes of a graph's text, by which `--fix` mends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.readers import end_of_field

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What may stand between a field and the next one, beside blanks.
_SEPARATOR: Final = re.compile(r"[ \t]*[;,]?[ \t]*")


class Edit(NamedTuple):
    """A piece of text that takes the place of another."""

    #: `start`, `end`: what is replaced, as offsets; equal where something is only put in.
    start: int
    end: int
    #: What comes there.
    text: str


def removal(text: str, start: int) -> Edit:
    """Return the edit that takes a field away, with its line where nothing else stands there.

    Args:
        text: of the graph.
        start: where the field begins.
    """
    end = _SEPARATOR.match(text, end_of_field(text, start)).end()  # type: ignore[union-attr]  # matches ""
    line = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    rest = text[end:] if newline < 0 else text[end:newline]
    if not text[line:start].strip() and not rest.strip():
        return Edit(line, len(text) if newline < 0 else newline + 1, "")
    return Edit(start, end, "")


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return text with edits made. Of two that touch the same piece the first in the text is made."""
    parts, done = [], 0
    for start, end, new in sorted(set(edits)):
        if start >= done:
            parts += [text[done:start], new]
            done = end
    return "".join([*parts, text[done:]])
