"""Names of `penstock` that lead into packs: `penstock.testing`, `penstock.GraphTemplate` and others.

A pack declares each of them in its entry point group `penstock.doors`: `testing = "penstock_testing"`. Where
no installed distribution declares a name, the error names the official pack that would. Code that can
require the pack imports the pack's own name, which has types: `penstock_testing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from penstock.entry_points import ordinary_points
from penstock.registry import official_packs

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

#: The entry point group that packs declare doors in.
GROUP: Final = "penstock.doors"


def behind(name: str, wanted: str | None = None) -> ModuleType:
    """Import and return the module that an installed pack declares for a name.

    Args:
        name: of the door: "testing" for `penstock.testing`.
        wanted: what the application asked for, as errors call it; None for `penstock.<name>`.

    Raises:
        ModuleNotFoundError: no installed distribution declares the name; says what to install.
        ImportError: whatever the import of the declared module raises.
    """
    target = _target(name)
    if target is None:
        distribution = official_packs()["door"][name]
        wanted = wanted or f"penstock.{name}"
        raise ModuleNotFoundError(
            f"{wanted} is in a pack that is not installed; install it: pip install {distribution}",
            name=wanted,
        )
    return import_module(target)


def door(name: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a module that stands for the module behind a door; raises as `behind`."""
    module = behind(name)

    def load(attribute: str) -> object:
        # The import system asks packages for such names. A door is none: its modules would be loaded twice.
        if attribute.startswith("__") and attribute != "__all__":
            raise AttributeError(f"the door to {module.__name__!r} has no attribute {attribute!r}")
        found: object = getattr(module, attribute)
        return found

    return load


def _target(name: str) -> str | None:
    """Return the module that the first installed distribution declares for a name."""
    points = ordinary_points(GROUP)
    if points is None:
        import importlib.metadata  # brings 40 modules

        return next((each.value for each in importlib.metadata.entry_points(group=GROUP, name=name)), None)
    return next((each.value for each in points if each.name == name), None)
