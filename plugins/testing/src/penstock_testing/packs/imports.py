"""What the modules of a pack import, beside what its distribution requires.

Looked at is the source alone. What a module of a component imports must be of the standard library, of the
pack, or of a requirement of its distribution, direct or by way of others. An import inside of a function, or
in another module, may also be of an extra.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from penstock_testing.packs.metadata import canonical
from penstock_testing.packs.report import PackFault

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from importlib.metadata import Distribution

    from penstock.packs import Discovered

#: Distributions that have the same package: any of them is as good as the one that is installed.
_OPENCV: Final = "opencv-"
_ENDINGS: Final = (".py", ".so", ".pyd")
#: What a guarded import catches.
_GUARDS: Final = {"ImportError", "ModuleNotFoundError", "Exception"}


class Imported(NamedTuple):
    """A package that a module imports."""

    #: Its name: the first part of the module's.
    name: str
    #: The line of the import.
    line: int
    #: Whether a function imports it, and not the module itself.
    is_late: bool


def check_imports(
    record: Discovered, distribution: Distribution, homes: Collection[str]
) -> Iterator[PackFault]:
    """Yield a fault for each package that the pack imports and nothing brings that it requires.

    Args:
        record: of the plugin.
        distribution: that it belongs to.
        homes: modules that its components are in.
    """
    root = record.module.partition(":")[0].partition(".")[0]
    wanted: dict[str, tuple[str, Imported]] = {}
    for module, path in _modules(root):
        for one in imported(path.read_bytes(), is_late=module not in homes):
            known = wanted.get(one.name)
            if known is None or (known[1].is_late and not one.is_late):
                wanted[one.name] = (module, one)
    own = {"penstock", root, *brought_by(distribution)}  # that the core is required is checked elsewhere
    wanted = {name: found for name, found in wanted.items() if name not in own}
    if not wanted:
        return
    always = _all_brought(distribution, extras=False)
    with_extras = always | _all_brought(distribution, extras=True)
    for name, (module, one) in sorted(wanted.items()):
        if name not in (with_extras if one.is_late else always):
            yield PackFault(
                f"module {module!r}",
                f"line {one.line} imports {name!r}, which no requirement brings; add {_provider(name)} to "
                "the dependencies in pyproject.toml",
            )


def imported(source: bytes, *, is_late: bool = False) -> Iterator[Imported]:
    """Yield what a module's source imports, but for the standard library, guarded imports and types.

    An import is guarded where it stands in a `try` that catches what a missing package raises.

    Args:
        source: of the module.
        is_late: whether the module itself is imported late.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # its component cannot be imported, which is a fault already
        return
    todo: list[tuple[ast.AST, bool]] = [(tree, is_late)]
    while todo:
        node, is_late = todo.pop()
        for name in _names(node):
            if name not in sys.stdlib_module_names:
                yield Imported(name, getattr(node, "lineno", 1), is_late)
        inner = is_late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        todo += [(one, inner) for one in _followed(node)]


def brought_by(distribution: Distribution) -> set[str]:
    """Return the names of the packages and modules that a distribution installs, also an editable one."""
    found = set((distribution.read_text("top_level.txt") or "").split())
    found.add(canonical(distribution.metadata["Name"]).replace("-", "_"))
    for file in distribution.files or ():
        if len(file.parts) > 1:
            found.add(file.parts[0])
        elif file.suffix in _ENDINGS:
            found.add(file.name.partition(".")[0])
        elif file.suffix == ".pth":
            found |= _in_folders(Path(str(file.locate())))
    return found


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name.partition(".")[0] for one in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return [node.module.partition(".")[0]]
    return []


def _followed(node: ast.AST) -> Iterable[ast.AST]:
    """Return the parts of a node whose imports count."""
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return node.orelse
    if isinstance(node, ast.Try) and any(_is_guard(one) for one in node.handlers):
        return [*node.orelse, *node.finalbody]
    return ast.iter_child_nodes(node)


def _is_guard(handler: ast.ExceptHandler) -> bool:
    kinds = "" if handler.type is None else ast.unparse(handler.type)
    return not kinds or any(kind in kinds for kind in _GUARDS)


def _modules(root: str) -> Iterator[tuple[str, Path]]:
    """Yield the modules of a package, by name, with their files."""
    found = importlib.util.find_spec(root)
    if found is None:
        return
    if found.submodule_search_locations is None:
        if found.origin is not None and found.origin.endswith(".py"):
            yield root, Path(found.origin)
        return
    for place in found.submodule_search_locations:
        for path in sorted(Path(place).rglob("*.py")):
            parts = path.relative_to(place).with_suffix("").parts
            yield ".".join((root, *parts)).removesuffix(".__init__"), path


def _all_brought(distribution: Distribution, *, extras: bool) -> set[str]:
    """Return what a distribution's requirements bring, and what those require."""
    found = set[str]()
    mine = frozenset(distribution.metadata.get_all("Provides-Extra") or ()) if extras else frozenset[str]()
    todo = list(_required(distribution, mine))
    seen = set(todo)
    while todo:
        name, wanted = todo.pop()
        found.add(name.replace("-", "_"))
        if name.startswith(_OPENCV):
            found.add("cv2")
        try:
            installed = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # of an extra: what it brings is not known
            continue
        found |= brought_by(installed)
        new = [one for one in _required(installed, wanted) if one not in seen]
        seen.update(new)
        todo += new
    return found


def _required(distribution: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield canonical name and extras of each requirement that counts here, with these extras of its own."""
    for line in distribution.requires or ():
        try:
            read = Requirement(line)
        except InvalidRequirement:
            continue
        marker = read.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonical(read.name), frozenset(read.extras)


def _in_folders(pth: Path) -> set[str]:
    """Return the packages and modules in the folders that a .pth file names."""
    try:
        folders = [Path(line) for line in pth.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        return set()
    inside = [one for folder in folders if folder.is_dir() for one in folder.iterdir()]
    return {one.name.partition(".")[0] for one in inside if one.is_dir() or one.suffix in _ENDINGS}


def _provider(name: str) -> str:
    """Return the distribution that has a package here, quoted; or words for it."""
    for one in importlib.metadata.distributions():
        if name in brought_by(one):
            return repr(canonical(one.metadata["Name"]))
    return "the distribution that has it"
