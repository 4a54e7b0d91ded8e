"""Whether the engine that runs is compiled. What the build records of it is in `core/build_record.py`."""

from __future__ import annotations

import importlib.util
import pkgutil


def engine_form() -> str:
    """Return "plain Python", or "compiled" with how many modules of the engine are."""
    import penstock.engine

    names = [f"penstock.engine.{each.name}" for each in pkgutil.iter_modules(penstock.engine.__path__)]
    specs = [importlib.util.find_spec(name) for name in names]
    compiled = sum(spec is not None and not (spec.origin or "").endswith(".py") for spec in specs)
    return f"compiled ({compiled} of {len(names)} modules)" if compiled else "plain Python"
