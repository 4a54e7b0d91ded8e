"""JSON text: the value that it holds, and where its members stand."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

from penstock import limits
from penstock.error_text import quoted
from penstock.readers import Spot, own_name, snake_case, tokens_of

_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'
TOO_DEEP: Final = "its brackets are nested too deep"


class JsonTextError(Exception):
    """Text that is no JSON."""

    def __init__(self, words: str, position: tuple[int, int] | None = None) -> None:
        super().__init__(words)
        #: What is wrong.
        self.words = words
        #: Line and column, or None where that is not known.
        self.position = position


def value_of(text: str) -> Any:
    """Return what a JSON text holds.

    Raises:
        JsonTextError: it is no JSON, or an object has a member twice.
        ResourceExhaustedError: it has more marks than a graph may have.
    """
    _check_marks(text)
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise JsonTextError(f"{error.msg[:1].lower()}{error.msg[1:]}", (error.lineno, error.colno)) from error
    except ValueError as error:
        raise JsonTextError(str(error)) from error
    except RecursionError as error:
        raise JsonTextError(TOO_DEEP) from error


def _check_marks(text: str) -> None:
    """Count brackets and commas before any value is made: an empty object takes 64 bytes, its text 3."""
    most = limits.current().tokens
    if _marks_in(text) > most and (count := _marks_in(re.sub(_STRING, "", text))) > most:
        limits.check("tokens", count, "this graph has too many words, numbers, strings and marks")


def _marks_in(text: str) -> int:
    return sum(text.count(mark) for mark in "{}[],:")


def tree_of(text: str) -> Spot:
    """Read correct JSON, and note where its members stand, named as in graph text."""
    root = Spot(0)
    #: The open brackets: the spot that members go to, and in a list the name of its elements.
    still_open: list[tuple[Spot, str | None]] = []
    name: str | None = None
    tokens = tokens_of(text)
    offset = 0
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        spot, elements = still_open[-1] if still_open else (root, "")
        if token.text in ("}", "]"):
            still_open.pop()
        elif after is not None and after.text == ":" and token.kind == "string":
            name = _field_name(token.text)
            offset = token.offset
        elif token.text not in (",", ":"):
            inner = root
            if name is not None and token.text != "[":
                inner = spot.add(name, offset)
            elif elements:
                inner = spot.add(elements, token.offset)
            if token.text == "[":
                still_open.append((spot, name or elements))
            elif token.text == "{":
                still_open.append((inner, None))
            name = None
    return root


def _field_name(literal: str) -> str:
    name: str = json.loads(literal)
    return f"[{own_name(name[1:-1])}]" if name.startswith("[") else snake_case(name)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict.

    Raises:
        ValueError: a member comes twice; `json` alone would drop the first.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the JSON text's member {quoted(twice)} comes twice in one object")
    return members
