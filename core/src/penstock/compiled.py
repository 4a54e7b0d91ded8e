"""Whether the engine that runs is compiled, and whether what was compiled is still the same source.

Everything that is compiled is there as plain Python too, in the same directory: `schedule.py` beside
`schedule.cpython-311-x86_64-linux-gnu.so`, of which the interpreter takes the compiled one. In an installed
distribution both come from one build. In a source tree the source may have changed since; tests would then
test what nobody sees.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING

import penstock.engine

if TYPE_CHECKING:
    from pathlib import Path


def engine_form() -> str:
    """Return "plain Python", or "compiled" with how many modules of the engine are."""
    names = [f"penstock.engine.{each.name}" for each in pkgutil.iter_modules(penstock.engine.__path__)]
    specs = [importlib.util.find_spec(name) for name in names]
    compiled = sum(spec is not None and not (spec.origin or "").endswith(".py") for spec in specs)
    return f"compiled ({compiled} of {len(names)} modules)" if compiled else "plain Python"


def stale_modules(package: Path) -> list[Path]:
    """Return the compiled modules below a directory of sources that are not what their source says now.

    Stale is one that is older than the source beside it, or has none. In installed distributions nothing is:
    there files have the times at which they were unpacked, in any order.

    Args:
        package: the directory of an import package, its subpackages included.
    """
    if {"site-packages", "dist-packages"} & set(package.parts):
        return []
    return sorted(path for path in package.rglob("*.*") if _is_stale(path))


def _is_stale(path: Path) -> bool:
    """Return whether this interpreter would import a file although it is older than its source."""
    name, dot, suffix = path.name.partition(".")
    if dot + suffix not in EXTENSION_SUFFIXES:
        return False
    source = path.with_name(f"{name}.py")
    return not source.exists() or source.stat().st_mtime > path.stat().st_mtime
