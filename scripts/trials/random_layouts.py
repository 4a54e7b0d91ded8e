"""Graph text in random layouts: the same graph is written in as many ways as text format has.

A graph depends on a seed and a number. It has comments at every place that may have one, blank lines, commas
and semicolons, both kinds of quotes and of brackets, lists, strings in pieces, options in both forms, and
nested messages. All of it can be read by `penstock.config.read_graph`.
"""

from __future__ import annotations

import random
from typing import Final

_WORDS: Final = (
    "frame",
    "mask",
    "IMAGE:a",
    "TAG:1:b",
    "x y",
    "é",
    "it's",
    'say "a"',
    "a\\\\b",
    "\\n",
    "# no",
    "{",
    "",
)
_COMMENTS: Final = ("# a comment", "#", "# é { [", '# "open', "## penstock: ignore[PS101] so it is", "#\ttab")
_STRINGS: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")
_OPTIONS: Final = "GateCalculatorOptions"


def random_graph(seed: int, number: int) -> str:
    """Return the text of a graph."""
    return _Writer(random.Random(f"{seed}.{number}")).graph()  # noqa: S311  # not for secrets


class _Writer:
    """Writes one graph."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        #: How many of 100 gaps have a comment.
        self._comments = chance.choice((0, 0, 5, 30))
        #: How many of 100 gaps have a new line.
        self._lines = chance.choice((0, 10, 50, 90))

    def graph(self) -> str:
        parts = [self._gap()]
        if self._is(50):
            parts.append(self._texts("input_stream"))
        if self._is(30):
            parts.append(self._number("num_threads"))
        if self._is(30):
            parts.append(self._message("executor", self._text("name"), self._text("type")))
        parts += [self._node() for _ in range(self._chance.randrange(5))]
        if self._is(20):
            parts.append(self._nodes())
        if self._is(50):
            parts.append(self._texts("output_stream"))
        return "".join(parts)

    def _node(self) -> str:
        return self._message("node", *self._inside_node())

    def _nodes(self) -> str:
        """Return nodes as a list."""
        nodes = [self._brackets(*self._inside_node()) for _ in range(self._chance.randrange(4))]
        return self._field("node", self._list(nodes), colon=self._is(50))

    def _inside_node(self) -> list[str]:
        fields = [self._text("calculator")]
        fields += [self._texts(self._chance.choice(_STRINGS)) for _ in range(self._chance.randrange(4))]
        if self._is(40):
            inner = self._message(f"[{self._gap()}penstock{self._gap()}.{_OPTIONS}.ext]", *self._options())
            fields.append(self._message("options", inner))
        if self._is(30):
            package = self._chance.choice(("mediapipe", "penstock"))
            name = f"[type.googleapis.com/{self._gap()}{package}.{_OPTIONS}]"
            # protobuf for Python takes no separator behind a packed message.
            packed = f"{name}{self._gap()}{self._brackets(*self._options())}{self._gap()}"
            fields.append(self._message("node_options", packed))
        if self._is(20):
            fields.append(
                self._message("input_stream_info", self._text("tag_index"), self._word("back_edge"))
            )
        self._chance.shuffle(fields)
        return fields

    def _options(self) -> list[str]:
        return [self._word(one) for one in ("allow", "empty_packets_as_allow") if self._is(50)]

    # --- fields ---------------------------------------------------------------------------------------

    def _texts(self, name: str) -> str:
        if self._is(70):
            return self._text(name)
        values = [self._string() for _ in range(self._chance.randrange(4))]
        return self._field(name, self._list(values))

    def _text(self, name: str) -> str:
        return self._field(name, self._string())

    def _word(self, name: str) -> str:
        return self._field(name, self._chance.choice(("true", "false")))

    def _number(self, name: str) -> str:
        return self._field(name, self._chance.choice(("3", "0x1F", "017", "0")))

    def _message(self, name: str, *fields: str) -> str:
        return self._field(name, self._brackets(*fields), colon=self._is(30))

    def _field(self, name: str, value: str, *, colon: bool = True) -> str:
        mark = f"{self._gap()}:" if colon else ""
        end = self._chance.choice((",", ";", "", "", "", ""))
        return f"{name}{mark}{self._gap()}{value}{self._gap()}{end}{self._gap()}"

    # --- values ---------------------------------------------------------------------------------------

    def _brackets(self, *fields: str) -> str:
        opening, closing = self._chance.choice(("{}", "{}", "<>"))
        return f"{opening}{self._gap()}{''.join(fields)}{closing}"

    def _list(self, values: list[str]) -> str:
        inside = ",".join(f"{self._gap()}{value}{self._gap()}" for value in values)
        return f"[{inside or self._gap()}]"

    def _string(self) -> str:
        pieces = [self._literal() for _ in range(self._chance.choice((1, 1, 1, 1, 3)))]
        return "".join(f"{piece}{self._gap()}" for piece in pieces)

    def _literal(self) -> str:
        word = self._chance.choice(_WORDS)
        quotes = [quote for quote in "\"'" if quote not in word]
        quote = self._chance.choice(quotes)
        return f"{quote}{word}{quote}"

    def _gap(self) -> str:
        """Return blanks, new lines and comments, with at least one blank."""
        parts = [self._chance.choice((" ", " ", "   ", "\t"))]
        if self._is(self._lines):
            parts.append(self._chance.choice(("\n", "\n\n", "\n \n\n", "\r\n")))
        while self._is(self._comments):
            parts.append(f" {self._chance.choice(_COMMENTS)}{self._chance.choice((' ', ''))}\n")
        return "".join(parts)

    def _is(self, percent: int) -> bool:
        return self._chance.randrange(100) < percent
