"""Plain nodes, which most nodes of a graph are: read from graph text without protobuf's text parser.

A plain node has a calculator, streams, side packets, a name, an executor, and nothing else. Such nodes are
recognized by one regular expression and become messages without protobuf's text parser, which is written in
Python: 6 us a node instead of 70, with the places of its fields. A node with anything else (another field, a
comment, an escape, a letter beyond ASCII, a list in brackets, a field given twice) is left to the parser. So
nothing is read here that the parser would refuse or read otherwise.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from penstock.check.spec import Text
from penstock.record import NamedTuple

#: Possessive, as all repetitions here: no text is tried in more than one way.
SPACE: Final = r"\s*+"
#: A string of printable ASCII without escapes.
STRING: Final = r"""(?:"[ !\#-\[\]-~]*+"|'[ -&(-\[\]-~]*+')"""
#: Fields that may be given once, and fields that may be given any number of times.
ONE: Final = ("name", "calculator", "executor")
MANY: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")
_NAMES: Final = "|".join((*ONE, *MANY))

#: A plain node, and the comma or semicolon after it. To be compiled as re.ASCII.
PLAIN_NODE: Final = (
    rf"node{SPACE}:?{SPACE}\{{{SPACE}"
    rf"(?:(?:{_NAMES}){SPACE}:{SPACE}{STRING}{SPACE}[,;]?{SPACE})*+"
    rf"\}}(?:{SPACE}[,;])?+"
)
_FIELD: Final = re.compile(rf"({_NAMES}){SPACE}:{SPACE}({STRING})", re.ASCII)

#: The fields of a plain node: name → its values, each with its place.
PlainFields: TypeAlias = "dict[str, list[Text]]"


class PlainNode(NamedTuple):
    """A node that can be made without the parser."""

    #: `start`, `end`: where it stands in the text, with the comma or semicolon after it.
    start: int
    end: int
    #: The fields of the message: name → a string or a list of strings.
    given: dict[str, str | list[str]]


def half_character(text: str) -> re.Match[str] | None:
    """Return the first half of a character; protobuf crashes where an enum is given such a name."""
    return None if text.isascii() else re.search("[\ud800-\udfff]", text)


def fields_of(text: str, start: int, end: int) -> tuple[PlainFields, bool]:
    """Return the fields of the plain node that stands there in the text, and whether they are right.

    They are not where one is given twice that may be given once.
    """
    fields: PlainFields = {}
    are_right = True
    for found in _FIELD.finditer(text, start, end):
        name, value = found.groups()
        field = Text(value[1:-1], found.start())
        if name not in fields:
            fields[name] = [field]
        else:
            fields[name].append(field)
            are_right = are_right and name not in ONE
    return fields, are_right


def given_by(fields: PlainFields) -> dict[str, str | list[str]]:
    """Return the fields of the message: name → a string or a list of strings."""
    return {
        name: values[0].text if name in ONE else [value.text for value in values]
        for name, values in fields.items()
    }
