"""Pictures of graphs: as Mermaid or DOT text, and as SVG where the library that lays them out is installed.

    from pathlib import Path
    from penstock import draw

    drawing = draw.drawing(Path("graph.pbtxt"), expand=True)
    print(draw.mermaid(drawing))
    Path("graph.svg").write_text(draw.svg(drawing), encoding="utf-8")

Text needs nothing else. `svg` needs Graphviz's layout: `pip install "penstock-core[draw]"`. Timelines of
runs are `Track`s, drawn by `timeline_svg`, which needs nothing either; `Recorder` takes them from a run.
"""

from __future__ import annotations

from penstock.draw.dot import dot
from penstock.draw.drawing import Drawing, DrawnNode, End, NodeKind, Port, Wire
from penstock.draw.mermaid import mermaid
from penstock.draw.reading import drawing, drawing_of
from penstock.draw.recorder import Recorder
from penstock.draw.svg import svg
from penstock.draw.timeline import Track, timeline_svg

__all__ = [
    "Drawing",
    "DrawnNode",
    "End",
    "NodeKind",
    "Port",
    "Recorder",
    "Track",
    "Wire",
    "dot",
    "drawing",
    "drawing_of",
    "mermaid",
    "svg",
    "timeline_svg",
]
