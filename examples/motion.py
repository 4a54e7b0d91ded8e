"""What has moved since the frame before, painted magenta.

    python examples/motion.py [VIDEO]

`PreviousLoopbackCalculator` is the memory: at each frame it sends the frame before. A function compares the
two, and an overlay paints where they differ. Without VIDEO it runs on the built-in test pattern.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import cv2

import penstock
from penstock_formats import ImageFormat, ImageFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 40  # differences below this are noise


@penstock.register_calculator
@penstock.calculator
def moved(now: ImageFrame, before: ImageFrame) -> ImageFrame:
    """Return a mask (GRAY8): 255 where two frames differ in some channel, 0 elsewhere."""
    difference = cv2.absdiff(now.array, before.array).max(axis=2)
    return ImageFrame((difference >= LEAST).astype("uint8") * 255, ImageFormat.GRAY8)


GRAPH = """
max_queue_size: 6
input_side_packet: "input_video"
output_stream: "mask"
output_stream: "painted"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 frames: 8 }
    }
  }
}
node {
  calculator: "PreviousLoopbackCalculator"
  input_stream: "MAIN:frame"
  input_stream: "LOOP:frame"
  output_stream: "PREV_LOOP:frame_before"
}
# Both inputs must be there: it is not called at the first frame, which has no frame before it.
node {
  calculator: "Moved"
  input_stream: "NOW:frame"
  input_stream: "BEFORE:frame_before"
  output_stream: "OUT:mask"
}
# Forwards a frame without a mask as it is.
node {
  calculator: "ImageOverlayCalculator"
  input_stream: "VIDEO:frame"
  input_stream: "MASK:mask"
  output_stream: "VIDEO:painted"
  node_options {
    [type.googleapis.com/penstock.ImageOverlayCalculatorOptions] { color { r: 255 g: 0 b: 220 } }
  }
}
"""


def main(arguments: Sequence[str]) -> None:
    """Print for each frame how much of it has moved."""
    sides = {"input_video": arguments[0]} if arguments else {}
    for row in penstock.CalculatorGraph(GRAPH).rows("mask", "painted", side_packets=sides):
        share = "nothing before it" if row["mask"] is None else f"{(row['mask'].array > 0).mean():.1%} moved"
        print(f"frame at {row.timestamp.seconds:.2f} s: {share}")


if __name__ == "__main__":
    main(sys.argv[1:])
