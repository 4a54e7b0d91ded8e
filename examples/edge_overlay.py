"""Edges drawn over the right half of a video, passed to a Python function frame by frame.

    python examples/edge_overlay.py [VIDEO]

The graph is edge_overlay.pbtxt without its encoder; the three nodes that paint are a subgraph,
`EdgeOverlaySubgraph`. Without VIDEO it runs on the built-in test pattern. For each frame a callback prints
its time and the share of its pixels that are edges.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import penstock
from penstock_formats import ImageFrame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GRAPH = """
max_queue_size: 6
input_side_packet: "input_video"
output_stream: "painted"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] { test_pattern { frames: 50 } }
  }
}
node {
  calculator: "EdgeOverlaySubgraph"
  input_stream: "VIDEO:frame"
  output_stream: "VIDEO:painted"
  node_options { [type.googleapis.com/penstock.CannyEdgeCalculatorOptions] { line_width: 3 } }
  node_options {
    [type.googleapis.com/penstock.ImageOverlayCalculatorOptions] {
      color { r: 255 g: 180 b: 0 }
      darkening: 0.65
      region { xmin: 0.5 width: 0.5 }
    }
  }
}
"""


def watch(video: str | None, show: Callable[[str, penstock.Packet], object]) -> None:
    """Run the graph and call `show(stream name, packet)` for each painted frame, in order.

    Args:
        video: a file; None for the test pattern.
        show: gets an `ImageFrame` (SRGB) as the packet's payload. Called on a thread of the graph,
            never twice at once; an exception that it raises ends the run with an error.
    """
    graph = penstock.CalculatorGraph(GRAPH)
    graph.observe_output_stream("painted", show)
    graph.start_run({} if video is None else {"input_video": video})
    graph.wait_until_done()


def tell(name: str, packet: penstock.Packet) -> None:
    """Print one line for a frame; an application would show the frame here, or send it on."""
    pixels = packet.get(ImageFrame).array  # (H, W, 3) uint8, RGB, read-only
    share = (pixels == (255, 180, 0)).all(axis=2).mean()
    print(f"{name} at {packet.timestamp.seconds:6.2f} s: {share:6.2%} edge")


def main(arguments: Sequence[str]) -> None:
    """Run on the video that the command line names, or on the test pattern."""
    watch(arguments[0] if arguments else None, tell)


if __name__ == "__main__":
    main(sys.argv[1:])
