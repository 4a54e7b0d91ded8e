"""Write the table of libraries into docs/licences.md: `python scripts/dependency_table.py`.

What Penstock asks for is in the `pyproject.toml` of its distributions. Licence and version of a library are
the installed one's; where a library is not installed, the page keeps its row.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections import defaultdict
from typing import Any, Final

from members import ROOT, TRAIN, members

PAGE: Final = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- libraries -->\n", "<!-- /libraries -->"
_REQUIREMENT: Final = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]*\])?(?P<range>[^;]*)")
#: Words in a metadata field "License" → the identifier.
_IDENTIFIERS: Final = {
    "apache": "Apache-2.0",
    "3-clause": "BSD-3-Clause",
    "bsd": "BSD-3-Clause",
    "mit": "MIT",
    "hpnd": "HPND",
    "lgpl": "LGPL",
}
_LONGEST: Final = 70


def asked_for() -> dict[str, tuple[set[str], set[str]]]:
    """Return library → the ranges of versions, and the distributions that ask for it, extras in brackets."""
    found: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for member in members():
        if member.place not in TRAIN:
            continue
        extras = member.project.get("optional-dependencies", {})
        asked = [("", text) for text in member.project.get("dependencies", [])]
        asked += [
            (f"[{extra}]", text) for extra, texts in extras.items() if extra != "testing" for text in texts
        ]
        for extra, text in asked:
            match = _REQUIREMENT.match(text)
            if match is None or match["name"].startswith("penstock"):
                continue
            ranges, users = found[match["name"].lower()]
            ranges.add(match["range"].strip() or "any")
            users.add(f"{member.name.removeprefix('penstock-')}{extra}")
    return dict(found)


def written(page: str) -> str:
    """Return the page with the table of the libraries that are asked for.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, begin, rest = page.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE} lacks the marks of the table")
    known = dict(re.findall(r"^\| `([\w.-]+)` \| (.*? \| .*?) \|", old, re.MULTILINE))
    lines = ["| library | licence | tried | asked for | by |", "|---|---|---|---|---|"]
    for name, (ranges, users) in sorted(asked_for().items()):
        about = _installed(name) or known.get(name) or "not installed | "
        lines.append(f"| `{name}` | {about} | {' or '.join(sorted(ranges))} | {', '.join(sorted(users))} |")
    table = "\n".join(lines)
    return f"{before}{BEGIN}{table}\n{END}{after}"


def _installed(name: str) -> str:
    """Return licence and version of a library; "" where it is not installed."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
    return f"{_licence(found)} | {found.version}"


def _licence(found: importlib.metadata.Distribution) -> str:
    metadata: Any = found.metadata  # a message of mail, of which the types say less
    said = {name.lower(): str(value) for name, value in metadata.items() if name != "Classifier"}
    if "license-expression" in said:
        return said["license-expression"]
    classifiers = [one for one in metadata.get_all("Classifier") or [] if one.startswith("License ::")]
    text = said.get("license", "").split("\n")[0][:_LONGEST]
    for words in (*classifiers, text):
        for word, identifier in _IDENTIFIERS.items():
            if word in words.lower():
                return identifier
    return text or "not said"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
