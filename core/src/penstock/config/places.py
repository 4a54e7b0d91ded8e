"""Where things stand in a graph file: the tree of its fields, and the line and column of each.

A place is an `int`: an offset in the text, or a running number where there is no text. Lines and
columns are computed only for the places that an error names. Both are counted from 1. Where a graph
comes from several files, the places of the first one are lower than those of the others.
"""

from __future__ import annotations

import copy
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.check.spec import Text
    from penstock.config.message import Message
    from penstock.errors import GraphParseError

#: Steps from a message to a field inside it: the field as the text format names it, and its index.
FieldPath: TypeAlias = "tuple[tuple[str, int], ...]"

#: A field whose value is a string without escapes.
_STRING_FIELD: Final = r"""(?a)\w+\s*:?\s*(?P<quote>["'])(?P<text>[^"'\\\n]*)(?P=quote)"""

_NOTHING: Final[Mapping[str, Sequence[Text]]] = {}

#: The distance between the places of two files that are parts of one graph; longer than any text.
_STRIDE: Final = 2**40


class Spot:
    """One field in the file: where it begins, and the fields inside it, by name, in order.

    Most fields have no fields inside; they have no dict. The strings inside a plain node are known already,
    and become spots when something asks for them.
    """

    __slots__ = ("_fields", "offset", "strings")

    def __init__(self, offset: int, strings: Mapping[str, Sequence[Text]] = _NOTHING) -> None:
        self.offset = offset
        #: The fields of a plain node; none for other spots.
        self.strings = strings
        self._fields: dict[str, list[Spot]] | None = None

    @property
    def fields(self) -> dict[str, list[Spot]]:
        """The fields inside; may be changed."""
        if self._fields is None:
            self._fields = {name: [Spot(one.at) for one in ones] for name, ones in self.strings.items()}
        return self._fields

    @fields.setter
    def fields(self, fields: dict[str, list[Spot]]) -> None:
        self._fields = fields

    def add(self, name: str, offset: int, strings: Mapping[str, Sequence[Text]] = _NOTHING) -> Spot:
        """Note one more field `name`, of a plain node with its strings."""
        spot = Spot(offset, strings)
        self.fields.setdefault(name, []).append(spot)
        return spot

    def last(self, offset: int) -> tuple[str, Spot] | None:
        """Return name and spot of the field that begins last before an offset, or there."""
        spots = [(one.offset, name, one) for name, ones in self.fields.items() for one in ones]
        before = [one for one in spots if one[0] <= offset]
        return max(before)[1:] if before else None

    def get(self, name: str, index: int) -> Spot | None:
        """Return the `index`-th field `name`, or None where there is none."""
        found = self.fields.get(name) if self._fields or self.strings else None
        return None if found is None or index >= len(found) else found[index]


