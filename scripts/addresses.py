"""The public addresses of the project, put into what a release uploads.

They stand in one place, the table `tool.penstock.addresses` of the root pyproject.toml, and are empty
until the project has some. A package index shows the `[project.urls]` of a distribution and its README,
where a relative link leads nowhere: `stage` copies a distribution and fills both in, and the release is
built from the copy. In the repository READMEs keep relative links, which work there.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from typing import TYPE_CHECKING, Final, NamedTuple

from members import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: The empty table of each pyproject.toml; what `stage` writes is put below it.
_TABLE: Final = re.compile(r"^\[project\.urls\]\n(?:#.*\n)*", re.MULTILINE)
#: A link of Markdown that leads to a file: neither an address nor a heading of the same page.
_RELATIVE: Final = re.compile(r"(?<=\]\()(?![a-z]+:|#)(?P<path>[^)#\s]+)(?P<heading>#[^)\s]*)?(?=\))")
#: What builds, tests and tools leave beside the source.
_LEFT: Final = shutil.ignore_patterns(
    ".*", "__pycache__", "*.so", "*.pyd", "*.egg-info", "compiled.json", "dist"
)


class AddressError(Exception):
    """An address is missing, or a file is not as expected; says what to do."""


class Addresses(NamedTuple):
    """Where the project is published; "" where it is not."""

    #: The repository of the source, as people visit it.
    repository: str
    #: The documentation of the first page of these pages as a site; ends with a slash.
    documentation: str
    #: Below which a browser shows the repository's files; "{version}" in it is the release's.
    files: str

    def lacks(self) -> Iterator[str]:
        """Yield what keeps a release from being built, in words."""
        for name, address in self._asdict().items():
            place = f"{name} in [tool.penstock.addresses] of pyproject.toml"
            if not address:
                yield f"the project has no public address: {place} is empty"
            elif not address.startswith("https://"):
                yield f"{place} is {address!r}, but must begin with 'https://'"
            elif name != "repository" and not address.endswith("/"):
                yield f"{place} is {address!r}, but must end with '/'"


def addresses(root: Path = ROOT) -> Addresses:
    """Return the addresses that the root pyproject.toml has."""
    with (root / "pyproject.toml").open("rb") as file:
        return Addresses(**tomllib.load(file)["tool"]["penstock"]["addresses"])


def with_urls(pyproject: str, found: Addresses, version: str) -> str:
    """Return the text of a pyproject.toml with its `[project.urls]` filled in.

    Raises:
        AddressError: it has no such table.
    """
    changes = f"{found.files.replace('{version}', version)}CHANGELOG.md"
    table = (
        "[project.urls]\n"
        f'Documentation = "{found.documentation}"\n'
        f'Source = "{found.repository}"\n'
        f'Changelog = "{changes}"\n'
    )
    text, count = _TABLE.subn(table, pyproject)
    if count != 1:
        raise AddressError(f"a pyproject.toml has {count} tables [project.urls], but must have 1")
    return text


def with_absolute_links(readme: str, folder: str, found: Addresses, version: str) -> str:
    """Return a README in which each relative link is an address.

    Pages and images below docs/ lead to the site, other files to the repository at the release's version.
    The site has the images that its pages show.

    Args:
        readme: its text.
        folder: where it is, from the root, with slashes; "." for the root itself.
        found: the addresses.
        version: of the release.
    """

    def absolute(link: re.Match[str]) -> str:
        target = (ROOT / folder / link["path"]).resolve().relative_to(ROOT).as_posix()
        heading = link["heading"] or ""
        if page := re.fullmatch(r"docs/(.*)\.md", target):
            return f"{found.documentation}{page[1]}.html{heading}"
        if image := re.fullmatch(r"docs/images/([^/]*)", target):
            return f"{found.documentation}_images/{image[1]}"
        return f"{found.files.replace('{version}', version)}{target}{heading}"

    return _RELATIVE.sub(absolute, readme)


def stage(folder: Path, into: Path, found: Addresses, version: str) -> Path:
    """Copy what a distribution is built from, with its addresses filled in; return the copy.

    Args:
        folder: of the distribution; the root stands for `penstock`, which has no code.
        into: an empty directory; the copy is a new directory in it.
        found: the addresses; where one is missing nothing is filled in.
        version: of the release.
    """
    copy = into / folder.name
    if folder == ROOT:
        for name in ("CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml", "scripts/build_backend.py"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, copy / name)
    else:
        shutil.copytree(folder, copy, ignore=_LEFT)
    if not any(found.lacks()):
        place = folder.relative_to(ROOT).as_posix()
        _change(copy / "pyproject.toml", lambda text: with_urls(text, found, version))
        _change(copy / "README.md", lambda text: with_absolute_links(text, place, found, version))
    return copy


def _change(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
