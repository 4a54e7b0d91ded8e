"""What the installed packs consist of: their distributions, packages, modules, files and entry points.

Nothing of a pack is imported. The switches of discovery count: a pack that `PENSTOCK_PLUGINS` or
`PENSTOCK_BLOCK_PLUGINS` keeps out is left out, unless another one requires it. Of a distribution with several
plugins, a package whose plugin is kept out is left out, unless a module that comes along names it.
"""

from __future__ import annotations

import importlib.metadata
import re
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.entry_points import canonical
from penstock.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from importlib.metadata import Distribution

#: The entry points that make a distribution a pack, and the beginning of other packs' groups.
GROUP: Final = "penstock"
#: The distribution of the core, which brings no plugin.
CORE: Final = "penstock-core"
_OWN_GROUP: Final = re.compile(r"penstock([._].*)?")
_REQUIRED: Final = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_EXTRA: Final = re.compile(r"\bextra\s*==")
_MODULES: Final = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES)
#: No data of a program: caches, and stubs for type checkers.
_NO_DATA: Final = (".pyc", ".pyo", ".pyi")
#: What a copy of a distribution goes without: caches, and files that make other folders known.
_NOT_TAKEN: Final = (".pyc", ".pyo", ".pth")
#: Of the metadata: what the installer needs, with paths of its machine.
_INSTALLERS: Final = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")


class Point(NamedTuple):
    """One entry point."""

    #: Its group, such as "penstock".
    group: str
    #: In the group.
    name: str
    #: "module" or "module:attribute".
    value: str


class Pack(NamedTuple):
    """One distribution with all that belongs to it."""

    #: `name`, `version`: as pip knows them.
    name: str
    version: str
    #: Its entry points in groups that Penstock and its packs look for.
    points: tuple[Point, ...]
    #: Names of its packages, and of modules that are in none.
    packages: tuple[str, ...]
    #: Its entry points that are left out.
    left_out: tuple[Point, ...] = ()


def installed_packs(is_wanted: Callable[[str], bool] = lambda _: True) -> list[Pack]:
    """Return the core and the packs of this environment, by name.

    Args:
        is_wanted: whether a plugin of this name is to come along.
    """
    found: dict[str, Distribution] = {}
    for one in importlib.metadata.distributions():
        name = one.metadata["Name"]
        if name and (canonical(name) == CORE or _own_points(one)):
            found.setdefault(canonical(name), one)
    wanted = {name for name, one in found.items() if name == CORE or _has_wanted(one, is_wanted)}
    for name in [*wanted]:
        _add_required(name, found, wanted)
    return _without_spare([_pack(found[name], is_wanted) for name in sorted(wanted)])


def modules_of(package: str) -> Iterator[str]:
    """Yield the full names of a package and all modules in it, or of a module; nothing is imported."""
    folders = _folders(package)
    if not folders:
        yield package
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            parts = (package, *file.relative_to(folder).parent.parts)
            stem = _module_stem(file.name)
            if stem is None or not all(part.isidentifier() for part in (*parts, stem)):
                continue
            yield ".".join(parts if stem == "__init__" else (*parts, stem))


def data_of(package: str) -> Iterator[tuple[Path, str]]:
    """Yield each file of a package that is no module, and the folder that it has in a program."""
    for folder in _folders(package):
        for file in sorted(folder.rglob("*")):
            inside = file.relative_to(folder)
            is_code = _module_stem(file.name) is not None and file.stem.isidentifier()
            is_left_out = is_code or "__pycache__" in inside.parts or file.suffix in _NO_DATA
            if file.is_file() and not is_left_out:
                yield file, str(Path(package) / inside.parent)


def points_text(pack: Pack) -> str:
    """Return the `entry_points.txt` of a pack without the entry points that are left out."""
    groups: dict[str, list[str]] = {}
    for point in importlib.metadata.distribution(pack.name).entry_points:
        if Point(point.group, point.name, point.value) not in pack.left_out:
            groups.setdefault(point.group, []).append(f"{point.name} = {point.value}\n")
    return "\n".join(f"[{group}]\n{''.join(lines)}" for group, lines in groups.items())


def pack_files(name: str) -> Iterator[tuple[Path, str]]:
    """Yield each file of an installed distribution, and its path in a folder of installed packages.

    Of one that is installed as editable, the sources. Left out are scripts, caches, and what only the
    installer needs.

    Args:
        name: of the distribution.

    Raises:
        NotFoundError: it is not installed, or nothing says which files it has.
    """
    try:
        one = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise NotFoundError(f"the distribution {name!r} to freeze is not installed") from None
    if one.files is None:
        raise NotFoundError(f"nothing says which files {name!r} has to freeze; install it with pip or uv")
    listed: set[str] = set()
    for file in one.files:
        is_left_out = ".." in file.parts or "__pycache__" in file.parts or file.name in _INSTALLERS
        if not is_left_out and not file.is_absolute() and file.suffix not in _NOT_TAKEN:
            listed.add(file.parts[0])
            yield Path(str(one.locate_file(file))), file.as_posix()
    for package in sorted(_packages(one) - listed):
        for folder in _folders(package):
            for path in sorted(folder.rglob("*")):
                inside = Path(package) / path.relative_to(folder)
                if path.is_file() and "__pycache__" not in inside.parts and path.suffix not in _NOT_TAKEN:
                    yield path, inside.as_posix()


