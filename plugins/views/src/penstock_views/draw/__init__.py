"""Drawings of graphs: as Mermaid or DOT text, and as SVG where the library that lays them out is installed.

    from pathlib import Path
    from penstock_views import draw

    drawing = draw.drawing(Path("graph.pbtxt"), expand=True)
    print(draw.mermaid(drawing))
    Path("graph.svg").write_text(draw.svg(drawing), encoding="utf-8")

Mermaid and DOT need no library. `svg` needs Graphviz's layout: `pip install "penstock-views[draw]"`.
`painter_svg` lets another process do it, and a `Painter` can give up what it draws.
Timelines of runs are `Track`s, drawn by `timeline_svg`, which needs no library either; `Recorder` takes
them from a run.
"""

from __future__ import annotations

from penstock_views.draw.closing import closed
from penstock_views.draw.dot import dot
from penstock_views.draw.drawing import Drawing, DrawnNode, End, NodeKind, Port, Wire
from penstock_views.draw.mermaid import mermaid
from penstock_views.draw.painter import Painter, painter_svg
from penstock_views.draw.reading import drawing, read_drawing
from penstock_views.draw.recorder import Recorder
from penstock_views.draw.svg import svg
from penstock_views.draw.timeline import Track, timeline_svg

__all__ = [
    "Drawing",
    "DrawnNode",
    "End",
    "NodeKind",
    "Painter",
    "Port",
    "Recorder",
    "Track",
    "Wire",
    "closed",
    "dot",
    "drawing",
    "mermaid",
    "painter_svg",
    "read_drawing",
    "svg",
    "timeline_svg",
]
