# ruff: noqa: INP001  # the build loads it by its path, as tests do

"""What the build of a compiled engine records: which module was compiled from which sources.

`penstock/compiled.py` says what the record is for, and reads it. The package must not be imported while its
modules are being replaced, so this file loads that one by its path.
"""

from __future__ import annotations

import ast
import json
import runpy
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COMPILED: Final[dict[str, Any]] = runpy.run_path(
    str(Path(__file__).resolve().parent / "src" / "penstock" / "compiled.py")
)
RECORD: Final[str] = _COMPILED["RECORD"]
_compiled_modules, _extensions = _COMPILED["compiled_modules"], _COMPILED["extensions"]
_digests, _name_in, _source_of = _COMPILED["digests"], _COMPILED["name_in"], _COMPILED["source_of"]


def source_digests(package: Path) -> dict[str, str]:
    """Return name → digest of every source of a package; to be taken before the compiler reads them."""
    digest = _digests(package)
    names = (_name_in(path, package) for path in sorted(package.rglob("*.py")))
    return {name: found for name in names if (found := digest(name)) is not None}


def write_record(package: Path, before: Mapping[str, str]) -> Path:
    """Write down what was compiled, into `compiled.json` of the package. Return where that is.

    Args:
        package: the directory of an import package that has just been compiled in place.
        before: its `source_digests` before that. What has changed while the compiler ran is stale at once.

    Raises:
        FileNotFoundError: nothing in the package is compiled for this interpreter.
    """
    found = _compiled_modules(package)
    if not found:
        raise FileNotFoundError(
            f"{package} has no compiled module for this interpreter, expected some with one of "
            f"{', '.join(EXTENSION_SUFFIXES)}"
        )
    # mypyc keeps the code of all modules in one library, beside the package.
    shared = [_name_in(path, package) for path in _extensions(package.parent.glob("*__mypyc.*"))]
    digest = _digests(package)
    record = {}
    for name in [_name_in(path, package) for path in found]:
        sources = _sources_of(package, _source_of(name)) & before.keys()
        record[name] = {each: digest(each) for each in (name, *shared)} | {
            source: before[source] for source in sources
        }
    target = package / RECORD
    target.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return target


def _sources_of(package: Path, name: str) -> set[str]:
    """Return a source and what it imports of its package when it runs, and what that imports."""
    found: set[str] = set()
    left = [name]
    while left:
        source = left.pop()
        if source in found or not (package / source).is_file():
            continue
        found.add(source)
        for module in _imported(ast.parse((package / source).read_bytes())):
            outer, _, inner = module.partition(".")
            if outer == package.name:
                stem = inner.replace(".", "/")
                left += [f"{stem}.py", f"{stem}/__init__.py" if stem else "__init__.py"]
    return found


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full names of what is imported, of modules or in them, but for types only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield from _imported(ast.Module([other], []))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):  # the linter forbids relative ones
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from _imported(node)
