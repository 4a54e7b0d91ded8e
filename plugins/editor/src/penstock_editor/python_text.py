"""Graph text in strings of Python files: `GRAPH = \"\"\"...\"\"\"`, `CalculatorGraph(\"\"\"...\"\"\")`.

The file is not run, and need not be whole. Strings that Python fills in when it runs, f-strings and strings
with `.format` or `%` behind them, are left alone: what they hold is no graph yet.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRING: Final = re.compile(
    r"""\#[^\n]*
      | (?<![A-Za-z0-9_])(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"""|'''|"|')""",
    re.VERBOSE,
)
_ENDS: Final = {
    quote: re.compile(rf"(?P<content>(?:[^\\]|\\.)*?)(?:{quote}|\Z)", re.DOTALL) for quote in ('"""', "'''")
} | {
    '"': re.compile(r'(?P<content>(?:[^"\\\n]|\\.)*+)(?:"|(?=\n)|\Z|\\\Z)', re.DOTALL),
    "'": re.compile(r"(?P<content>(?:[^'\\\n]|\\.)*+)(?:'|(?=\n)|\Z|\\\Z)", re.DOTALL),
}
_PREFIXES: Final = ("", "r", "u", "b", "f", "br", "rb", "fr", "rf")
_ESCAPE: Final = re.compile(
    r"\\(?:\r\n|N\{[^}\n]*\}|U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL
)
#: What stands before a string that is a graph: a name with "graph" or "config" in it, or the class of graphs.
_MEANT: Final = re.compile(
    r"(?:\b\w*(?:graph|config|pbtxt)\w*\s*(?::[^=\n]*)?=|\bCalculatorGraph\()\s*\(?\s*$", re.IGNORECASE
)
#: How much text is looked at before a string.
_BEFORE: Final = 120
_FILLED_IN: Final = re.compile(r"\s*(?:\)\s*)?(?:\.format(?:_map)?\s*\(|%(?!\s*$))")
_COMMENTS: Final = r"\s*(?:\#[^\n]*\s+)*"
_FIELDS: Final = "input_stream|output_stream|input_side_packet|output_side_packet|executor|node"
_IS_GRAPH: Final = re.compile(rf"{_COMMENTS}(?:type\s*:[^\n]*\s+)?(?:{_FIELDS})\s*(?::|\{{|<)")
#: The same while it is typed, where the name of the variable says that it will be one.
_MAY_BE: Final = re.compile(rf"{_COMMENTS}(?:$|[a-z_]+\s*(?:$|[:{{<])|%)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class GraphString:
    """One graph in a Python file."""

    #: What Python makes of the literals.
    text: str
    #: Offsets in `text`, and the offsets in the file that they stand at: where each run of characters begins
    #: that are the same in both.
    inner: tuple[int, ...]
    outer: tuple[int, ...]
    #: The quote of its first literal, and whether that is raw.
    quote: str
    is_raw: bool
    #: The offset in the file behind its last literal.
    end: int

    def to_file(self, offset: int) -> int:
        """Return where an offset of the graph stands in the file."""
        run = max(bisect_right(self.inner, offset) - 1, 0)
        return self.outer[run] + offset - self.inner[run]

    def from_file(self, offset: int) -> int | None:
        """Return the offset in the graph of one in the file; None where that is not in the graph."""
        if not self.outer[0] <= offset <= self.end:
            return None
        run = bisect_right(self.outer, offset) - 1
        after = self.inner[run + 1] if run + 1 < len(self.inner) else len(self.text)
        return min(self.inner[run] + offset - self.outer[run], after)

    def written(self, text: str) -> str:
        """Return a piece of graph text as the literal must have it."""
        if self.is_raw:
            return text.replace('"', "'") if self.quote == '"' else text
        text = text.replace("\\", "\\\\")
        if len(self.quote) == 1:
            text = text.replace(self.quote, f"\\{self.quote}").replace("\n", "\\n")
        return text


def graphs_in(source: str) -> list[GraphString]:
    """Return the graphs in the strings of a Python file, in order. Never fails."""
    return [one for literals in _literals(source) if (one := _graph(source, literals)) is not None]


def own_names(source: str) -> frozenset[str]:
    """Return the calculators that a Python file may define or import itself.

    These are its words, and those words in camel case: a function `brightness` is the calculator
    "Brightness".
    """
    words = set[str]()
    done = 0
    for literals in _literals(source):
        words.update(_WORD.findall(source, done, literals[0].start))
        content = "".join(source[one.content : one.content_end] for one in literals)
        if len(content) < 100 and _WORD.fullmatch(content):  # noqa: PLR2004  # no name is longer
            words.add(content)
        done = literals[-1].end
    words.update(_WORD.findall(source, done))
    return frozenset(words | {"".join(part.title() for part in one.split("_")) for one in words})


@dataclass(frozen=True)
class _Literal:
    prefix: str
    quote: str
    start: int
    content: int
    content_end: int
    end: int


def _literals(source: str) -> Iterator[list[_Literal]]:
    """Yield the string literals of a file, together where Python joins them since nothing parts them."""
    joined: list[_Literal] = []
    position = 0
    while (found := _STRING.search(source, position)) is not None:
        position = found.end()
        if not found["quote"]:
            continue
        content = _ENDS[found["quote"]].match(source, found.end())
        if content is None:
            continue
        position = content.end()
        prefix = found["prefix"].lower()
        one = _Literal(
            prefix if prefix in _PREFIXES else "",
            found["quote"],
            found.start() + (0 if prefix in _PREFIXES else len(prefix)),
            found.end(),
            content.end("content"),
            content.end(),
        )
        if joined and source[joined[-1].end : one.start].strip():
            yield joined
            joined = []
        joined.append(one)
    if joined:
        yield joined


def _graph(source: str, literals: list[_Literal]) -> GraphString | None:
    if any("f" in one.prefix or "b" in one.prefix for one in literals):
        return None
    first, last = literals[0], literals[-1]
    before = source[max(first.start - _BEFORE, 0) : first.start]
    pieces: list[str] = []
    inner, outer = [], []
    length = 0
    for one in literals:
        for start, end, text in _runs(source, one):
            inner.append(length)
            outer.append(start)
            piece = source[start:end] if text is None else text
            pieces.append(piece)
            length += len(piece)
    text = "".join(pieces)
    is_long = len(first.quote) > 1 or len(literals) > 1
    is_meant = is_long and _MEANT.search(before) is not None and _MAY_BE.match(text) is not None
    if not (is_meant or _IS_GRAPH.match(text)) or _FILLED_IN.match(source, last.end):
        return None
    return GraphString(
        text,
        tuple(inner),
        tuple(outer),
        first.quote,
        "r" in first.prefix,
        max(last.content_end, last.content),
    )


def _runs(source: str, one: _Literal) -> Iterator[tuple[int, int, str | None]]:
    """Yield the runs of a literal: start and end in the file, and its text where that is another."""
    done = one.content
    if "r" not in one.prefix:
        for found in _ESCAPE.finditer(source, one.content, one.content_end):
            if found.start() > done:
                yield done, found.start(), None
            yield found.start(), found.end(), _unescaped(found.group())
            done = found.end()
    yield done, one.content_end, None


def _unescaped(written: str) -> str:
    if written in {"\\\n", "\\\r\n"}:
        return ""
    try:
        value = ast.literal_eval(f'"{written}"') if written != '\\"' else '"'
    except (SyntaxError, ValueError):
        return written
    return str(value)
