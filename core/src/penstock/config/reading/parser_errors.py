"""What protobuf's readers say is wrong, in words for users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.reading.scan import snake_case
from penstock.near_names import did_you_mean
from penstock.shown import clipped, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.config.options.option_types import OptionTypes

TOO_DEEP: Final = "its brackets are nested too deep"

#: Fields that an error lists in full.
_FEW: Final = 8
#: What protobuf 5 and 7 say of a name in brackets that must be a type URL.
_NO_TYPE_URL: Final = ('expected "/"', 'type URL does not contain "/"')
_NO_FIELD: Final = re.compile(r'[Mm]essage type "([^"]+)" has no field named "([^"]+)"')
#: A value in quotes keeps them here, and a number has other words before it.
_NO_VALUE: Final = re.compile(r'[Ee]num type "([^"]+)" has no value named (.+)')
#: What protobuf says of the name of options that are not in the form that their field takes.
_MISPLACED: Final = ". Did you import the _pb2 module"
_BOTH_FORMS: Final = (
    "; write options { [package.XOptions.ext] { ... } }, or "
    "node_options { [type.googleapis.com/package.XOptions] { ... } }"
)


def text_reason(error: Exception, types: OptionTypes, right: Callable[[str, str], str]) -> str:
    """Return why the text parser stopped, without its own line number and its copy of the line."""
    words = re.sub(r"^\d+:\d+ : ", "", str(error))
    words = re.sub(r"^'.*': (?=[A-Z])", "", words, flags=re.DOTALL)
    words = lowered(words.rstrip("."))
    if found := _NO_VALUE.fullmatch(words):
        return _no_value(found[1], found[2], types)
    return parser_error_words(words, types, right)


def _no_value(enum: str, written: str, types: OptionTypes) -> str:
    """Return what is wrong with a value of an enum, and what to write instead."""
    values = _values_of(enum, types)
    bare = written.strip("\"'")
    if bare != written and bare in values:
        return f"{written} is a value of an enum, which has no quotes; write {bare}"
    words = f"enum type {enum} has no value {quoted(bare)}"
    if meant := did_you_mean(bare, values):
        return f"{words}{meant}"
    return f"{words}; it has {', '.join(values)}" if 0 < len(values) <= _FEW else words


def _values_of(enum: str, types: OptionTypes) -> list[str]:
    """Return the names of an enum's values; none for an enum that is inside of no message."""
    message, _, name = enum.rpartition(".")
    try:
        found = types.FindMessageTypeByName(message).enum_types_by_name.get(name)
    except KeyError:
        return []
    return [] if found is None else list(found.values_by_name)


def parser_error_words(words: str, types: OptionTypes, right: Callable[[str, str], str]) -> str:
    """Return an error's words; where they name a field that does not exist, with what to write instead.

    `right`, called with the message and the field, says it where it knows.
    """
    found = _NO_FIELD.search(words)
    if found is None:
        what, is_misplaced, _ = words.partition(_MISPLACED)
        return lowered(clipped(what)) + (_BOTH_FORMS if is_misplaced or what in _NO_TYPE_URL else "")
    message, field = found.groups()
    fields = [one.name for one in types.FindMessageTypeByName(message).fields]
    words = f"{message} has no field {quoted(field)}"
    if instead := right(message, field):
        return f"{words}{instead}"
    if field in CalculatorGraphConfig.DESCRIPTOR.fields_by_name:
        return f"{words}, but a graph has; is a bracket missing before it?"
    if meant := did_you_mean(snake_case(field), fields):
        return f"{words}{meant}"
    return f"{words}; it has {', '.join(fields) or 'none'}" if len(fields) <= _FEW else words


def lowered(words: str) -> str:
    """Return a sentence with a small first letter."""
    return words[:1].lower() + words[1:]
