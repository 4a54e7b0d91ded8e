"""How the wheel of `penstock` is built: by hatchling; in a clone of pip's, with the packs of the same commit.

`penstock` requires its packs by name. Where they are on no package index, `pip install git+URL` finds them
nowhere: pip does not know that they stand in the repository that it has just cloned. So in such a clone each
requirement says its place: `penstock-core @ git+URL@COMMIT#subdirectory=core`. Of a repository on this
machine (`git+file`) that is the folder of the pack, as it is there: before its version 24.1, pip refuses
`git+file` in requirements.

Anywhere else nothing is changed: uv knows the workspace, and a release is installed by name.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import hatchling.build

# The other hooks of a build backend (PEP 517, 660).
from hatchling.build import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

#: A requirement of a pack, in the text of a pyproject.toml.
_BY_NAME: Final = re.compile(r'"(?P<name>penstock-[a-z-]+)(?P<extras>\[[a-z,-]+\])?>=[^"]+"')


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of the project in the working directory (PEP 517)."""
    root = Path.cwd()
    if is_clone_of_pip(root):
        url, commit = _git("remote", "get-url", "origin"), _git("rev-parse", "HEAD")
        project = root / "pyproject.toml"
        placed = with_places(project.read_text(encoding="utf-8"), root, url, commit)
        project.write_text(placed, encoding="utf-8")
    return hatchling.build.build_wheel(wheel_directory, config_settings, metadata_directory)


def is_clone_of_pip(root: Path) -> bool:
    """Say whether pip has cloned a repository to `root`, to install from there."""
    is_temporary = root.name.startswith("pip-req-build-") or root.parent.name.startswith("pip-install-")
    return is_temporary and (root / ".git").exists()


def with_places(text: str, root: Path, url: str, commit: str) -> str:
    """Return a pyproject.toml in which each requirement of a pack says its place in the repository.

    Args:
        text: of the file.
        root: a clone of the repository.
        url: where it was cloned from.
        commit: of the clone.

    Raises:
        ValueError: a repository on this machine is bare, so it has no folders of packs.
    """
    if url.startswith("file://"):
        if not Path(url.removeprefix("file://"), "pyproject.toml").exists():
            raise ValueError(f"{url} is a repository without files; clone it, and give pip the clone")
        source = f"{url}/"
    else:
        source = f"git+{url}@{commit}#subdirectory="
    patterns = tomllib.loads(text)["tool"]["uv"]["workspace"]["members"]
    files = (file for pattern in patterns for file in root.glob(f"{pattern}/pyproject.toml"))
    folders = {_name(file): file.parent.relative_to(root).as_posix() for file in files}

    def placed(found: re.Match[str]) -> str:
        place = f"{source}{folders[found['name']]}"
        plain = f'"{found["name"]} @ {place}"'
        # For pip, `name` and `name[extra]` are two things: without the first it searches the index for a pack
        # that another one requires without extras.
        return f'{plain}, "{found["name"]}{found["extras"]} @ {place}"' if found["extras"] else plain

    return _BY_NAME.sub(placed, text)


def _name(project: Path) -> str:
    name: str = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["name"]
    return name


def _git(*words: str) -> str:
    command = ["git", *words]  # pip has just used it
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
