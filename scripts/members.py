"""Write the lists of the workspace's members into the files of the tools, from the directories.

A new pack needs one directory and one run of this script, from anywhere:

    python scripts/members.py            rewrite the lists
    python scripts/members.py --check    exit 1 and name the files that are not current

The lists are between the lines "# members: begin" and "# members: end": in the root
pyproject.toml what `penstock` and its extras require, where uv finds the members, what the `dev`
group installs; in .importlinter the packages to check and which of them may import which; in
requirements.txt what pip installs from a clone.

A member's names follow from its directory: `plugins/image` is the distribution `penstock-image`,
`subgraphs/flow` is `penstock-subgraphs-flow`. Only `core` differs: `penstock-core`. Most members have one
package, named after the distribution; one that covers a subject has several (`plugins/graphs` has
`penstock_builder`, `penstock_templates` and `penstock_json_graphs`). The entry point of a package
`penstock_json_graphs` is called `json-graphs`.

The table `tool.penstock` of a member's pyproject.toml says how `penstock` brings it. `extras` names the
extras of `penstock` that bring it, each with the member's own extras that come along
(`[tool.penstock.extras] mediapipe = ["litert"]`, for `penstock[mediapipe]`). A plain `pip install penstock`
has no member with extras, unless `standard = true`. The group `dev` has of a member's own extras those in
`dev-extras`.

It uses only the standard library, and so runs before anything is installed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
#: The directories of the members that are released together; those in contrib have their own versions.
TRAIN: Final = ("core", "plugins", "subgraphs")

_BLOCK: Final = re.compile(
    r"^(?P<indent>[ \t]*)# members: begin\n(?:.*\n)*?(?P=indent)# members: end\n", re.MULTILINE
)


@dataclass(frozen=True)
class Member:
    """One distribution of the workspace."""

    #: Its directory, absolute.
    path: Path
    #: "core", "plugins", "subgraphs" or "contrib".
    place: str
    #: The name of the distribution, as its place says.
    name: str
    #: The import names of its packages, below `src`; the first is the one named after the distribution, if
    #: any.
    import_names: tuple[str, ...]
    #: Its pyproject.toml.
    pyproject: dict[str, Any]

    @property
    def project(self) -> dict[str, Any]:
        """Return the table `project`."""
        table: dict[str, Any] = self.pyproject["project"]
        return table

    @property
    def folder(self) -> str:
        """Return its directory as seen from the root, with slashes."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def short_name(self) -> str:
        """Return the name of the distribution without "penstock-"."""
        return self.name.removeprefix("penstock-")

    @property
    def entry_points(self) -> dict[str, str]:
        """Return the entry points that it must have in the group `penstock`: name → module."""
        packs = (name for name in self.import_names if (self.source / name / "plugin.py").exists())
        return {name.removeprefix("penstock_").replace("_", "-"): f"{name}.plugin" for name in sorted(packs)}

    @property
    def extras(self) -> dict[str, list[str]]:
        """Return the extras of `penstock` that bring it, and its own that come along."""
        wanted: dict[str, list[str]] = self._settings.get("extras", {})
        return wanted

    @property
    def is_standard(self) -> bool:
        """Return whether every installation of `penstock` has it."""
        return not self.extras or bool(self._settings.get("standard", False))

    @property
    def dev_extras(self) -> list[str]:
        """Return its own extras that the group `dev` installs."""
        wanted: list[str] = self._settings.get("dev-extras", [])
        return wanted

    @property
    def use_extras(self) -> list[str]:
        """Return the extras that a clone is used with: those of the group `dev`, but for tests."""
        return [each for each in self.dev_extras if each != "testing"]

    @property
    def source(self) -> Path:
        """Return the directory of its packages."""
        return self.path / "src"

    @property
    def _settings(self) -> dict[str, Any]:
        table: dict[str, Any] = self.pyproject.get("tool", {}).get("penstock", {})
        return table


def _member(path: Path) -> Member:
    place = path.relative_to(ROOT).parts[0]
    with (path / "pyproject.toml").open("rb") as file:
        pyproject = tomllib.load(file)
    parts = ["core"] if place == "core" else ["subgraphs", path.name] if place == "subgraphs" else [path.name]
    name = "-".join(["penstock", *parts])
    packages = (
        Path(each).name for each in pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    )
    own = name.replace("-", "_")
    return Member(path, place, name, tuple(sorted(packages, key=lambda each: (each != own, each))), pyproject)


