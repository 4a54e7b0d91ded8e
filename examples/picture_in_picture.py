"""Two cameras whose clocks differ, one shown in a corner of the other.

    python examples/picture_in_picture.py

The cameras deliver 25 and 15 frames a second, so their timestamps rarely agree. The policy `Nearest` calls
the node that joins them at each frame of the first camera, with the frame of the second that is nearest in
time and at most 20 ms away; where there is none, the corner stays empty. Both cameras are test patterns.
"""

from __future__ import annotations

import penstock
from penstock_formats import ImageFrame


@penstock.register_calculator
@penstock.calculator
def corner(frame: ImageFrame, small: ImageFrame | None) -> ImageFrame:
    """Return the frame with the small one in its lower right corner, or the frame as it is."""
    if small is None:
        return frame
    picture = frame.array.copy()  # the frame itself may be read by other nodes
    height, width = small.array.shape[:2]
    picture[-height - 12 : -8, -width - 12 : -8] = 255
    picture[-height - 10 : -10, -width - 10 : -10] = small.array
    return ImageFrame(picture, frame.format)


GRAPH = """
max_queue_size: 6
output_stream: "front"
output_stream: "joined"
node {
  calculator: "VideoDecoderCalculator"
  name: "front_camera"
  output_stream: "VIDEO:front"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 fps: 25 frames: 7 }
    }
  }
}
node {
  calculator: "VideoDecoderCalculator"
  name: "rear_camera"
  output_stream: "VIDEO:rear"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 fps: 15 frames: 4 }
    }
  }
}
node {
  calculator: "ImageTransformationCalculator"
  input_stream: "IMAGE:rear"
  output_stream: "IMAGE:small"
  node_options {
    [type.googleapis.com/penstock.ImageTransformationCalculatorOptions] {
      output_width: 112
      output_height: 63
      flip_horizontally: true
    }
  }
}
node {
  calculator: "Corner"
  input_stream: "FRAME:front"
  input_stream: "SMALL:small"
  output_stream: "OUT:joined"
  input_stream_handler {
    input_stream_handler: "Nearest"
    options { [penstock.NearestOptions.ext] { base: "FRAME" tolerance: 20000 } }
  }
}
"""


def main() -> None:
    """Print which frames have a picture in their corner."""
    for row in penstock.CalculatorGraph(GRAPH).rows("front", "joined"):
        seen = "one camera" if row["joined"] is row["front"] else "both cameras"
        print(f"frame at {row.timestamp.seconds:.2f} s: {seen}")


if __name__ == "__main__":
    main()
