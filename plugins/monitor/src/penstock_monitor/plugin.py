"""What penstock-monitor brings: no components; its classes are imported."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components()
