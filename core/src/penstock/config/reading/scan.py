"""One pass over graph text that finds where its fields stand.

The text format's own parser says where it stopped, but not where a field of the finished message
came from. So the text is read a second time here, once and in linear time, by a reader that knows
brackets and names but not what they mean. It never refuses anything: where it cannot follow,
the tree ends, and an error names the nearest place above.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from penstock import limits
from penstock.config.places import Spot
from penstock.config.reading.plain_nodes import PLAIN_NODE, PlainNode, fields_of, given_by
from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# A string that is not closed is one mark, so that no text is looked at twice.
_ANY_PIECE: Final = r"""(?P<skip>\s+|\#[^\n]*)
      | (?P<string>"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<number>[0-9.+-][\w.+-]*)
      | (?P<mark>"(?:[^"\\\n]++|\\.)*+|'(?:[^'\\\n]++|\\.)*+|.)"""
#: The same, with each plain node as one token.
_TOKEN_OR_NODE: Final = re.compile(
    rf"(?P<node>{PLAIN_NODE}) | {_ANY_PIECE}", re.ASCII | re.DOTALL | re.VERBOSE
)
_SEPARATORS: Final = (",", ";")
_OPENING: Final = {"{": "}", "<": ">"}

#: The reference's package and ours. The same length with the blank, so that columns stay true.
_FOREIGN: Final = "mediapipe"
_OWN: Final = " penstock"


@cache
def _token() -> re.Pattern[str]:
    """Return the pattern of a token. Most graphs need only `_TOKEN_OR_NODE`."""
    return re.compile(_ANY_PIECE, re.ASCII | re.DOTALL | re.VERBOSE)


class Token(NamedTuple):
    """A piece of graph text: what kind it is of, and where it begins.

    Kinds are "string", "word", "number", "mark" and, where asked for, "node": a whole plain node.
    """

    kind: str
    text: str
    offset: int


class NamedMessage(NamedTuple):
    """A bracketed name in graph text: `[penstock.X.ext]` or `[type.googleapis.com/penstock.X]`."""

    #: In our package, without blanks, prefix or brackets.
    name: str
    #: As it stands in the file.
    written: str
    #: Whether it is the type of a packed message, not the name of an extension.
    is_any: bool
    #: The offset of the bracket.
    offset: int


# --- the text format ---------------------------------------------------------------------------


class ScannedText(NamedTuple):
    """What one pass over graph text found."""

    #: With the reference's package replaced by ours where it names a message.
    text: str
    #: The bracketed names, in order.
    named: tuple[NamedMessage, ...]
    #: The tree of fields.
    root: Spot
    #: Place of a bracket that nothing closes, or None.
    unclosed: int | None
    #: Place of the first percent sign outside of strings and comments, which makes the text one of a
    #: template; None where there is no such sign.
    rule: int | None
    #: The plain nodes of the graph, in order. The text before, between and after them consists of whole
    #: fields, as far as the text can be followed.
    plain: tuple[PlainNode, ...]


def scan_text(text: str) -> ScannedText:
    """Read graph text once: rename messages of the reference's package, and note where fields stand."""
    tokens = _tokens(_TOKEN_OR_NODE, text)
    nodes = sum(token.kind == "node" for token in tokens)
    limits.check("nodes", nodes, f"this graph has {nodes} nodes")
    named = tuple(_bracketed(tokens))
    tree = _TextTree(text, tokens[:])
    root, unclosed = tree.read()
    rule = next((token.offset for token in tokens if token.text == "%"), None)
    return ScannedText(_renamed(text, tokens), named, root, unclosed, rule, tuple(tree.plain))


def end_of_field(text: str, start: int) -> int:
    """Return where the field ends that begins at an offset of graph text: after its value or last bracket.

    One element of a list begins with its bracket, any other field with its name.
    """
    depth, end = int(text[start : start + 1] in {"{", "<"}), start
    tokens = (match for match in _token().finditer(text, start) if match.lastgroup != "skip")
    next(tokens, None)  # the field's name, or the bracket
    for token in tokens:
        piece, end = token.group(), token.end()
        depth += (piece in ("{", "<", "[")) - (piece in ("}", ">", "]"))
        if depth <= 0 and piece != ":":
            break
    return end


def tokens_of(text: str) -> list[Token]:
    """Return the pieces of graph text or JSON, without comments and blanks. Never fails."""
    return _tokens(_token(), text)


def _tokens(pattern: re.Pattern[str], text: str) -> list[Token]:
    most = limits.current().tokens
    matches = (match for match in pattern.finditer(text) if match.lastgroup != "skip")
    tokens = [
        Token(str(match.lastgroup), match.group(), match.start()) for match in islice(matches, most + 1)
    ]
    limits.check("tokens", len(tokens), "this graph has too many words, numbers, strings and marks")
    return tokens


