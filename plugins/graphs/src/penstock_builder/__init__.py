"""Graphs written in Python: nodes, streams and side packets as objects, to and from the same config.

    import penstock_builder as builder

    g = builder.Graph()
    frames = g.input("frames")
    gray = g.node("ColorConvertCalculator", {"RGB_IN": frames}).outputs["GRAY_OUT"]
    edges = g.node("CannyEdgeCalculator", {"VIDEO": gray}, low_threshold=50).outputs["VIDEO"]
    painted = g.node("ImageOverlayCalculator", {"VIDEO": frames, "MASK": edges}).outputs["VIDEO"]
    g.output(painted, "painted")
    graph = penstock.CalculatorGraph(g)

A graph here is only written, never run: `CalculatorGraph` takes it, and checks it as it checks a file.
Wrong wires are refused where they are written, as far as the calculator's contract is known there.
"""

from __future__ import annotations

from penstock_builder.feedback import Feedback
from penstock_builder.graph import Graph
from penstock_builder.node import Node
from penstock_builder.wires import SidePacket, Stream

__all__ = ["Feedback", "Graph", "Node", "SidePacket", "Stream"]
