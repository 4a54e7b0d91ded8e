"""How a graph is written: as text, or as JSON. A `Form` divides a text into parts and reads each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from penstock_editor.cursor import Cursor, cursor_at
from penstock_editor.json_cursor import json_cursor_at
from penstock_editor.json_text import json_mistakes, read_json, split_json
from penstock_format import read_tree

if TYPE_CHECKING:
    from penstock_format import Document, TreeMistake

_BEGIN: Final = re.compile(r"^node[ \t]*:?[ \t]*[{<]", re.MULTILINE)
#: Longer texts, in characters, are not read as a whole to see whether a bracket is closed by a later part.
_RE_READ: Final = 100_000


@dataclass(frozen=True)
class Cut:
    """Where a part of a text begins."""

    start: int
    #: One of the roles that the form has: two parts of equal text and role are equal.
    role: str = ""


class Form(Protocol):
    """How a graph is written."""

    #: Of the form: "text" or "json".
    name: str

    def split(self, text: str) -> list[Cut]:
        """Return where the parts of a text begin; the first one begins with the text."""

    def read(self, text: str, role: str) -> Document:
        """Return the tree of a part, as far as it can be read. Never fails."""

    def cursor(self, text: str, offset: int, start: int, role: str) -> Cursor:
        """Return where an offset stands that is in the part that begins at `start`."""

    def mistakes(self, text: str, found: list[TreeMistake]) -> list[TreeMistake]:
        """Return the mistakes of a whole text, from the mistakes of its parts."""


class _TextForm:
    """Graph text. A part begins where a line begins with `node {`."""

    name: str = "text"

    @staticmethod
    def split(text: str) -> list[Cut]:
        return [Cut(0), *(Cut(found.start()) for found in _BEGIN.finditer(text) if found.start())]

    @staticmethod
    def read(text: str, role: str) -> Document:  # noqa: ARG004  # parts of text have one role
        return read_tree(text)

    @staticmethod
    def cursor(text: str, offset: int, start: int, role: str) -> Cursor:  # noqa: ARG004
        return cursor_at(text, offset, start)

    @staticmethod
    def mistakes(text: str, found: list[TreeMistake]) -> list[TreeMistake]:
        may_go_on = len(text) < _RE_READ and any(
            " never closed" in one.words and _BEGIN.search(text, one.start + 1) for one in found
        )
        if may_go_on and not read_tree(text).mistakes:
            return []  # a node begins a line inside of another message
        return found


class _JsonForm:
    """JSON. A part begins with each node, and one behind the last node."""

    name: str = "json"

    @staticmethod
    def split(text: str) -> list[Cut]:
        return [Cut(start, role) for start, role in split_json(text)]

    @staticmethod
    def read(text: str, role: str) -> Document:
        return read_json(text, role)

    @staticmethod
    def cursor(text: str, offset: int, start: int, role: str) -> Cursor:
        return json_cursor_at(text, offset, start, role)

    @staticmethod
    def mistakes(text: str, found: list[TreeMistake]) -> list[TreeMistake]:  # noqa: ARG004  # JSON has one or none
        return json_mistakes(text)


TEXT: Final[Form] = _TextForm()
JSON: Final[Form] = _JsonForm()
