"""What a notebook shows of a graph: a drawing, if one can be made soon, and never an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import UnavailableError
from penstock.log import get_logger
from penstock_views.draw.mermaid import mermaid

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_views.draw.drawing import Drawing

_logger = get_logger("draw")
#: Nodes of the largest graph that a notebook draws; a chain of so many takes about a second.
_MOST: Final = 300
#: Likewise, nodes times connections beyond one for each node: the time of the layout grows with this
#: number, not with the nodes alone. Measured on one core: 900 took 1 s, 1,800 4 s, 10,000 a minute; no
#: setting made it faster.
_DENSEST: Final = 1000


def mimebundle(make: Callable[[], Drawing], plain: str) -> dict[str, str]:
    """Return what IPython expects of `_repr_mimebundle_`: MIME type → content. Never raises.

    Args:
        make: returns the drawing; may raise, as for a graph that is not complete yet.
        plain: the text for front ends that show no drawing.

    Returns:
        "text/plain" and "image/svg+xml"; where the library that lays out graphs is not installed,
        "text/vnd.mermaid" instead, which JupyterLab draws by itself. A graph with more than 300 nodes, or
        with many nodes that read many streams, gives the text alone.
    """
    bundle = {"text/plain": plain}
    try:
        drawing = make()
        if _is_soon_drawn(drawing):
            bundle.update(_picture(drawing))
    except Exception:  # a graph that cannot be drawn is still shown as text
        _logger.debug("a graph cannot be drawn", exc_info=True)
    return bundle


def _is_soon_drawn(drawing: Drawing) -> bool:
    nodes = len(drawing.nodes)
    connections = sum(len(wire.readers) for wire in drawing.wires())
    return nodes <= _MOST and nodes * (connections - nodes) <= _DENSEST


def _picture(drawing: Drawing) -> dict[str, str]:
    from penstock_views.draw.svg import svg  # with the modules that it needs, only where there is a notebook

    try:
        return {"image/svg+xml": svg(drawing)}
    except UnavailableError:
        return {"text/vnd.mermaid": mermaid(drawing)}
