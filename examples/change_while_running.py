"""Thresholds that move and an effect that is exchanged, while a video plays.

    python examples/change_while_running.py [VIDEO]

At one frame the thresholds of the edges change, at another one the effect becomes a different calculator,
as a better model would. The graph is not stopped, no frame is lost or seen twice, and both changes count
from the very frame that was named. Without VIDEO it runs on the built-in test pattern.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import cv2

import penstock
from penstock_formats import ImageFormat, ImageFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

FRAME_US = 40_000  # of the test pattern, 25 frames in a second


@penstock.register_calculator
@penstock.calculator
def mirror(frame: ImageFrame) -> ImageFrame:
    """Return the frame as in a mirror."""
    return ImageFrame(cv2.flip(frame.array, 1), frame.format)


@penstock.register_calculator
@penstock.calculator
def invert(frame: ImageFrame) -> ImageFrame:
    """Return the frame with light and dark exchanged."""
    return ImageFrame(255 - frame.array, ImageFormat.GRAY8)


GRAPH = """
max_queue_size: 1
input_side_packet: "input_video"
output_stream: "edges"
output_stream: "shown"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 frames: 20 }
    }
  }
}
node { calculator: "ColorConvertCalculator" input_stream: "RGB_IN:frame" output_stream: "GRAY_OUT:gray" }
node { calculator: "CannyEdgeCalculator" name: "edges" input_stream: "gray" output_stream: "edges" }
node { calculator: "Mirror" name: "effect" input_stream: "FRAME:edges" output_stream: "OUT:shown" }
"""


def main(arguments: Sequence[str]) -> None:
    """Print for each frame how much of it is edge, and how much is bright after the effect."""
    sides = {"input_video": arguments[0]} if arguments else {}
    graph = penstock.CalculatorGraph(GRAPH)
    graph.set_options("edges", {"low_threshold": 400, "high_threshold": 800}, at=4 * FRAME_US)
    for number, row in enumerate(graph.rows("edges", "shown", side_packets=sides)):
        if number == 1:  # as if somebody had pressed a button: the graph runs
            graph.swap("effect", calculator="Invert", at=16 * FRAME_US)
        edges, bright = ((row[name].array > 0).mean() for name in ("edges", "shown"))
        print(f"frame at {row.timestamp.seconds:.2f} s: {edges:.1%} edges, {bright:.1%} bright")


if __name__ == "__main__":
    main(sys.argv[1:])
