# ruff: noqa: INP001  # the build, tests and the pytest plugin load it by its path

"""Whether what was compiled of the engine is still the same source: a record of the build, and its check.

Everything that is compiled is there as plain Python too, in the same directory: `schedule.py` beside
`schedule.cpython-311-x86_64-linux-gnu.so`, of which the interpreter takes the compiled one. In an installed
distribution both come from one build. In a source tree the source may have changed since; tests would then
test code that is not in the source.

So the build records what it compiled, in `compiled.json` in the import package: for each compiled module the
digests of itself, of the library that holds the code of all, and of every source that went into it. Those are
its own and what it imports of the package when it runs, since the compiler puts the constants of plain
modules into the code. Digests, not times: a checkout, a copy or a cache gives files any time.

Standard library only: the package must not be imported while its modules are being replaced.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: In the directory of the import package. Names in it are relative to that directory, with slashes.
RECORD: Final = "compiled.json"


# --- what is not as it was compiled -------------------------------------------------------------------


def stale_modules(package: Path) -> list[Path]:
    """Return the compiled modules below a directory of sources that are not what their source says now.

    In installed distributions no module is stale: source and compiled module come from one build, and a
    distributor may strip or patch what was compiled.

    Args:
        package: the directory of an import package, its subpackages included.
    """
    if {"site-packages", "dist-packages"} & set(package.parts):
        return []
    return changed_modules(package)


def changed_modules(package: Path) -> list[Path]:
    """Return the compiled modules that are not what the build's record says, wherever they are.

    These are the modules that the record does not name, and those with a file in the record that is another
    now, or gone. Without a record that can be read they are all compiled modules.

    Args:
        package: the directory of an import package, its subpackages included.
    """
    found = compiled_modules(package)
    if not found:
        return []
    recorded, digest = _read_record(package), digests(package)
    return [path for path in found if not _is_as_recorded(name_in(path, package), recorded, digest)]


def _is_as_recorded(name: str, recorded: Mapping[str, Any], digest: Callable[[str], str | None]) -> bool:
    files = recorded.get(name)
    # A record without the digest of the source proves nothing about the module.
    if not isinstance(files, dict) or not {name, source_of(name)} <= files.keys():
        return False
    return all(digest(file) == value for file, value in files.items())


def _read_record(package: Path) -> Mapping[str, Any]:
    """Return compiled module → file → digest; nothing where there is no record, or it is not one."""
    try:
        recorded = json.loads((package / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return recorded if isinstance(recorded, dict) else {}


# --- what the build writes -----------------------------------------------------------------------------


def source_digests(package: Path) -> dict[str, str]:
    """Return name → digest of every source of a package; to be taken before the compiler reads them."""
    digest = digests(package)
    names = (name_in(path, package) for path in sorted(package.rglob("*.py")))
    return {name: found for name in names if (found := digest(name)) is not None}


def write_record(package: Path, before: Mapping[str, str]) -> Path:
    """Write down what was compiled, into `compiled.json` of the package. Return where that is.

    Args:
        package: the directory of an import package that has just been compiled in place.
        before: its `source_digests` before that. What has changed while the compiler ran is stale at once.

    Raises:
        FileNotFoundError: nothing in the package is compiled for this interpreter.
    """
    found = compiled_modules(package)
    if not found:
        raise FileNotFoundError(
            f"{package} has no compiled module for this interpreter, expected some with one of "
            f"{', '.join(EXTENSION_SUFFIXES)}"
        )
    # mypyc keeps the code of all modules in one library, beside the package.
    shared = [name_in(path, package) for path in extensions(package.parent.glob("*__mypyc.*"))]
    digest = digests(package)
    record = {}
    for name in [name_in(path, package) for path in found]:
        sources = _sources_of(package, source_of(name)) & before.keys()
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


# --- files --------------------------------------------------------------------------------------------


def compiled_modules(package: Path) -> list[Path]:
    """Return the compiled modules below a directory that this interpreter would import."""
    return sorted(extensions(package.rglob("*.*")))


def extensions(paths: Iterator[Path]) -> Iterator[Path]:
    """Return those of some files that this interpreter would import as compiled modules."""
    return (path for path in paths if "".join(path.name.partition(".")[1:]) in EXTENSION_SUFFIXES)


def name_in(path: Path, package: Path) -> str:
    """Return what the record calls a file: its path from the package's directory, with slashes."""
    return Path(os.path.relpath(path, package)).as_posix()


def source_of(name: str) -> str:
    """Return the name of the source of a compiled module."""
    folder, _, file = name.rpartition("/")
    source = f"{file.partition('.')[0]}.py"
    return f"{folder}/{source}" if folder else source


def digests(package: Path) -> Callable[[str], str | None]:
    """Return a function from a file's name to its digest, None where it cannot be read; it remembers."""
    known: dict[str, str | None] = {}

    def digest(name: str) -> str | None:
        if name not in known:
            try:
                known[name] = hashlib.sha256((package / name).read_bytes()).hexdigest()
            except OSError:
                known[name] = None
        return known[name]

    return digest
