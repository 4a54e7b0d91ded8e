"""The components of penstock_subgraphs_image by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

SUBGRAPHS: Final[Mapping[str, str]] = {
    "EdgeOverlaySubgraph": "penstock_subgraphs_image:edge_overlay.pbtxt",
}
