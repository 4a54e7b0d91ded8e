"""The entry points of one group, read from the files that pip leaves, without Python's own reader.

Programs that are frozen may have no such files; they have the module `penstock_table` in their place, which
`penstock.freezing` writes.

That reader imports 40 modules, the one for e-mail among them: 25 ms, a third of what the first small graph
takes. This module reads only files as pip writes them. Anything else (a finder of the application's own,
a zip file, an egg, a file with another layout) makes `ordinary_points` return None, and Python's reader
is used: so there is one answer, and one reader reports the mistakes in such files.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Final

from penstock.frozen_children import is_frozen
from penstock.record import NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_UNREADABLE: Final = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)
#: "module" or "module:attribute".
_TARGET: Final = r"(?a:[\w.]+(?::[\w.]+)?)"
_POINT_NAME: Final = r"(?a:[\w.-]+)"
_HEADER: Final = r"[A-Za-z][A-Za-z-]*: ?\S.*"
_SECTION: Final = r"\[[^\[\]]+\]"


class OrdinaryPoint(NamedTuple):
    """An entry point, with `name`, `value` and `load()` as Python's own has them."""

    name: str
    #: "module" or "module:attribute".
    value: str
    #: `distribution`, `version`: of its owner.
    distribution: str
    version: str

    def load(self) -> object:
        """Import what it names."""
        module, _, attribute = self.value.partition(":")
        found: object = import_module(module)
        for part in filter(None, attribute.split(".")):
            found = getattr(found, part)
        return found


def ordinary_points(group: str) -> list[OrdinaryPoint] | None:
    """Return the entry points of a group in the order of `sys.path`; None where Python's reader is needed.

    A distribution that `sys.path` leads to twice counts once, as the first one found.
    """
    folders = path_folders()
    if folders is None:
        return None
    found: list[OrdinaryPoint] = []
    seen: set[str] = set()
    mark = f"[{group}]".encode()
    for info in metadata_folders(folders):
        text = _bytes_of(os.path.join(info, "entry_points.txt"))  # noqa: PTH118  # pathlib costs more here
        if mark not in text:
            continue
        points = _points_of(info, text, group)
        if points is None:
            return None
        name = canonical(points[0].distribution)
        if name not in seen:
            found += points
            seen.add(name)
    return found


def path_folders() -> list[tuple[str, list[str]]] | None:
    """Return the folders of `sys.path` and the names in each; None where Python's reader is needed."""
    if [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")] != [PathFinder]:
        return None
    found = []
    for folder in sys.path:
        names = _names_in(folder or ".")
        if names is None:
            return None
        found.append((folder or ".", names))
    return found


def metadata_folders(folders: list[tuple[str, list[str]]]) -> list[str]:
    """Return the folders of metadata among the names that `path_folders` has found."""
    return [
        os.path.join(folder, name)  # noqa: PTH118  # pathlib costs more here
        for folder, names in folders
        for name in names
        if name[-4:].lower() == "info" and name.lower().endswith((".dist-info", ".egg-info"))
    ]


def table_points(group: str) -> list[OrdinaryPoint]:
    """Return the entry points of a group in the table of a frozen program; none where there is no table."""
    try:
        import penstock_table  # type: ignore[import-not-found, unused-ignore]  # only such programs have it
    except ModuleNotFoundError as error:
        if error.name != "penstock_table":
            raise
        return []
    return [OrdinaryPoint(*row[1:]) for row in penstock_table.POINTS if row[0] == group]


def entry_points(group: str) -> list[EntryPoint | OrdinaryPoint]:
    """Return the entry points of a group of a pack's own; `discovery` reads the group of plugins itself.

    For packs that let other packs bring something. In a frozen program, the entry points of its table are
    added where no metadata of their distribution is.
    """
    import importlib.metadata  # brings 40 modules

    found = list(importlib.metadata.entry_points(group=group))
    if not is_frozen():
        return [*found]
    there = {canonical(point.dist.name) for point in found if point.dist is not None}
    return [*found, *(point for point in table_points(group) if canonical(point.distribution) not in there)]


@cache
def canonical(distribution: str) -> str:
    """Return a distribution's name in the one spelling that pip compares (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _names_in(folder: object) -> list[str] | None:
    """Return the names in a folder of `sys.path`; None where it is no plain folder."""
    if not isinstance(folder, str) or folder.lower().endswith(".egg"):
        return None
    try:
        return os.listdir(folder)  # noqa: PTH208  # as above
    except NotADirectoryError:  # a zip file, say
        return None
    except OSError:  # nothing there, as Python's reader sees it
        return []


def _bytes_of(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            return opened.read()
    except _UNREADABLE:
        return b""


def _points_of(info: str, data: bytes, group: str) -> list[OrdinaryPoint] | None:
    """Return the entry points of one distribution; None where something is out of the ordinary."""
    if not info.endswith(".dist-info"):
        return None
    metadata = _bytes_of(os.path.join(info, "METADATA"))  # noqa: PTH118
    try:
        lines, headers = data.decode("utf-8").split("\n"), metadata.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    name, version = _header(headers, "Name"), _header(headers, "Version")
    targets = _targets(lines, group)
    if not name or not version or not targets:
        return None
    return [OrdinaryPoint(point, target, name, version) for point, target in targets]


def _header(lines: list[str], field: str) -> str | None:
    """Return a field of METADATA; None where it is not there exactly once, in one line."""
    found = None
    is_last = False
    for line in lines:
        if not line.strip():
            break
        if is_last and line[0] in " \t":  # it goes on
            return None
        is_last = line.startswith(f"{field}:")
        if is_last:
            if found is not None or not re.fullmatch(_HEADER, line):
                return None
            found = line.partition(":")[2].strip()
    return found


def _targets(lines: list[str], group: str) -> list[tuple[str, str]] | None:
    """Return names and targets of a group; None where pip would not have written a line so."""
    section = None
    targets = []
    for line in map(str.strip, lines):
        if not line or line.startswith("#"):
            continue
        if re.fullmatch(_SECTION, line):
            section = line[1:-1]
            continue
        name, equals, target = map(str.strip, line.partition("="))
        if section is None or not equals:
            return None
        if section == group:
            if not re.fullmatch(_POINT_NAME, name) or not re.fullmatch(_TARGET, target):
                return None
            targets.append((name, target))
    return targets
