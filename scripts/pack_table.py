"""Write the tables of distributions into docs/packs.md, by purpose: `python scripts/pack_table.py`.

What a row says is in the `pyproject.toml` of its distribution.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from members import ROOT, TRAIN, Member, members

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE: Final = ROOT / "docs" / "packs.md"
BEGIN, END = "<!-- packs -->\n", "<!-- /packs -->"

#: Purpose → the folders of its distributions, in the order of the page.
PURPOSES: Final = {
    "The engine, and what every graph uses": ("core", "plugins/stream-handlers", "plugins/executors"),
    "To write graphs and to test calculators": ("plugins/graphs", "plugins/testing", "plugins/editor"),
    "Nodes for any stream": ("plugins/calculators", "subgraphs/flow"),
    "Video, images, sound": (
        "plugins/video",
        "plugins/image",
        "plugins/gpu",
        "plugins/audio",
        "plugins/formats",
        "subgraphs/image",
    ),
    "Models, and people in images": (
        "plugins/mediapipe",
        "plugins/detect",
        "plugins/tensors",
        "plugins/vision",
        "subgraphs/mediapipe",
    ),
    "To run graphs, and to see what they do": (
        "plugins/cli",
        "plugins/views",
        "plugins/monitor",
        "plugins/record",
    ),
    "To go on after failures, and to change a running graph": ("plugins/failures", "plugins/steering"),
    "More than one process": ("plugins/remote", "plugins/bridges"),
}
#: By others, with versions of their own.
CONTRIB: Final = "contrib"
_NAME: Final = re.compile(r"[\w.-]+")


def written(page: str) -> str:
    """Return the page with the tables of the distributions that there are.

    Raises:
        ValueError: a distribution has no purpose, a purpose names none, or the page lacks a mark.
    """
    found = members()
    parts = re.split(f"{BEGIN}.*?{END}", page, flags=re.DOTALL)
    if len(parts) != 3:  # noqa: PLR2004  # the two tables divide the page into three
        raise ValueError(f"{len(parts) - 1} tables are marked, expected 2: those of Penstock, and others'")
    others = [member for member in found if member.place == CONTRIB]
    tables = (_by_purpose(found), table_of(others, found))
    marked = ("\n".join([BEGIN.rstrip(), *lines, END]) for lines in tables)
    return "".join(text for pair in zip(parts, (*marked, ""), strict=True) for text in pair)


def _by_purpose(found: Sequence[Member]) -> list[str]:
    """Return a heading and a table for each purpose."""
    standard = {member.folder: member for member in found if member.place in TRAIN}
    named = [folder for folders in PURPOSES.values() for folder in folders]
    if wrong := sorted({*standard} ^ {*named}) or [name for name in standard if named.count(name) > 1]:
        raise ValueError(f"PURPOSES in scripts/pack_table.py must have each distribution once: {wrong}")
    lines = []
    for purpose, folders in PURPOSES.items():
        lines += [f"### {purpose}", "", *table_of([standard[folder] for folder in folders], found), ""]
    return lines


def table_of(shown: Sequence[Member], found: Sequence[Member]) -> list[str]:
    """Return the lines of a table; `found` are all members, with the core first.

    What the core requires, every distribution has.
    """
    of_core = set(_required(found[0]))
    rows = []
    for member in shown:
        required = [one for one in _required(member) if member.place == "core" or one not in of_core]
        link = f"[`{member.name}`](../{member.folder}/README.md)"
        said = member.project["description"]
        rows.append(f"| {link} | {said} | {', '.join(required)} | {_bringer(member)} |")
    return ["| distribution | what it is | requires | comes with |", "|---|---|---|---|", *rows]


def _required(member: Member) -> list[str]:
    """Return the distributions of others that a member requires."""
    names = [_NAME.match(text) for text in member.project.get("dependencies", [])]
    return [name[0] for name in names if name and not name[0].startswith("penstock-")]


def _bringer(member: Member) -> str:
    """Return what else brings a member: `penstock`, some of its extras, or nothing."""
    if member.place not in TRAIN:
        return ""
    extras = [f"`penstock[{extra}]`" for extra in member.extras]
    return ", ".join(["`penstock`", *extras] if member.is_standard else extras)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