def members() -> list[Member]:
    """Return the members that the root pyproject.toml's globs find: the core first, then by path."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        globs = tomllib.load(file)["tool"]["uv"]["workspace"]["members"]
    found = {path.parent for glob in globs for path in ROOT.glob(f"{glob}/pyproject.toml")}
    return sorted((_member(path) for path in found), key=lambda each: (each.place != "core", each.folder))


def without(libraries: Collection[str]) -> list[Member]:
    """Return the members of the release that need none of some libraries, nor a member that needs one."""
    left = {each.name: each for each in members() if each.place in TRAIN}
    names = set(left)
    while True:
        unmet = [
            name
            for name, member in left.items()
            if any(one in libraries or one in names - left.keys() for one in _required(member))
        ]
        if not unmet:
            return list(left.values())
        for name in unmet:
            del left[name]


def _required(member: Member) -> set[str]:
    """Return the names of the distributions that a member requires, in lower case."""
    return {re.split(r"[^\w-]", line, maxsplit=1)[0].lower() for line in member.project["dependencies"]}


def _rewrite(text: str, blocks: Sequence[Iterable[str]]) -> str:
    """Return `text` with the lines of each block in place of what stands between its marks, in order."""
    if (marked := len(_BLOCK.findall(text))) != len(blocks):
        raise ValueError(f"{marked} blocks of members are marked, expected {len(blocks)}; restore the marks")
    remaining = iter(blocks)

    def fill(match: re.Match[str]) -> str:
        indent = match["indent"]
        lines = ["# members: begin", *next(remaining), "# members: end"]
        return "".join(f"{indent}{line}\n" for line in lines)

    return _BLOCK.sub(fill, text)


def _root_pyproject(text: str, found: Sequence[Member]) -> str:
    version = tomllib.loads(text)["project"]["version"]
    train = [each for each in found if each.place in TRAIN]
    standard = [f'"{each.name}{release_range(version)}",' for each in train if each.is_standard]
    extras = [
        f"{extra} = [{', '.join(_of_extra(each, extra, version) for each in train if extra in each.extras)}]"
        for extra in sorted({extra for each in train for extra in each.extras})
    ]
    sources = [f"{each.name} = {{ workspace = true }}" for each in found]
    dev = [f'"{each.name}{extras_text(each.dev_extras)}",' for each in found]
    return _rewrite(text, [standard, extras, sources, dev])


def _of_extra(member: Member, extra: str, version: str) -> str:
    """Return the requirement of an extra of `penstock`: a member, with its extra of that name if any."""
    return f'"{member.name}{extras_text(member.extras[extra])}{release_range(version)}"'


def extras_text(extras: Sequence[str]) -> str:
    """Return the part of a requirement that names extras: ["draw", "exif"] gives "[draw,exif]", none ""."""
    return f"[{','.join(extras)}]" if extras else ""


def _import_linter(text: str, found: Sequence[Member]) -> str:
    roots = [name for each in found for name in each.import_names]
    layers = [
        " : ".join(name for each in found if each.place == place for name in each.import_names)
        for place in ("contrib", "subgraphs", "plugins", "core")
    ]
    packs = [name for each in found if each.place != "core" for name in each.import_names]
    return _rewrite(text, [roots, filter(None, layers), packs])


def _requirements(text: str, found: Sequence[Member]) -> str:
    train = [each for each in found if each.place in TRAIN]
    lines = [f"-e ./{each.folder}" for each in train]
    # Beside the line without extras: pip takes a line with extras for no requirement that has none.
    lines += [f"-e ./{each.folder}{extras_text(each.use_extras)}" for each in train if each.use_extras]
    return _rewrite(text, [lines])


def release_range(version: str) -> str:
    """Return what one distribution of the train requires of another: "0.1.3" gives ">=0.1,<0.2"."""
    major, minor = version.split(".")[:2]
    return f">={major}.{minor},<{major}.{int(minor) + 1}"


_WRITERS: Final[dict[str, Callable[[str, Sequence[Member]], str]]] = {
    "pyproject.toml": _root_pyproject,
    ".importlinter": _import_linter,
    "requirements.txt": _requirements,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the lists, or with --check say which files hold stale ones. Return the exit status."""
    parser = argparse.ArgumentParser(description="write the lists of the workspace's members")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where a list is stale")
    check = parser.parse_args(argv).check
    found = members()
    stale = []
    for name, write in _WRITERS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        if (current := write(text, found)) != text:
            stale.append(name)
            if not check:
                (ROOT / name).write_text(current, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'stale; run python scripts/members.py' if check else 'rewritten'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
