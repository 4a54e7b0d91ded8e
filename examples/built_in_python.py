"""A graph written in Python: one part used twice, with a loop that keeps the frame before.

    python examples/built_in_python.py

For each of two cameras the part finds the edges of each frame, and sends those of the frame before beside
them. The graph is printed as text, as a graph file would have it, with names that begin with "left__" and
"right__". Here both cameras are the built-in test pattern.
"""

from __future__ import annotations

import penstock
import penstock_builder as builder
from penstock_formats import ImageFrame


def edges_now_and_before(g: builder.Graph, frames: builder.Stream) -> tuple[builder.Stream, builder.Stream]:
    """Return the edges of each frame, and those of the frame before it; both ImageFrames (GRAY8)."""
    gray = g.node("ColorConvertCalculator", {"RGB_IN": frames}).outputs["GRAY_OUT"]
    # The first frame has no frame before it: the loop has no packet at its timestamp.
    loop = g.feedback(tick=frames)
    edges = g.node("CannyEdgeCalculator", {"VIDEO": gray}, low_threshold=50, high_threshold=150).output
    loop.connect(edges)
    return edges, loop.stream


def graph() -> builder.Graph:
    """Write the graph."""
    g = builder.Graph(max_queue_size=6)
    for camera in ("left", "right"):
        with g.prefix(camera):
            pattern = {"width": 64, "height": 48, "frames": 5}
            frames = g.node("VideoDecoderCalculator", test_pattern=pattern).outputs["VIDEO"]
            now, before = edges_now_and_before(g, frames)
            g.output(now, "now")
            g.output(before, "before")
    return g


def main() -> None:
    """Print the graph as text, then run it and print a line for each output packet."""
    g = graph()
    print(g.to_text())

    def tell(name: str, packet: penstock.Packet) -> None:
        edge = int((packet.get(ImageFrame).array > 0).sum())
        print(f"{name} at {packet.timestamp.seconds:.2f} s: {edge} pixels of edge\n", end="")

    running = penstock.CalculatorGraph(g)
    for name in ("left__now", "left__before", "right__now", "right__before"):
        running.observe_output_stream(name, tell)
    running.start_run()
    running.wait_until_done()


if __name__ == "__main__":
    main()
