"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from penstock import Components, hookimpl
from penstock_subgraphs_image.components import SUBGRAPHS


@hookimpl
def penstock_components() -> Components:
    """Return the subgraphs by name."""
    return Components(subgraphs=SUBGRAPHS)
