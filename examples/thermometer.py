"""A thermometer that reports now and then, written into the frames of a camera.

    python examples/thermometer.py

The policy `Latest` calls the node that writes at each frame, its tick, with the newest reading at or before
it. The result does not depend on which of the two was faster. Camera and thermometer are replaced by
the test pattern and by a generator; an application would feed both as graph inputs.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2

import penstock
from penstock_formats import ImageFrame


@penstock.register_calculator
@penstock.calculator
def thermometer() -> Iterator[tuple[penstock.Timestamp, float]]:
    """Yield readings in degrees Celsius, each at its time in microseconds."""
    for time, celsius in ((50_000, 20.5), (130_000, 20.7), (150_000, 21.0), (210_000, 20.9)):
        yield penstock.Timestamp(time), celsius


@penstock.register_calculator
@penstock.calculator
def write(frame: ImageFrame, celsius: float | None) -> ImageFrame:
    """Return the frame with the temperature in it, in new memory."""
    words = "no reading" if celsius is None else f"{celsius:.1f} C"
    picture = frame.array.copy()
    picture[104:152, 8:232] = 0
    cv2.putText(picture, words, (18, 138), cv2.FONT_HERSHEY_SIMPLEX, 1.1, (255, 255, 255), 2, cv2.LINE_AA)
    return ImageFrame(picture, frame.format)


GRAPH = """
max_queue_size: 6
output_stream: "celsius"
output_stream: "frame"
output_stream: "shown"
node { calculator: "Thermometer" output_stream: "OUT:celsius" }
node {
  calculator: "VideoDecoderCalculator"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 fps: 25 frames: 6 }
    }
  }
}
node {
  calculator: "Write"
  input_stream: "FRAME:frame"
  input_stream: "CELSIUS:celsius"
  output_stream: "OUT:shown"
  input_stream_handler {
    input_stream_handler: "Latest"
    options { [penstock.LatestOptions.ext] { tick: "FRAME" } }
  }
}
"""


def main() -> None:
    """Print readings and frames in the order of their times, then where every packet went."""
    graph = penstock.CalculatorGraph(GRAPH)
    for row in graph.rows("celsius", "shown"):
        if row["celsius"] is not None:
            print(f"{row.timestamp.seconds:.2f} s  {row['celsius']:.1f} C")
        if row["shown"] is not None:
            print(f"{row.timestamp.seconds:.2f} s  a frame, {row['shown'].width} x {row['shown'].height}")
    for drop in graph.ledger().drops:
        print(f"not shown: {drop.count} ({drop.reason})")


if __name__ == "__main__":
    main()
