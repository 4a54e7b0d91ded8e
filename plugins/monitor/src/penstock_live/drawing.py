"""The picture of a graph for the page: the one of `penstock show`, with room for numbers.

A `Look` is the picture of the page's first screen: groups are closed until they are opened, ports have no
names, side packets are left out, and a node has room for lines over time.

A process of its own makes all of it, since graphs that run in this one are not to be held up.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import attrs

from penstock_views import draw as views
from penstock_views.draw import Painter

if TYPE_CHECKING:
    from penstock_views.draw import Drawing, DrawnNode, Port

#: The widest of what the page writes there.
_IN_NODE: Final = ("88,888 steps/s, 100 % busy", "worker 88 (pid 8888888)")
_AT_STREAM: Final = ("888 of 888, 88,888/s, 88.8 s",)
#: Two lines of words, and room for lines over time with a line of words under them.
_IN_LOOK: Final = ("88,888 steps/s, 100 % busy", "worker 88 (pid 8888888)", "", "")


@attrs.frozen
class Look:
    """How the page wants the picture."""

    #: Whether the graph leads from left to right; else downwards.
    is_across: bool = False
    #: Names of groups whose contents are drawn, as "outer__inner"; others are ignored.
    opened: tuple[str, ...] = ()


def picture(config: bytes, look: Look | None = None, painter: Painter | None = None) -> str:
    """Return the picture of a graph as SVG. Boxes of nodes have two lines of notes, streams have one.

    Args:
        config: a CalculatorGraphConfig without subgraphs, in binary form.
        look: of the page's first screen, whose nodes have two empty lines of notes more; None for everything.
        painter: whose process draws, so that it can be given up; None for one of its own.

    Raises:
        UnavailableError: it cannot be drawn, as where the library that lays it out is missing; says why.
    """
    painter = Painter() if painter is None else painter
    return painter.svg(partial(noted, config, look), across=look is not None and look.is_across)


def noted(config: bytes, look: Look | None) -> Drawing:
    """Return the drawing of a graph with room for numbers. Arguments as `picture`."""
    from penstock.config import CalculatorGraphConfig

    drawing = views.read_drawing(CalculatorGraphConfig.FromString(config))
    notes: tuple[str, ...] = _IN_NODE
    if look is not None:
        drawing, notes = _plain(views.closed(drawing, look.opened)), _IN_LOOK
    nodes = tuple(attrs.evolve(node, notes=notes) for node in drawing.nodes)
    streams: dict[str, tuple[str, ...]] = {
        wire.name: _AT_STREAM for wire in drawing.wires() if not wire.is_side
    }
    return attrs.evolve(drawing, nodes=nodes, stream_notes=streams)


def _plain(drawing: Drawing) -> Drawing:
    """Return a drawing without side packets, and boxes without ports' names, calculators and executors."""
    return attrs.evolve(
        drawing,
        nodes=tuple(map(_plain_node, drawing.nodes)),
        input_side_packets=(),
        output_side_packets=(),
    )


def _plain_node(node: DrawnNode) -> DrawnNode:
    def without_place(port: Port) -> Port:
        return attrs.evolve(port, place="")

    return attrs.evolve(
        node,
        calculator=node.label,
        executor="",
        inputs=tuple(map(without_place, node.inputs)),
        outputs=tuple(map(without_place, node.outputs)),
        input_side_packets=(),
        output_side_packets=(),
    )
