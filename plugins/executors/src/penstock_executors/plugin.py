"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from penstock import Components, hookimpl
from penstock_executors.components import EXECUTORS, OPTIONS


@hookimpl
def penstock_components() -> Components:
    """Return the executors and options by name."""
    return Components(executors=EXECUTORS, options=OPTIONS)