class Places:
    """Turns paths into places, and places into words. Each graph that is read has its own."""

    def __init__(self, file: str | None = None, text: str | None = None, root: Spot | None = None) -> None:
        """Make the places of one file.

        Args:
            file: its name, or None where the graph comes from no file.
            text: its text, or None where it has no lines.
            root: its tree, or None where it has no lines.
        """
        self.file: Final = file
        self.root: Final = root
        self.text: Final = text or ""
        self._count = 0
        self._base = 0
        self._note = ""
        #: The files whose places continue this one's.
        self._further: list[Places] = []

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *[match.end() for match in re.finditer("\n", self.text)]]

    def include(self, other: Places, note: str) -> Places:
        """Return the places of another file, shifted so that `place_words` of this object takes them too.

        Args:
            other: does not change; may be included more than once.
            note: follows the place in messages: "used by node 'a': ".
        """
        further = copy.copy(other)
        self._further.append(further)
        further._base = len(self._further) * _STRIDE  # noqa: SLF001  # own class
        further._note = note  # noqa: SLF001
        return further

    def again(self) -> Places:
        """Return the places of the same file, without included ones, for another graph made from it."""
        same = copy.copy(self)
        same._further = []  # noqa: SLF001  # own class
        return same

    def with_tree(self, root: Spot | None) -> Places:
        """Return the places of the same file with another tree. What is included in one is in both."""
        same = copy.copy(self)
        same.root = root  # type: ignore[misc]  # of a new object
        return same

    def of(self, spot: Spot | None, name: str, index: int = 0) -> Spot | None:
        """Return the `index`-th field `name` inside `spot`, or `spot` where the tree has no such field."""
        return None if spot is None else spot.get(name, index) or spot

    def at(self, spot: Spot | None) -> int:
        """Return the place of `spot`. Without a tree, places are numbers in the order of asking."""
        if spot is not None:
            return self._base + spot.offset
        self._count += 1
        return self._base + self._count

    def at_field(self, spot: Spot | None, name: str, index: int = 0) -> int:
        """Return the place of what `of` returns."""
        if spot is None:
            return self.at(None)
        found = spot.get(name, index)
        return self._base + (spot if found is None else found).offset

    def position_of(self, path: FieldPath) -> tuple[int, int] | None:
        """Return line and column of the field at the end of a path, or of the nearest one above it."""
        spot = self.root
        for name, index in path:
            spot = self.of(spot, name, index)
        return None if spot is None else self.line_and_column(self._base + spot.offset)

    def offset_of(self, line: int, column: int) -> int:
        """Return the place of a line and column of this file."""
        return self._base + self._lines[line - 1] + column - 1

    def texts(self, *path: str, inside: Spot | None = None) -> Iterator[str]:
        """Yield the strings that the fields at the end of a path hold, without those that have escapes."""
        start = inside or self.root
        spots = [] if start is None else [start]
        for name in path:
            spots = [inner for spot in spots for inner in spot.fields.get(name, ())]
        for spot in spots:
            found = re.compile(_STRING_FIELD).match(self.text, spot.offset)
            if found is not None:
                yield found["text"]

    def line_and_column(self, at: int) -> tuple[int, int] | None:
        """Return the line and column of a place, or None where the graph has no lines."""
        if self.root is None:
            return None
        offset = at - self._base
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def where(self, at: int) -> str:
        """Return how a message about a place begins: "graph.pbtxt:12:5: ", or ""."""
        of = self._of_file(at)
        return f"{place_words(of.file, of.line_and_column(at))}{of._note}"  # noqa: SLF001  # own class

    def parts(self, at: int) -> tuple[str | None, int | None, int | None]:
        """Return the file, line and column of a place, each None where there is none."""
        of = self._of_file(at)
        line, column = of.line_and_column(at) or (None, None)
        return of.file, line, column

    def _of_file(self, at: int) -> Places:
        """Return the places of the file that a place is in."""
        number = (at - self._base) // _STRIDE
        return self._further[number - 1]._of_file(at) if number else self  # noqa: SLF001  # own class


class Unread(NamedTuple):
    """Options that were left out of a graph, since they cannot be read."""

    #: The place of the mistake.
    at: int
    error: GraphParseError
    #: The place of the node that has the options.
    node: int


class ReadGraph(NamedTuple):
    """A graph that was read."""

    #: A CalculatorGraphConfig of its own.
    message: Message
    #: Where its parts stand.
    places: Places
    #: Options that are not in the message. Empty unless the reader was asked to go on without them.
    unread: Sequence[Unread] = ()


def place_words(file: str | None, position: tuple[int, int] | None) -> str:
    """Return how a message begins: `"file:12:5: "`, `"line 12, column 5: "`, `"file: "` or ""."""
    if position is None:
        return f"{file}: " if file else ""
    line, column = position
    return f"{file}:{line}:{column}: " if file else f"line {line}, column {column}: "


def field_path_words(path: FieldPath) -> str:
    """Return a path as messages name it: "node[0].options[0]"."""
    return ".".join(f"{name}[{index}]" for name, index in path) or "the graph"
