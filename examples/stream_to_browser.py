"""A moving test pattern, and what has moved in it, in a browser: prints the address; Ctrl-C ends it.

    python examples/stream_to_browser.py [SECONDS]

A decoder sends frames, a class marks what has moved, and a LiveVideoSinkCalculator shows the result to
every browser that has the address. With `pace` frames go at the rate of the pattern; without it they would
come as fast as they are made, and a viewer would see some of them.
"""

from __future__ import annotations

import sys

import numpy as np

import penstock
from penstock_formats import ImageFormat, ImageFrame

CHANGED = 30  # grey levels


@penstock.register_calculator
@penstock.calculator
class Moved:
    """Paints red what has changed since the frame before."""

    def __init__(self) -> None:
        self._before: np.ndarray | None = None

    def process(self, frame: ImageFrame) -> ImageFrame:
        """Return the frame with red where it has changed."""
        now = frame.array.mean(axis=2)
        before, self._before = self._before, now
        painted = frame.array.copy()
        if before is not None:
            painted[np.abs(now - before) > CHANGED] = (255, 0, 0)
        return ImageFrame(painted, ImageFormat.SRGB)


GRAPH = """
input_side_packet: "address"
output_side_packet: "url"
node {
  calculator: "VideoDecoderCalculator"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 640 height: 360 fps: 25 frames: %d }
    }
  }
}
node { calculator: "Moved" input_stream: "FRAME:frame" output_stream: "OUT:painted" }
node {
  calculator: "LiveVideoSinkCalculator"
  input_stream: "VIDEO:painted"
  input_side_packet: "ADDRESS:address"
  output_side_packet: "URL:url"
  node_options {
    [type.googleapis.com/penstock_video.LiveVideoSinkCalculatorOptions] { pace: true }
  }
}
node { calculator: "Said" input_side_packet: "URL:url" }
"""


@penstock.register_calculator
class Said(penstock.Calculator):
    """Prints where the stream is shown, as soon as that is known."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Take the address."""
        cc.input_side_packets["URL"].set(str, "the address for browsers")

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Print it."""
        print(f"open {cc.input_side_packets['URL'].payload}", flush=True)

    def process(self, cc: penstock.CalculatorContext) -> object:  # noqa: ARG002  # a source without outputs
        """End at once."""
        return penstock.STOP


def play(seconds: float, address: str = "http://127.0.0.1:0") -> None:
    """Show the stream for a time."""
    graph = penstock.CalculatorGraph(GRAPH % round(25 * seconds))
    try:
        graph.run({"address": address})
    except KeyboardInterrupt:
        graph.cancel()
    sent = graph.counters.get("LiveVideoSinkCalculator-sent", 0)
    print(f"{sent} frames")


if __name__ == "__main__":
    play(float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0)
