"""What each word of a graph is, for editors that colour it: calculators, ports, streams, comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol.types import SemanticTokenModifiers, SemanticTokensLegend, SemanticTokenTypes

from penstock_editor.forms import JSON
from penstock_format import Block, Field, Items, Rule, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock_editor.graph_text import GraphText, Name, Part
    from penstock_editor.positions import Positions

_TYPES: Final = (
    SemanticTokenTypes.Class,
    SemanticTokenTypes.Comment,
    SemanticTokenTypes.EnumMember,
    SemanticTokenTypes.Keyword,
    SemanticTokenTypes.Macro,
    SemanticTokenTypes.Namespace,
    SemanticTokenTypes.Number,
    SemanticTokenTypes.Parameter,
    SemanticTokenTypes.Property,
    SemanticTokenTypes.String,
    SemanticTokenTypes.Type,
    SemanticTokenTypes.Variable,
)
_MODIFIERS: Final = (SemanticTokenModifiers.Declaration, SemanticTokenModifiers.Readonly)
LEGEND: Final = SemanticTokensLegend([one.value for one in _TYPES], [one.value for one in _MODIFIERS])
_DECLARATION: Final = 1
_READONLY: Final = 2
_NUMBER: Final = {one: number for number, one in enumerate(_TYPES)}
#: Kind of a name → type. Ports are parameters, executors namespaces, side packets read-only variables.
_OF_NAMES: Final = {
    "calculator": SemanticTokenTypes.Class,
    "stream": SemanticTokenTypes.Variable,
    "side packet": SemanticTokenTypes.Variable,
    "executor": SemanticTokenTypes.Namespace,
}
_WORDS: Final = ("true", "false", "null")
_COMMENT: Final = re.compile(r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|(?P<comment>\#[^\n]*)""")


class Coloured(NamedTuple):
    """One word."""

    start: int
    end: int
    #: `kind`, `modifiers`: as the legend numbers them.
    kind: int
    modifiers: int = 0


class _Encoded(NamedTuple):
    """The words of a part as the protocol writes them: each place counted from the one before."""

    #: Line, counted from the part's, and column of the first and of the last word.
    first: tuple[int, int]
    last: tuple[int, int]
    #: Five numbers for each word.
    data: list[int]


def encoded(
    graphs: Iterable[tuple[GraphText, Positions]], between: tuple[int, int] | None = None
) -> list[int]:
    """Return the words of graphs as the protocol writes them.

    A part is encoded once, wherever it stands, so that a key costs the words of one node.

    Args:
        graphs: of one file, in its order, with their positions in it.
        between: two lines; parts of graphs that lie outside are left out. None for whole graphs.
    """
    data: list[int] = []
    line = column = 0
    for graph, positions in graphs:
        for start, part in zip(graph.starts, graph.parts, strict=True):
            base = positions.line(start)
            if between is not None and (base > between[1] or base + part.text.count("\n") < between[0]):
                continue
            found = _encoded(graph, positions, start, part, base)
            if found is None:
                continue
            move = base + found.first[0] - line
            data += (move, found.first[1] if move else found.first[1] - column)
            data += found.data[2:]
            line, column = base + found.last[0], found.last[1]
    return data


def _encoded(graph: GraphText, positions: Positions, start: int, part: Part, base: int) -> _Encoded | None:
    """Return the words of a part; None where it has none."""
    if part.encoded is not None:
        return _Encoded(*part.encoded)
    words = [
        (line - base, column, length, one.kind, one.modifiers)
        for one in _of_part(graph, part)
        for line, column, length in positions.pieces(one.start + start, one.end + start)
    ]
    if not words:
        return None
    data: list[int] = []
    line = column = 0
    for word in words:
        data += (word[0] - line, word[1] - column if word[0] == line else word[1], *word[2:])
        line, column = word[:2]
    found = _Encoded(words[0][:2], words[-1][:2], data)
    begins_line = not start or graph.text[start - 1] == "\n"
    if not positions.is_moved and (begins_line or found.first[0]):  # the same wherever the part stands
        part.encoded = found
    return found


def _of_part(graph: GraphText, part: Part) -> list[Coloured]:
    """Return the words of a part, with places in it, in its order."""
    found = [*_of_names(part.names), *_of_entries(part.root, _covered(part.names))]
    if graph.form is not JSON:
        comments = (one for one in _COMMENT.finditer(part.text) if one["comment"])
        comment = _NUMBER[SemanticTokenTypes.Comment]
        found += [Coloured(one.start(), one.end(), comment) for one in comments]
    return sorted(found)


def _covered(names: Iterable[Name]) -> dict[int, int]:
    """Return where a string begins that holds a name → where the name ends."""
    return {one.start - (len(one.tag) + 1 if one.tag else 0) - 1: one.end for one in names}


def _of_names(names: Iterable[Name]) -> Iterator[Coloured]:
    for one in names:
        modifiers = _DECLARATION * one.is_origin | _READONLY * (one.kind == "side packet")
        if one.tag:
            start = one.start - len(one.tag) - 1
            yield Coloured(start, one.start - 1, _NUMBER[SemanticTokenTypes.Parameter])
        yield Coloured(one.start, one.end, _NUMBER[_OF_NAMES[one.kind]], modifiers)


def _of_entries(block: Block, covered: dict[int, int]) -> Iterator[Coloured]:
    for entry in block.entries:
        if isinstance(entry, Rule):
            yield Coloured(entry.start, entry.end, _NUMBER[SemanticTokenTypes.Macro])
        else:
            yield from _of_field(entry, covered)


def _of_field(field: Field, covered: dict[int, int]) -> Iterator[Coloured]:
    if field.name_end > field.start:
        is_type = field.name.startswith("[")
        kind = SemanticTokenTypes.Type if is_type else SemanticTokenTypes.Property
        yield Coloured(field.start, field.name_end, _NUMBER[kind])
    value = field.value
    if isinstance(value, Block):
        yield from _of_entries(value, covered)
    elif isinstance(value, Items):
        for one in value.items:
            yield from _of_field(one, covered)
    elif isinstance(value, Scalar):
        yield from _of_scalar(value, covered)


def _of_scalar(value: Scalar, covered: dict[int, int]) -> Iterator[Coloured]:
    for piece in value.pieces:
        if piece.start in covered:
            continue
        text = piece.text
        if text.startswith(("'", '"')):
            kind = SemanticTokenTypes.String
        elif text.startswith("%"):
            kind = SemanticTokenTypes.Macro
        elif text in _WORDS:
            kind = SemanticTokenTypes.Keyword
        else:
            is_name = text[0].isalpha() or text[0] == "_"
            kind = SemanticTokenTypes.EnumMember if is_name else SemanticTokenTypes.Number
        yield Coloured(piece.start, piece.end, _NUMBER[kind])
