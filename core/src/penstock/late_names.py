"""Modules whose names are loaded when they are first used, so that importing them costs nothing."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from penstock.collector import PAUSE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def late_names(
    module: str,
    homes: Mapping[str, str],
    submodules: tuple[str, ...] = (),
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` for a module.

    For type checkers the module imports each name under `TYPE_CHECKING` as itself (`from m import A as A`),
    which makes it a public name of the module.

    Args:
        module: its `__name__`.
        homes: module that has them → names, with blanks between them.
        submodules: of the module; they are imported when they are first asked for.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        if name in submodules:
            return import_module(f"{module}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        with PAUSE:
            value: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *home_of, *submodules})

    return sorted(home_of), load, names
