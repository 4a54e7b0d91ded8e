"""Bundlers of programs see `import` statements, no strings: imports by name stand in a statement too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "plugins").glob("*/src/**/*.py"))
BY_NAME = ("import_module", "optional_runtime")
#: Of the application or of the system, or larger than most programs: who freezes one names them.
pytestmark = pytest.mark.heavy

LEFT_OUT = {
    "_posixshmem": "of Python's own multiprocessing, which brings it",
    "cuda.bindings.driver": "hundreds of MB, for one bridge",
    "matplotlib.pyplot": "for the plots of MediaPipe's drawing_utils alone",
    "supervision": "the application hands over its objects, so it imports it",
    "ultralytics.engine.results": "the application hands over its objects, so it imports it",
}


def parsed(file: Path) -> tuple[set[str], set[str]]:
    """Return what a file imports by statements that run, and by name."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    texts: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Constant):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            texts |= {one.id: str(node.value.value) for one in targets if isinstance(one, ast.Name)}
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    statements: set[str] = set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:  # `import a.b` imports a too
                parts = alias.name.split(".")
                statements |= {".".join(parts[: end + 1]) for end in range(len(parts))}
        elif isinstance(node, ast.ImportFrom) and node.module:
            statements |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[0]
            name = given.value if isinstance(given, ast.Constant) else texts.get(getattr(given, "id", ""))
            if called in BY_NAME and isinstance(name, str):
                names.add(name)
    return statements, names


@pytest.fixture(scope="module")
def imports() -> tuple[set[str], set[str]]:
    found = [parsed(file) for file in FILES if "for_bundlers" in file.name or "import" in file.read_text()]
    return set().union(*(one for one, _ in found)), set().union(*(two for _, two in found))


def test_each_library_that_is_imported_by_name_is_in_a_statement_too(imports) -> None:
    statements, names = imports
    assert {"ai_edge_litert.interpreter", "onnxruntime", "glfw", "soxr"} <= names  # they are looked at
    seen = {name for name in names if not name.startswith("penstock") and name not in statements}
    assert seen == set(LEFT_OUT), "add it to the `for_bundlers` of its pack, or to LEFT_OUT with a reason"
