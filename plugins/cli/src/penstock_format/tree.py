"""Graph text as a tree that keeps comments, blank lines and the order of everything.

All places are offsets in the text. Nothing here knows what a field means: an option that no installed pack
has is read as any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True)
class Comment:
    """A comment on a line of its own."""

    #: With its "#", without blanks at its end.
    text: str
    #: Whether a blank line stands before it.
    blank_before: bool


@dataclass(slots=True)
class Piece:
    """One string literal, number or word."""

    #: As it stands in the text.
    text: str
    start: int
    #: The comments between it and the literal before.
    comments: list[Comment]

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


@dataclass(slots=True)
class Scalar:
    """A value without fields: a word, a number, a rule of a template, or strings that make one string."""

    pieces: list[Piece]
    #: Whether all pieces stand on one line.
    on_one_line: bool

    @property
    def start(self) -> int:
        """The offset of the first piece."""
        return self.pieces[0].start

    @property
    def end(self) -> int:
        """The offset behind the last piece."""
        return self.pieces[-1].end

    @property
    def is_string(self) -> bool:
        """Whether it is a string."""
        return self.pieces[0].text[0] in "\"'"

    @property
    def string(self) -> str:
        """The text between the quotes, escapes as they are written; of a number or word, itself."""
        if not self.is_string:
            return self.pieces[0].text
        return "".join(piece.text[1:].removesuffix(piece.text[0]) for piece in self.pieces)


@dataclass(slots=True)
class Block:
    """A message: fields in brackets."""

    #: The offset of the bracket that opens it.
    start: int
    #: Fields and rules, in order.
    entries: list[Field | Rule] = field(default_factory=list)
    #: The comment behind the bracket, on its line; "" for none.
    opening: str = ""
    #: The comments before the bracket that closes it.
    closing: list[Comment] = field(default_factory=list)
    #: The offset behind that bracket; where nothing closes it, the end of its last field.
    end: int = 0
    is_closed: bool = False
    on_one_line: bool = False

    def fields(self, *names: str) -> list[Field]:
        """Return the fields of these names, in order; elements of lists one by one."""
        found = []
        for entry in self.entries:
            if isinstance(entry, Field) and entry.name in names:
                items = entry.value.items if isinstance(entry.value, Items) else None
                found += [entry] if items is None else items
        return found

    def text_of(self, name: str) -> str:
        """Return the string of the last field of a name; "" where there is none."""
        for one in reversed(self.fields(name)):
            if isinstance(one.value, Scalar):
                return one.value.string
        return ""


@dataclass(slots=True)
class Items:
    """A list in square brackets: fields without names."""

    start: int
    items: list[Field] = field(default_factory=list)
    #: `opening`, `closing`, `end`, `is_closed`, `on_one_line`: as of a `Block`.
    opening: str = ""
    closing: list[Comment] = field(default_factory=list)
    end: int = 0
    is_closed: bool = False
    on_one_line: bool = False


Value: TypeAlias = Scalar | Block | Items


@dataclass(slots=True)
class Field:
    """A field, or an element of a list."""

    #: As text format names it; that of an extension or packed message has its brackets and no blanks. Of an
    #: element of a list that of the list's field.
    name: str
    start: int
    #: The offset behind the name, which is `start` for an element of a list.
    name_end: int
    #: None where it is missing.
    value: Value | None = None
    #: The offset behind the value, without a comma or semicolon.
    end: int = 0
    #: The comments above it.
    comments: list[Comment] = field(default_factory=list)
    #: Whether a blank line stands between it and what is above.
    blank_before: bool = False
    #: The comment behind it, on its line; "" for none.
    trailing: str = ""


@dataclass(slots=True)
class Rule:
    """A rule of a template, where a field may stand: `% for (i : range(3)) %`."""

    #: With both percent signs.
    text: str
    start: int
    end: int
    #: `comments`, `blank_before`, `trailing`: as of a `Field`.
    comments: list[Comment] = field(default_factory=list)
    blank_before: bool = False
    trailing: str = ""


@dataclass(slots=True)
class TreeMistake:
    """Something that no graph text may have."""

    #: `start`, `end`: where, as offsets.
    start: int
    end: int
    #: What is wrong, in words that may follow a place.
    words: str


@dataclass(slots=True)
class Document:
    """A whole text."""

    text: str
    #: Its fields; without brackets.
    root: Block
    #: In the order of the text; empty where the text is well formed.
    mistakes: list[TreeMistake]
