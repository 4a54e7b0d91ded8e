"""Comments that silence rules: `# penstock: ignore[PS205] reason`, above a node or on its first line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock_lint.finding import Finding

_COMMENT: Final = re.compile(r"#\s*penstock:\s*ignore\[(?P<codes>[^\]]*)\](?P<reason>.*)")


@attrs.define
class Silence:
    """One comment."""

    #: `line`, `column`: where it stands, counted from 1.
    line: int
    column: int
    #: The line whose findings it silences: its own, or the next one that holds more than a comment.
    target: int
    #: The codes of the rules.
    codes: tuple[str, ...]
    #: Why.
    reason: str
    #: The codes that it has silenced.
    used: set[str] = attrs.field(factory=set)


def silences_in(text: str) -> list[Silence]:
    """Return the comments of a graph file. One inside of a string counts too; no option has such text."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if match is None:
            continue
        target = number
        if not line[: match.start()].strip():
            rest = enumerate(lines[number:], number + 1)
            target = next((n for n, one in rest if one.strip() and not one.strip().startswith("#")), number)
        codes = tuple(code.strip() for code in match["codes"].split(",") if code.strip())
        found.append(Silence(number, match.start() + 1, target, codes, match["reason"].strip()))
    return found


def unsilenced(findings: Iterable[Finding], silences: list[Silence]) -> Iterator[Finding]:
    """Yield the findings that no comment silences, and note which comments do."""
    for finding in findings:
        by = [one for one in silences if one.target == finding.line and finding.code in one.codes]
        for one in by:
            one.used.add(finding.code)
        if not by:
            yield finding
