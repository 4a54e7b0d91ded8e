"""Whether the engine that runs is compiled, and whether what was compiled is still the same source.

Everything that is compiled is there as plain Python too, in the same directory: `schedule.py` beside
`schedule.cpython-311-x86_64-linux-gnu.so`, of which the interpreter takes the compiled one. In an installed
distribution both come from one build. In a source tree the source may have changed since; tests would then
test code that is not in the source.

So the build writes down what it compiled, `compiled.json` in the import package: for each compiled module
the digests of itself, of the library that holds the code of all, and of every source that went into it.
Those are its own and what it imports of the package when it runs, since the compiler puts the constants of
plain modules into the code. Digests, not times: a checkout, a copy or a cache gives files any time.

The build (`core/build_record.py`) loads this file by its path, with nothing else of Penstock: only the
standard library at the top.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import pkgutil
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: In the directory of the import package. Names in it are relative to that directory, with slashes.
RECORD: Final = "compiled.json"


def engine_form() -> str:
    """Return "plain Python", or "compiled" with how many modules of the engine are."""
    import penstock.engine  # not where the build loads this file

    names = [f"penstock.engine.{each.name}" for each in pkgutil.iter_modules(penstock.engine.__path__)]
    specs = [importlib.util.find_spec(name) for name in names]
    compiled = sum(spec is not None and not (spec.origin or "").endswith(".py") for spec in specs)
    return f"compiled ({compiled} of {len(names)} modules)" if compiled else "plain Python"


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
