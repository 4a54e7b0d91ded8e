"""Plain nodes, which most nodes of a graph are: read from graph text without protobuf's text parser.

A plain node has a calculator, streams, side packets, a name, an executor, and nothing else. Such nodes are
recognized by one regular expression and become messages without protobuf's text parser, which is written in
Python: 6 us a node instead of 70, with the places of its fields. A node with anything else (another field, a
comment, an escape, a letter beyond ASCII, a list in brackets, a field given twice) is left to the parser. So
nothing is read here that the parser would refuse or read otherwise.
"""

from __future__ import annotations

import re
from typing import Final

from penstock.record import NamedTuple

#: Possessive, as all repetitions here: no text is tried in more than one way.
SPACE: Final = r"\s*+"
#: A string of printable ASCII without escapes.
STRING: Final = r"""(?:"[ !\#-\[\]-~]*+"|'[ -&(-\[\]-~]*+')"""
_ONE: Final = ("name", "calculator", "executor")
_MANY: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")
_NAMES: Final = "|".join((*_ONE, *_MANY))

#: A plain node, and the comma or semicolon after it. To be compiled as re.ASCII.
PLAIN_NODE: Final = (
    rf"node{SPACE}:?{SPACE}\{{{SPACE}"
    rf"(?:(?:{_NAMES}){SPACE}:{SPACE}{STRING}{SPACE}[,;]?{SPACE})*+"
    rf"\}}(?:{SPACE}[,;])?+"
)
_FIELD: Final = re.compile(rf"({_NAMES}){SPACE}:{SPACE}({STRING}){SPACE}[,;]?{SPACE}", re.ASCII)
_BEGIN: Final = re.compile(rf"node{SPACE}:?{SPACE}\{{{SPACE}", re.ASCII)


class PlainNode(NamedTuple):
    """A node that can be made without the parser."""

    #: `start`, `end`: where it stands in the text, with the comma or semicolon after it.
    start: int
    end: int
    #: The fields of the message: name → a string or a list of strings.
    given: dict[str, str | list[str]]


class PlainField(NamedTuple):
    """One field of a plain node: its name, its string, and where it begins."""

    name: str
    value: str
    offset: int


def fields_of(text: str, start: int) -> list[PlainField]:
    """Return the fields of the plain node that begins at an offset of the text."""
    found = _BEGIN.match(text, start)
    fields = []
    while found is not None:
        found = _FIELD.match(text, found.end())
        if found is not None:
            name, value = found.groups()
            fields.append(PlainField(name, value[1:-1], found.start()))
    return fields


def given_by(fields: list[PlainField]) -> dict[str, str | list[str]] | None:
    """Return the fields of a message: name → value; None where one that may be given once is given twice."""
    given: dict[str, str | list[str]] = {}
    for name, value, _ in fields:
        if name in _ONE:
            if name in given:
                return None
            given[name] = value
        elif name in given:
            given[name].append(value)  # type: ignore[union-attr]  # a list, since the field is one of many
        else:
            given[name] = [value]
    return given