def _own_points(one: Distribution) -> tuple[Point, ...]:
    text = one.read_text("entry_points.txt") or ""
    if GROUP not in text:  # spares the parser
        return ()
    return tuple(
        Point(point.group, point.name, point.value)
        for point in one.entry_points
        if _OWN_GROUP.fullmatch(point.group)
    )


def _has_wanted(one: Distribution, is_wanted: Callable[[str], bool]) -> bool:
    plugins = [point.name for point in _own_points(one) if point.group == GROUP]
    return not plugins or any(map(is_wanted, plugins))


def _add_required(name: str, found: dict[str, Distribution], wanted: set[str]) -> None:
    """Add the packs that a pack requires, and their requirements."""
    for line in found[name].requires or ():
        match = _REQUIRED.match(line)
        other = "" if match is None or _EXTRA.search(line) else canonical(match[1])
        if other in found and other not in wanted:
            wanted.add(other)
            _add_required(other, found, wanted)


def _pack(one: Distribution, is_wanted: Callable[[str], bool]) -> Pack:
    points = _own_points(one)
    left_out = [point for point in points if point.group == GROUP and not is_wanted(point.name)]
    if len(left_out) == sum(point.group == GROUP for point in points):  # another pack requires it
        left_out = []
    kept = tuple(point for point in points if point not in left_out)
    packages = tuple(sorted(_packages(one)))
    return Pack(one.metadata["Name"], one.version, kept, packages, tuple(left_out))


def _without_spare(packs: list[Pack]) -> list[Pack]:
    """Leave out packages whose plugins are kept out, unless a module that comes along names them."""
    spare: set[str] = set()
    for pack in packs:
        needed = {_top(point) for point in pack.points if point.group == GROUP}
        spare |= {_top(point) for point in pack.left_out} - needed
    fresh = {package for pack in packs for package in pack.packages} - spare
    while spare and fresh:
        named = set().union(*(_named_in(package, spare) for package in fresh))
        spare -= named
        fresh = named
    return [_narrowed(pack, spare) for pack in packs]


def _narrowed(pack: Pack, spare: set[str]) -> Pack:
    points = tuple(point for point in pack.points if _top(point) not in spare)
    lost = tuple(point for point in pack.points if _top(point) in spare)
    packages = tuple(package for package in pack.packages if package not in spare)
    return pack._replace(points=points, packages=packages, left_out=(*pack.left_out, *lost))


def _named_in(package: str, names: Iterable[str]) -> set[str]:
    """Return those names of packages that stand in the source of a package, or of a module."""
    spec = PathFinder.find_spec(package)
    files = [file for folder in _folders(package) for file in sorted(folder.rglob("*.py"))]
    if not files and spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
        files = [Path(spec.origin)]
    words = {word for file in files for word in _WORD.findall(file.read_text("utf-8", "replace"))}
    return words.intersection(names)


def _top(point: Point) -> str:
    """Return the package of an entry point."""
    return re.split(r"[.:]", point.value, maxsplit=1)[0]


def _packages(one: Distribution) -> set[str]:
    """Return the names of a distribution's packages, from the lists of the installer."""
    found = {point.value.partition(":")[0].partition(".")[0] for point in one.entry_points}
    for file in one.files or ():
        if len(file.parts) == 1 and file.suffix == ".pth":  # installed as editable: the sources are elsewhere
            found.update(_beside(Path(str(one.locate_file(file)))))
        elif len(file.parts) == 1:
            found.update(filter(None, [_module_stem(file.name)]))
        elif file.name == "__init__.py" and len(file.parts) == 2:  # noqa: PLR2004  # package/__init__.py
            found.add(file.parts[0])
    return {name for name in found if name.isidentifier() and _is_there(name)}


def _beside(pth: Path) -> Iterable[str]:
    lines = pth.read_text(encoding="utf-8").splitlines() if pth.is_file() else ()
    for line in lines:
        folder = Path(line)
        if line and not line.startswith(("#", "import ", "import\t")) and folder.is_dir():
            yield from (init.parent.name for init in folder.glob("*/__init__.py"))


def _is_there(name: str) -> bool:
    return PathFinder.find_spec(name) is not None


def _folders(package: str) -> list[Path]:
    """Return the folders of a package; none for a module, or what is not there."""
    spec = PathFinder.find_spec(package)
    return [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]


def _module_stem(name: str) -> str | None:
    """Return the name of the module in a file; None where it holds none."""
    return next((name.removesuffix(end) for end in _MODULES if name.endswith(end)), None)
