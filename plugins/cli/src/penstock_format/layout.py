"""Writes a `Document` in the one layout.

A field stands on a line of its own. What stands in brackets stays on one line if it did so and is not too
long, and is written with a line for each field otherwise. Comments stay before, behind or inside what they
are written at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_format.tree import Block, Field, Items, Rule, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock_format.tree import Comment, Document, Piece

#: The longest line, in characters, that brackets stay on.
WIDTH: Final = 100
_INDENT: Final = "  "


def laid_out(document: Document) -> str:
    """Return the text of a document without mistakes in the one layout; "" for one without anything."""
    root = document.root
    lines = list(_entries(root.entries, "", is_root=True))
    lines += _comments(root.closing, "", is_first=not root.entries)
    return "".join(f"{line}\n" for line in lines)


def _entries(entries: Sequence[Field | Rule], indent: str, *, is_root: bool = False) -> Iterator[str]:
    """Yield the lines of fields and rules."""
    was_long = was_rule = False
    for number, entry in enumerate(entries):
        lines = list(_lines(entry, indent))
        is_rule, is_long = isinstance(entry, Rule), len(lines) > 1
        is_apart = is_root and (is_long or was_long) and not (is_rule or was_rule)
        comments = entry.comments
        has_blank = entry.blank_before or bool(is_apart and not comments)
        if number and is_apart and comments and not comments[0].blank_before:
            yield ""
        yield from _comments(comments, indent, is_first=not number)
        if has_blank and (number or comments):
            yield ""
        yield from lines
        was_long, was_rule = is_long, is_rule


def _comments(comments: Sequence[Comment], indent: str, *, is_first: bool = False) -> Iterator[str]:
    for number, one in enumerate(comments):
        if one.blank_before and (number or not is_first):
            yield ""
        yield f"{indent}{one.text}"


def _lines(entry: Field | Rule, indent: str, behind: str = "") -> Iterator[str]:
    """Yield the lines of a field or rule, without the comments above it; `behind` follows the value."""
    trailing = f"{_INDENT}{entry.trailing}" if entry.trailing else ""
    short = _short(entry)
    if short is not None and _stays_short(entry, len(indent) + len(short) + len(behind)):
        yield f"{indent}{short}{behind}{trailing}"
        return
    assert isinstance(entry, Field)  # a rule is always short  # noqa: S101
    value = entry.value
    if isinstance(value, Scalar):
        if entry.name_end > entry.start:
            yield f"{indent}{entry.name}:"
        yield from _literals(value, f"{indent}{_INDENT}", f"{behind}{trailing}")
        return
    assert value is not None  # else the document has a mistake  # noqa: S101
    opening, closing = ("[", "]") if isinstance(value, Items) else ("{", "}")
    # The comment of a line that becomes several stays on the first, where comments silence findings.
    moves = not value.opening and value.on_one_line
    opened = trailing if moves else f"{_INDENT}{value.opening}" if value.opening else ""
    yield f"{indent}{_head(entry)}{opening}{opened}"
    inside = f"{indent}{_INDENT}"
    if isinstance(value, Items):
        yield from _elements(value.items, inside)
        has_any = bool(value.items)
    else:
        yield from _entries(value.entries, inside)
        has_any = bool(value.entries)
    yield from _comments(value.closing, inside, is_first=not has_any)
    yield f"{indent}{closing}{behind}{'' if moves else trailing}"


def _elements(items: Sequence[Field], indent: str) -> Iterator[str]:
    for number, one in enumerate(items):
        yield from _comments(one.comments, indent, is_first=not number)
        if one.blank_before and (number or one.comments):
            yield ""
        yield from _lines(one, indent, "," if number < len(items) - 1 else "")


def _literals(value: Scalar, indent: str, behind: str) -> Iterator[str]:
    last = len(value.pieces) - 1
    for number, piece in enumerate(value.pieces):
        yield from _comments(piece.comments, indent, is_first=True)
        yield f"{indent}{_literal(piece)}{behind if number == last else ''}"


def _stays_short(entry: Field | Rule, length: int) -> bool:
    """Return whether an entry of this length may stand on one line."""
    if isinstance(entry, Rule):
        return True
    value = entry.value
    if isinstance(value, Scalar):
        return len(value.pieces) == 1 or length <= WIDTH
    return length <= WIDTH or _is_empty(value)


def _short(entry: Field | Rule) -> str | None:
    """Return an entry as one line, without its comments; None where it takes several."""
    if isinstance(entry, Rule):
        return entry.text
    value = entry.value
    if isinstance(value, Scalar):
        if any(piece.comments for piece in value.pieces) or not value.on_one_line:
            return None
        return f"{_head(entry)}{' '.join(map(_literal, value.pieces))}"
    assert value is not None  # else the document has a mistake  # noqa: S101
    is_list = isinstance(value, Items)
    if _is_empty(value):
        return f"{_head(entry)}{'[]' if is_list else '{}'}"
    inside = [_short(one) for one in (value.items if isinstance(value, Items) else value.entries)]
    known = [one for one in inside if one is not None]
    if not value.on_one_line or len(known) < len(inside):
        return None
    return f"{_head(entry)}[{', '.join(known)}]" if is_list else f"{_head(entry)}{{ {' '.join(known)} }}"


def _is_empty(value: Block | Items | None) -> bool:
    """Return whether there is nothing in brackets, comments included."""
    if value is None or value.opening or value.closing:
        return False
    return not (value.items if isinstance(value, Items) else value.entries)


def _head(entry: Field) -> str:
    """Return what stands before the value."""
    if entry.name_end == entry.start:  # an element of a list
        return ""
    return f"{entry.name} " if isinstance(entry.value, Block) else f"{entry.name}: "


def _literal(piece: Piece) -> str:
    """Return a literal; a string has double quotes where nothing in it would have to be escaped for them."""
    text = piece.text
    plain = text[0] == "'" and '"' not in text and "\\" not in text
    return f'"{text[1:-1]}"' if plain else text
