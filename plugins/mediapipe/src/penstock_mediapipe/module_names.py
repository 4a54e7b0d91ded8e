"""Modules under the names that programs for MediaPipe import: the same objects, not second modules."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType


def named_modules(package: str, homes: Mapping[str, str]) -> dict[str, ModuleType]:
    """Let `package.name` be another module for each name; return name → module.

    Args:
        package: the `__name__` of the package that calls this.
        homes: name → the module that it stands for.
    """
    found = {name: import_module(home) for name, home in homes.items()}
    for name, module in found.items():
        sys.modules.setdefault(f"{package}.{name}", module)
    return found
