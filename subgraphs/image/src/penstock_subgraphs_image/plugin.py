"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the subgraphs: type name to graph file."""
    return Components(subgraphs={"EdgeOverlaySubgraph": "penstock_subgraphs_image:edge_overlay.pbtxt"})
