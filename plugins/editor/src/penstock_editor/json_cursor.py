"""Where a cursor stands in a JSON graph, found from the text before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.readers import tokens_of
from penstock_editor.cursor import Cursor
from penstock_editor.json_text import HEAD, field_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.readers import Token

_CLOSING: Final = {"}": "{", "]": "["}
_TYPE: Final = "@type"


@dataclass
class _Open:
    """An open bracket."""

    mark: str
    #: Of the field that it is the value of, or an element of.
    name: str
    #: The type of a packed message, as it is written; "" for none.
    type: str = ""
    #: The member that is written.
    key: str = ""
    #: Whether that waits for its value.
    waits: bool = False


def json_cursor_at(text: str, offset: int, start: int, role: str) -> Cursor:
    """Return where an offset of JSON stands; `start` and `role` belong to the part around it."""
    before = text[start:offset]
    tokens = tokens_of(before)
    last = tokens[-1] if tokens else None
    opened = [] if role == HEAD else [_Open("{", ""), _Open("[", "node")]
    if last is not None and last.kind == "mark" and last.text[0] in "\"'":
        path, field = _walked(tokens[:-1], opened)
        return Cursor(path, field, last.text[1:], in_string=True, start=start + last.offset + 1)
    is_written = last is not None and last.offset + len(last.text) == len(before)
    if last is not None and is_written and last.kind in {"word", "number"}:
        path, field = _walked(tokens[:-1], opened)
        return Cursor(path, field, last.text, in_string=False, start=start + last.offset)
    path, field = _walked(tokens, opened)
    return Cursor(path, field, "", in_string=False, start=offset)


def _walked(tokens: Sequence[Token], opened: list[_Open]) -> tuple[tuple[str, ...], str]:
    """Return the messages that are open behind tokens, and the field that waits for its value."""
    for token in tokens:
        top = opened[-1] if opened else None
        if token.text in {"{", "["}:
            opened.append(_Open(token.text, "" if top is None else top.key or top.name))
        elif token.text in _CLOSING:
            _close(opened, _CLOSING[token.text])
        elif top is not None and top.mark == "{":
            _member(top, token)
    names: list[str] = []
    for number, one in enumerate(opened):
        if one.mark == "{":
            names += [one.name] if number else []
            names += [f"[{one.type}]"] if one.type else []
    if not opened:
        return (), ""
    top = opened[-1]
    return tuple(names), top.name if top.mark == "[" else top.key if top.waits else ""


def _close(opened: list[_Open], mark: str) -> None:
    """Close the innermost bracket of a kind, and those inside that nothing closes."""
    if any(one.mark == mark for one in opened):
        while opened.pop().mark != mark:
            pass
    if opened:
        opened[-1].key, opened[-1].waits = "", False


def _member(top: _Open, token: Token) -> None:
    """Take a token of an object that is no bracket."""
    if token.text == ",":
        top.key, top.waits = "", False
    elif token.text == ":":
        top.waits = bool(top.key)
    elif token.kind == "string" and not top.waits:
        top.key = field_name(token.text)
    elif top.key == _TYPE:
        top.type = token.text.strip('"')
        top.waits = False
