"""Docstrings, taken apart: of a component the summary, the rest and the example; of options the fields."""

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

_HEADING: Final = re.compile(r"^\s*(?:Attributes|Args):\s*$")
_ENTRY: Final = re.compile(r"^(?P<indent>\s+)(?P<names>\w+(?:, \w+)*)(?: \([^)]*\))?: (?P<text>.*)$")


@attrs.frozen
class Docstring:
    """A docstring in its parts, each without indentation and outer blank lines."""

    #: The first paragraph, in one line; "" where there is no docstring.
    summary: str = ""
    #: What follows, without the example.
    body: str = ""
    #: Graph text; "" where the docstring has none.
    example: str = ""


def docstring_parts(docstring: str | None) -> Docstring:
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


def described_fields(docstring: str | None) -> dict[str, str]:
    """Return what a docstring says under "Attributes:" or "Args:": name → its text, in one line."""
    found: dict[str, str] = {}
    names: list[str] = []
    indent = -1
    for line in (docstring or "").expandtabs().splitlines():
        if _HEADING.match(line):
            names, indent = [], 0
            continue
        entry = _ENTRY.match(line)
        depth = len(line) - len(line.lstrip())
        if entry is not None and indent in {0, depth}:
            indent = depth
            names = entry["names"].split(", ")
            found.update(dict.fromkeys(names, entry["text"].strip()))
        elif names and depth > indent:
            found.update({name: f"{found[name]} {line.strip()}" for name in names})
        elif line.strip():
            names, indent = [], -1
    return found


def summary_of(cls: type) -> str:
    """Return what a class's own docstring says before it comes to the attributes, in one line."""
    before = []
    for line in (cls.__dict__.get("__doc__") or "").splitlines():
        if _HEADING.match(line):
            break
        before.append(line)
    return " ".join(" ".join(before).split())
