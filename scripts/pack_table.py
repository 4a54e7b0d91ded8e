"""The distributions of the workspace as a table of Markdown, from their own `pyproject.toml`.

docs/_extensions/packs.py puts it into a page; to look at it: `python scripts/pack_table.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from members import TRAIN, Member, members

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACES: Final = (*TRAIN, "contrib")


def table_of(places: Sequence[str]) -> list[str]:
    """Return the lines of a Markdown table with the distributions of these places, in their order.

    Raises:
        ValueError: there is no such place.
    """
    if unknown := sorted(set(places) - set(PLACES)):
        raise ValueError(f"there is no place {unknown[0]!r}, expected some of {', '.join(PLACES)}")
    found = sorted(members(), key=lambda member: (PLACES.index(member.place), member.name))
    rows = [
        f"| `pip install {member.name}` | {member.project['description']} | {_bringer(member)} | "
        f"`{member.folder}` |"
        for member in found
        if member.place in places
    ]
    return ["| install | what it is | comes with | in the repository |", "|---|---|---|---|", *rows]


def _bringer(member: Member) -> str:
    """Return what else brings a member: `penstock`, some of its extras, or nothing."""
    if member.place not in TRAIN:
        return ""
    extras = [f"`penstock[{extra}]`" for extra in member.extras]
    return ", ".join(["`penstock`", *extras] if member.is_standard else extras)


if __name__ == "__main__":
    print("\n".join(table_of(PLACES)))
