"""No imports go in a circle: those at the top, late ones in functions, and those for types alike.

Looked at is each package by itself: its modules, its subpackages as wholes, and its `__init__`.
"""

from __future__ import annotations

import ast
import configparser
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.heavy

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = [
    ROOT / "core" / "src",
    *sorted(path for place in ("plugins", "subgraphs", "contrib") for path in (ROOT / place).glob("*/src")),
]
#: One thing, whose parts name one another in types.
ONE_THING: Final = {"penstock.engine"}
#: What packs may import of the core; `penstock` itself besides.
PUBLIC: Final = {
    "access",
    "config",
    "error_text",
    "errors",
    "explain",
    "functions",
    "limits",
    "log",
    "lowlevel",
    "packs",
    "ports",
    "readers",
    "runs",
    "tracing",
    "types",
}


def packages(source: Path) -> Iterator[Path]:
    """Yield the directory of every package below a directory."""
    return (path.parent for path in sorted(source.rglob("__init__.py")))


def name_of(path: Path, source: Path) -> str:
    """Return the dotted name of a module or package below a directory."""
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def children_of(package: Path) -> set[str]:
    """Return the names of a package's modules and subpackages, `__init__` among them."""
    return {
        path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield what a module imports, as dotted names of modules or of their members, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)


@cache
def imports_of(path: Path) -> tuple[tuple[str, int], ...]:
    """Return `imported` of a file."""
    return tuple(imported(ast.parse(path.read_text(encoding="utf-8"))))


def arrows(package: Path, source: Path) -> dict[tuple[str, str], list[str]]:
    """Return (child, child that it imports) → the lines that do, of a package's direct children."""
    name = name_of(package, source)
    children = {
        path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        if path.stem.endswith("_pb2"):
            continue
        child = path.relative_to(package).parts[0].removesuffix(".py")
        for target, line in imports_of(path):
            if target != name and not target.startswith(f"{name}."):
                continue
            inner = target[len(name) + 1 :].partition(".")[0]
            other = inner if inner in children else "__init__"
            if other != child:
                found.setdefault((child, other), []).append(
                    f"{path.relative_to(source)}:{line} imports {target}"
                )
    return found


def circle(package: Path, source: Path) -> list[str]:
    """Return the imports that make one circle among a package's children, or nothing."""
    found = arrows(package, source)
    graph: dict[str, set[str]] = {}
    for child, other in found:
        graph.setdefault(child, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        way = error.args[1][::-1]  # each is followed by what it imports
        return [found[child, other][0] for child, other in pairwise(way)]
    return []


ALL: Final = [(package, source) for source in SOURCES for package in packages(source)]


@pytest.mark.parametrize(
    ("package", "source"),
    [
        pytest.param(
            package,
            source,
            id=name,
        )
        for package, source in ALL
        if (name := name_of(package, source)) not in ONE_THING
    ],
)
def test_no_imports_go_in_a_circle(package: Path, source: Path) -> None:
    assert circle(package, source) == []


def test_a_circle_is_found_and_its_files_named(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("")
    (package / "upper.py").write_text("from pack.lower import number\n")
    (package / "lower.py").write_text("def look():\n    from pack.inner.deep import Kind\n")
    (package / "inner" / "deep.py").write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pack import upper\n"
    )

    assert sorted(circle(package, tmp_path)) == [
        "pack/inner/deep.py:4 imports pack.upper",
        "pack/lower.py:2 imports pack.inner.deep.Kind",
        "pack/upper.py:1 imports pack.lower.number",
    ]
    assert circle(package / "inner", tmp_path) == []


def test_packs_are_forbidden_every_module_of_the_core_that_is_not_public() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    forbidden = set(contracts["importlinter:contract:public"]["forbidden_modules"].split())
    private = children_of(ROOT / "core" / "src" / "penstock") - PUBLIC - {"__init__"}

    assert {f"penstock.{name}" for name in private} <= forbidden
