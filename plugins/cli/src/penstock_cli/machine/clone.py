"""Where the distributions of Penstock are, if the core was installed in editable form from a clone.

A pack that nobody has released yet is on no package index: `pip install penstock-image` finds it only after a
release. In a clone the folder of the pack is beside that of the core, and pip installs it from there.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    from collections.abc import Iterable

_CORE: Final = "penstock-core"
#: Where the distributions are below the root of the repository.
_PLACES: Final = ("*/pyproject.toml", "*/*/pyproject.toml")
_REQUIREMENT: Final = re.compile(r"(?P<name>penstock(?:-[a-z0-9]+)*)(?:\[(?P<extras>[a-z0-9,-]+)\])?")


def from_clone(name: str) -> list[str]:
    """Return the folders that pip must install for a distribution, in editable form; none without a clone.

    Args:
        name: of the distribution, with its extras: "penstock-views[draw]".

    Returns:
        the folder of the distribution with its extras, then those of the distributions that it requires and
        that are not installed.
    """
    wanted = _REQUIREMENT.fullmatch(name)
    root = root_of_clone() if wanted else None
    folders = {} if root is None else _folders(root)
    if wanted is None or wanted["name"] not in folders:
        return []
    needed = [wanted["name"]]
    seen = {name}
    for each in (remaining := [wanted]):
        for other in _requirements(folders[each["name"]], each["extras"] or ""):
            if other[0] in seen or other["name"] not in folders:
                continue
            seen.add(other[0])
            if other["name"] in needed or not _is_installed(other["name"]):
                needed.append(other["name"])
                remaining.append(other)
    found = [str(folders[each]) for each in dict.fromkeys(needed)]
    return [f"{found[0]}[{wanted['extras']}]" if wanted["extras"] else found[0], *found[1:]]


def missing_from_clone(names: Iterable[str]) -> list[str]:
    """Return the arguments with which pip installs those of the distributions that are not installed.

    They are "-e" and a folder for each, and for what it requires; none without a clone.
    """
    folders = (folder for name in names if not _is_installed(name) for folder in from_clone(name))
    return [word for folder in dict.fromkeys(folders) for word in ("-e", folder)]


def root_of_clone() -> Path | None:
    """Return the clone that has the installed core, or None if the core was not installed from a folder."""
    try:
        text = metadata.distribution(_CORE).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    origin = json.loads(text or "{}")  # PEP 610
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(url2pathname(urlsplit(origin["url"]).path)).parent


def _folders(root: Path) -> dict[str, Path]:
    """Return the folder of each distribution of a clone, by name."""
    projects = (file for place in _PLACES for file in root.glob(place))
    return {name: file.parent for file in projects if (name := _project(file).get("name"))}


def _requirements(folder: Path, extras: str) -> list[re.Match[str]]:
    """Return which distributions of Penstock the one in `folder` requires, with some of its extras."""
    project = _project(folder / "pyproject.toml")
    lists = [project.get("dependencies", [])]
    lists += [project.get("optional-dependencies", {}).get(extra, []) for extra in extras.split(",")]
    return [found for wanted in lists for each in wanted if (found := _REQUIREMENT.match(each))]


def _project(file: Path) -> dict[str, Any]:
    """Return the table `project` of a pyproject.toml; {} if it has none or cannot be read."""
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError):
        return {}
    return project if isinstance(project, dict) else {}


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True