def _renamed(text: str, tokens: list[Token]) -> str:
    """Replace the package where it follows '[' or, in the type of a packed message, '/'."""
    pieces = []
    done = 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.text == _FOREIGN and before.text in ("[", "/") and after.text[0] == ".":
            pieces += [text[done : token.offset], _OWN]
            done = token.offset + len(_FOREIGN)
    return "".join((*pieces, text[done:])) if pieces else text


def _bracketed(tokens: list[Token]) -> Iterator[NamedMessage]:
    for position, token in enumerate(tokens):
        if token.text != "[":
            continue
        end = position + 1
        while end < len(tokens) and (tokens[end].kind == "word" or tokens[end].text[0] in "./-"):
            end += 1
        written = "".join(part.text for part in tokens[position + 1 : end])
        if end < len(tokens) and tokens[end].text == "]" and "." in written[1:]:
            prefix, slash, name = written.rpartition("/")
            yield NamedMessage(own_name(name), written, is_any=bool(slash and prefix), offset=token.offset)


def own_name(name: str) -> str:
    """Return the full name of a message in our package where the reference's is given."""
    return f"{_OWN.strip()}{name[len(_FOREIGN) :]}" if name.startswith(f"{_FOREIGN}.") else name


class _Open(NamedTuple):
    """An open bracket: the spot of its fields, the bracket that closes it, and in a list the field's name."""

    spot: Spot
    closing: str
    offset: int
    elements: str | None = None


class _TextTree:
    """Follows the brackets with a list of the open ones. Does not recurse, so it takes any depth."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0
        self._open = [_Open(Spot(0), "", 0)]
        self.plain: list[PlainNode] = []

    def read(self) -> tuple[Spot, int | None]:
        """Return the tree, and the place of the innermost bracket that is still open at the end."""
        root = self._open[0].spot
        while self._next < len(self._tokens):
            top = self._open[-1]
            if self._tokens[self._next].kind == "node" and top.elements is None:
                self._plain(self._tokens[self._next], top.spot)
                continue
            token = self._take()
            if token.text == top.closing:
                self._open.pop()
            elif token.text not in _SEPARATORS and not self._step(token, top):
                return root, None
        return root, self._open[-1].offset if len(self._open) > 1 else None

    def _step(self, token: Token, top: _Open) -> bool:
        """Take one field, or one element of a list; return whether it was one."""
        if top.elements is not None:
            self._next -= 1
            return self._value(top.spot.add(top.elements, token.offset))
        name = self._name(token)
        if name is None:
            return False
        if self._is_next(":"):
            self._take()
        if self._is_next("["):
            self._open.append(_Open(top.spot, "]", self._take().offset, elements=name))
            return True
        return self._value(top.spot.add(name, token.offset))

    def _plain(self, token: Token, above: Spot) -> None:
        """Take a plain node, where a field can be."""
        self._next += 1
        end = token.offset + len(token.text)
        fields, are_right = fields_of(self._text, token.offset, end)
        above.add("node", token.offset, fields)
        # A comma that a comment parts from the node belongs to it: no text can begin with one. Asked without
        # a call, since a large graph has thousands of such nodes.
        tokens, following = self._tokens, self._next
        is_whole = following == len(tokens) or tokens[following].text not in _SEPARATORS
        if are_right and is_whole and len(self._open) == 1:
            self.plain.append(PlainNode(token.offset, end, given_by(fields)))

    def _name(self, token: Token) -> str | None:
        if token.kind == "word":
            return token.text
        if token.text != "[":
            return None
        parts = []
        while self._next < len(self._tokens) and not self._is_next("]"):
            parts.append(self._take().text)
        self._next += 1
        return f"[{own_name(''.join(parts))}]"

    def _value(self, spot: Spot) -> bool:
        if self._next >= len(self._tokens):
            return False
        token = self._take()
        if token.text in _OPENING:
            self._open.append(_Open(spot, _OPENING[token.text], token.offset))
            return True
        if token.kind == "string":
            # Literals that follow one another are one string.
            while self._next < len(self._tokens) and self._tokens[self._next].kind == "string":
                self._take()
        return token.kind != "mark"

    def _take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind == "node":  # where no node can be: read word by word
            at = token.offset
            words = [Token(one.kind, one.text, at + one.offset) for one in tokens_of(token.text)]
            self._tokens[self._next : self._next + 1] = words
            token = words[0]
        self._next += 1
        return token

    def _is_next(self, text: str) -> bool:
        return self._next < len(self._tokens) and self._tokens[self._next].text == text


def snake_case(name: str) -> str:
    """Return a field's name as the text format has it, from JSON's camel case or from itself."""
    return name if name.startswith("[") else re.sub("[A-Z]", lambda match: f"_{match.group().lower()}", name)
