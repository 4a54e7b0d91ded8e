"""Where a cursor stands in graph text, found from the text before it: works in text that is broken behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.readers import tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.readers import Token

_CLOSING: Final = {"{": "}", "<": ">", "[": "]"}


@dataclass(frozen=True)
class Cursor:
    """What may be written at a place."""

    #: The messages around it, from the graph inwards: "node", "options", "[penstock.X.ext]".
    path: tuple[str, ...]
    #: The field whose value is written; "" where the name of a field is.
    field: str
    #: What is written already: of the name, the word, or the text in quotes.
    written: str
    #: Whether it is in quotes.
    in_string: bool
    #: Where `written` begins.
    start: int
    #: Whether nothing can be completed here: in a comment.
    is_comment: bool = False


def cursor_at(text: str, offset: int, start: int = 0) -> Cursor:
    """Return where an offset of the text stands; `start` is where the part around it begins."""
    before = text[start:offset]
    tokens = tokens_of(before)
    last = tokens[-1] if tokens else None
    gap = before[last.offset + len(last.text) :] if last is not None else before
    if "#" in gap.rsplit("\n", 1)[-1]:
        return Cursor((), "", "", in_string=False, start=offset, is_comment=True)
    if last is not None and last.kind == "mark" and last.text[0] in "\"'":
        path, field = _walked(tokens[:-1])
        return Cursor(path, field, last.text[1:], in_string=True, start=start + last.offset + 1)
    if last is not None and not gap and last.kind in {"word", "number"}:
        bracket = _open_bracket(tokens)
        if bracket is not None:
            path, _ = _walked(tokens[:bracket])
            at = tokens[bracket].offset
            return Cursor(path, "", before[at:], in_string=False, start=start + at)
        path, field = _walked(tokens[:-1])
        return Cursor(path, field, last.text, in_string=False, start=start + last.offset)
    bracket = _open_bracket(tokens)
    if bracket is not None and not gap:
        path, _ = _walked(tokens[:bracket])
        at = tokens[bracket].offset
        return Cursor(path, "", before[at:], in_string=False, start=start + at)
    path, field = _walked(tokens)
    return Cursor(path, field, "", in_string=False, start=offset)


def _open_bracket(tokens: Sequence[Token]) -> int | None:
    """Return the position of the bracket of a name that is being written: `[penstock.`; None for none."""
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        if token.text == "[":
            return position if position == 0 or tokens[position - 1].text in {"{", "<", "}", ">"} else None
        if token.kind != "word" and token.text not in {".", "/", "-"}:
            return None
    return None


def _walked(tokens: Sequence[Token]) -> tuple[tuple[str, ...], str]:
    """Return the messages that are open behind tokens, and the field that waits for its value."""
    open_: list[tuple[str, str]] = []
    name, waits, position = "", False, 0
    while position < len(tokens):
        token = tokens[position]
        text = token.text
        if text == "[" and not waits and not name:
            name, position = _bracketed(tokens, position)
        elif text in _CLOSING:
            open_.append((name, _CLOSING[text]))
            waits = text == "["
            name = name if waits else ""
        elif open_ and text == open_[-1][1]:
            open_.pop()
            name, waits = "", False
        elif text == ":":
            waits = bool(name)
        elif text == ",":
            waits = bool(open_ and open_[-1][1] == "]")
            name = open_[-1][0] if waits else ""
        elif text == ";" or token.kind in {"string", "number"} or (waits and token.kind == "word"):
            name, waits = "", False
        elif token.kind == "word":
            name = text
        position += 1
    path = tuple(one for one, closing in open_ if closing != "]")
    return path, name if waits else ""


def _bracketed(tokens: Sequence[Token], position: int) -> tuple[str, int]:
    """Return a name in brackets, and the position of its last token."""
    parts = []
    while position < len(tokens):
        parts.append(tokens[position].text)
        if parts[-1] == "]":
            break
        position += 1
    return "".join(parts), position
