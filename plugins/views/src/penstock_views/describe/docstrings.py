"""A component's docstring, taken apart: first sentence, the rest, and the example config at its end."""

from __future__ import annotations

import inspect
import re
from textwrap import dedent
from typing import Final

import attrs

#: Headings under which docstrings put what can be pasted into a graph file.
_EXAMPLE: Final = re.compile(
    r"^(?:Example config|Example|Config)::?\n\n?(?P<block>(?:[ ]{4}.*\n|[ ]*\n)+)", re.MULTILINE
)


@attrs.frozen
class Docstring:
    """A docstring in its parts, each without indentation and outer blank lines.

    Attributes:
        summary: the first paragraph, in one line; "" where there is no docstring.
        body: what follows, without the example.
        example: graph text; "" where the docstring has none.
    """

    summary: str = ""
    body: str = ""
    example: str = ""


def take_apart(docstring: str | None) -> Docstring:
    """Return the parts of a docstring."""
    if not docstring:
        return Docstring()
    text = inspect.cleandoc(docstring) + "\n"
    found = _EXAMPLE.search(text)
    example = ""
    if found is not None:
        example = dedent(found["block"]).strip()
        text = text[: found.start()] + text[found.end() :]
    summary, _, body = text.strip().partition("\n\n")
    return Docstring(" ".join(summary.split()), body.strip("\n"), example)
