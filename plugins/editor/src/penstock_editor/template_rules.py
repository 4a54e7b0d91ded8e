"""The rules of a template, between percent signs, where one is being written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.readers import tokens_of
from penstock_editor.forms import TEXT

if TYPE_CHECKING:
    from penstock_editor.graph_text import GraphText

_STATEMENTS: Final = ("for", "if", "end", "param")
_FUNCTIONS: Final = ("concat", "dict", "list", "lowercase", "max", "min", "range", "size", "uppercase")
_BOUND: Final = re.compile(r"%\s*(?:param\s+|for\s*\(\s*)([A-Za-z_]\w*)")


@dataclass(frozen=True)
class OpenRule:
    """A rule that has begun before a cursor."""

    #: Where the word before the cursor begins.
    start: int
    #: Whether a field's value is written; else a statement.
    is_value: bool
    #: Whether only the word stands behind the percent sign.
    is_first: bool


def rule_at(graph: GraphText, offset: int) -> OpenRule | None:
    """Return the rule that an offset of a text is in; None outside of rules, and in their strings."""
    start, part = graph.part_at(offset)
    if graph.form is not TEXT or "%" not in part.text:
        return None
    tokens = tokens_of(graph.text[start:offset])
    signs = [position for position, token in enumerate(tokens) if token.text == "%"]
    last = tokens[-1] if tokens else None
    if len(signs) % 2 == 0 or (last is not None and last.kind == "mark" and last.text[0] in "\"'"):
        return None
    inside = tokens[signs[-1] + 1 :]
    is_value = signs[-1] > 0 and tokens[signs[-1] - 1].text == ":"
    is_word = bool(inside) and inside[-1].kind == "word"
    is_word = is_word and start + inside[-1].offset + len(inside[-1].text) == offset
    begin = start + inside[-1].offset if is_word else offset
    return OpenRule(begin, is_value, is_first=len(inside) <= int(is_word))


def words_of_rule(graph: GraphText, rule: OpenRule) -> list[tuple[str, str]]:
    """Return what may be written in a rule, each with its kind: "name" or "value"."""
    if rule.is_first and not rule.is_value:
        return [(one, "value") for one in _STATEMENTS]
    names = dict.fromkeys(found[1] for found in _BOUND.finditer(graph.text))
    return [*((one, "name") for one in names), *((one, "value") for one in _FUNCTIONS)]
