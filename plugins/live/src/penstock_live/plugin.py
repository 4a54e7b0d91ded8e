"""What penstock-live brings: no components, but options of the commands that run graphs."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components()
