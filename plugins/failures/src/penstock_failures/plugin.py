"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the layer that carries out the field `failure` of nodes; it is imported on first use."""
    return Components(layers={"failure": "penstock_failures.policy:FailureLayer"})
