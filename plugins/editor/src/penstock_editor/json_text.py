"""JSON graphs as trees of graph text: the same fields, with offsets in the JSON.

Broken JSON is read as far as it goes. Names of members become names of fields: "inputStream" is read as
`input_stream`, as the graph reader does.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from penstock.readers import snake_case, tokens_of
from penstock_format import Block, Document, Field, Items, Piece, Scalar, TreeMistake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.readers import Token

    Value = Scalar | Block | Items

#: Roles of the parts of a text: before the first node, a node and what parts it from the next, behind them.
HEAD: Final = "head"
NODE: Final = "node"
TAIL: Final = "tail"
#: What `split_json` looks at.
_MARK: Final = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|[{}\[\]]')
_IS_KEY: Final = re.compile(r"\s*:")
_DEEPEST: Final = 100
_QUOTES: Final = ('"', "'")


def split_json(text: str) -> list[tuple[int, str]]:
    """Return the offsets at which parts begin, and their roles."""
    cuts = [(0, HEAD)]
    depth, is_in_nodes, key, end = 0, False, "", 0
    for found in _MARK.finditer(text):
        mark = found.group()
        if mark in {"{", "["}:
            depth += 1
            if depth == 2 and mark == "[" and key == "node":  # noqa: PLR2004  # in the graph, in its list
                is_in_nodes = True
            elif depth == 3 and is_in_nodes:  # noqa: PLR2004
                cuts.append((found.start(), NODE))
        elif mark in {"}", "]"}:
            depth -= 1
            if is_in_nodes and depth == 2:  # noqa: PLR2004
                end = found.end()
            elif is_in_nodes and depth == 1:
                is_in_nodes = False
                break
        elif depth == 1 and _IS_KEY.match(text, found.end()):
            key = mark.strip('"')
    if len(cuts) > 1 and not is_in_nodes and end:
        cuts.append((end, TAIL))
    return cuts


def read_json(text: str, role: str) -> Document:
    """Return the tree of a part of JSON. Its mistakes are not looked for: `json_mistakes` does."""
    root = Block(0, end=len(text), is_closed=True)
    reader = _Reader(text)
    if role == HEAD:
        reader.skip_to("{")
        reader.members(root, 0)
    elif role == NODE:
        start = reader.offset
        value = reader.value("node", 1)
        root.entries.append(Field("node", start, start, value, reader.done))
    else:
        reader.skip_to("]")
        reader.members(root, 0)
    root.entries = [one for one in root.entries if not _is_empty_list(one)]
    return Document(text, root, [])


def json_mistakes(text: str) -> list[TreeMistake]:
    """Return the first mistake of a JSON text; none where it is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        words = f"{error.msg[:1].lower()}{error.msg[1:]}"
        return [TreeMistake(error.pos, min(error.pos + 1, len(text)), words)]
    except RecursionError:
        return [TreeMistake(0, 1, "its brackets are nested too deep")]
    except ValueError as error:
        return [TreeMistake(0, 1, str(error))]
    return []


def field_name(literal: str) -> str:
    """Return the name of a field for the name of a member, as it is written, with its quotes."""
    name = literal.strip('"')
    return name if name.startswith(("[", "@")) else snake_case(name)


def _is_empty_list(entry: object) -> bool:
    """Return whether an entry is the list of nodes, which are parts of their own."""
    value = entry.value if isinstance(entry, Field) else None
    return isinstance(value, Items) and not value.items and not value.is_closed


class _Reader:
    """One pass over the tokens."""

    def __init__(self, text: str) -> None:
        self._tokens: Final[Sequence[Token]] = tokens_of(text)
        self._text: Final = text
        self._next = 0
        #: The offset behind the token that was taken last.
        self.done = 0

    @property
    def offset(self) -> int:
        """Where the next token begins."""
        return self._tokens[self._next].offset if self._has_next() else len(self._text)

    def skip_to(self, mark: str) -> None:
        """Take all tokens up to a mark, which is taken too; nothing where there is none."""
        for position in range(self._next, len(self._tokens)):
            if self._tokens[position].text == mark:
                self._next = position
                self._take()
                return

    def members(self, block: Block, depth: int) -> None:
        """Read the members of an object up to its bracket, which is taken."""
        while self._has_next():
            token = self._peek
            if token.text in {"}", "]"}:
                self._take()
                block.is_closed = token.text == "}"
                return
            if not token.text.startswith(_QUOTES):
                self._take()
                continue
            block.entries.append(self._member(depth))

    def value(self, name: str, depth: int) -> Value | None:
        """Read a value; None where there is none."""
        if not self._has_next() or depth > _DEEPEST:
            return None
        token = self._peek
        if token.text == "{":
            block = Block(self._take().offset)
            self.members(block, depth + 1)
            block.end = self.done
            return block
        if token.text == "[":
            return self._items(name, depth)
        if token.kind in {"string", "word", "number"} or token.text.startswith(_QUOTES):
            self._take()
            return Scalar([Piece(token.text, token.offset, [])], on_one_line=True)
        return None

    def _member(self, depth: int) -> Field:
        token = self._take()
        name = field_name(token.text)
        field = Field(name, token.offset, self.done, end=self.done)
        if self._has_next() and self._peek.text == ":":
            self._take()
            if not self._is_key():
                field.value = self.value(name, depth)
        field.end = self.done
        return field

    def _items(self, name: str, depth: int) -> Items:
        found = Items(self._take().offset)
        while self._has_next():
            token = self._peek
            if token.text == "]":
                self._take()
                found.is_closed = True
                break
            if token.text == "}":
                break
            if token.text in {",", ":"}:
                self._take()
                continue
            value = self.value(name, depth + 1)
            if value is None:
                self._take()
                continue
            found.items.append(Field(name, token.offset, token.offset, value, self.done))
        found.end = self.done
        return found

    def _is_key(self) -> bool:
        """Return whether the next token is the name of a member, since the one before has no value yet."""
        following = self._tokens[self._next + 1 : self._next + 2]
        return self._has_next() and bool(following) and following[0].text == ":"

    def _has_next(self) -> bool:
        return self._next < len(self._tokens)

    @property
    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        self.done = token.offset + len(token.text)
        return token
