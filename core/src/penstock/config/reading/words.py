"""What protobuf's readers say is wrong, in words for users."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.reading.scan import snake_case

if TYPE_CHECKING:
    from penstock.config.options.types import OptionTypes

TOO_DEEP: Final = "its brackets are nested too deep"

#: Fields that an error lists in full.
_FEW: Final = 8
_NO_FIELD: Final = re.compile(r'[Mm]essage type "([^"]+)" has no field named "([^"]+)"')


def text_reason(error: Exception, types: OptionTypes) -> str:
    """Return why the text parser stopped, without its own line number and its copy of the line."""
    words = re.sub(r"^\d+:\d+ : ", "", str(error))
    words = re.sub(r"^'.*': (?=[A-Z])", "", words, flags=re.DOTALL)
    return with_near_fields(lowered(words.rstrip(".")), types)


def with_near_fields(words: str, types: OptionTypes) -> str:
    """Return an error's words; where they name a field that does not exist, with fields of similar names."""
    found = _NO_FIELD.search(words)
    if found is None:
        return lowered(words)
    message, field = found.groups()
    fields = [one.name for one in types.FindMessageTypeByName(message).fields]
    words = f"{message} has no field {field!r}"
    if near := get_close_matches(snake_case(field), fields, n=3):
        return f"{words} (did you mean {', '.join(map(repr, near))}?)"
    if field in CalculatorGraphConfig.DESCRIPTOR.fields_by_name:
        return f"{words}, but a graph has; is a bracket missing before it?"
    return f"{words}; it has {', '.join(fields) or 'none'}" if len(fields) <= _FEW else words


def lowered(words: str) -> str:
    """Return a sentence with a small first letter."""
    return words[:1].lower() + words[1:]
