"""The pack as the loader sees it: payload types only, so nothing to register by name."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return no components: the types are imported, not named in graphs."""
    return Components()
