"""Cars that pass below a bridge, followed and counted at a line, by class and direction.

    python examples/count_cars.py

The detector is a function over colours, so that the example needs no model: put a `DetectorSubgraph` with an
.onnx file in its place. It finds nothing below the bridge. The tracker knows each car again behind it.
"""

from __future__ import annotations

import cv2
import numpy as np

import penstock
from penstock_formats import Detection, LocationData

WIDTH, HEIGHT, FRAMES = 640, 360, 130
#: Class, colour (red, green, blue), size, middle of its lane, where it is at the first frame, pixels a frame.
CARS = [
    ("car", (214, 60, 52), (56, 28), 215, -60, 7),
    ("car", (214, 60, 52), (56, 28), 215, -230, 7),
    ("truck", (60, 110, 220), (96, 32), 215, -420, 7),
    ("car", (214, 60, 52), (56, 28), 275, 660, -9),
    ("truck", (60, 110, 220), (96, 32), 275, 850, -9),
]
BRIDGE = (250, 330)
MARK = 34  # pixels of a white mark on the road, of 60
NEAR = 25  # how much a colour may differ
SEEN = 0.8  # a car of which less is seen is not found


def street(i: int) -> np.ndarray:
    """Return frame i, (360, 640, 3) uint8: two lanes from above, cars, and a bridge over them."""
    pixels = np.full((HEIGHT, WIDTH, 3), (126, 158, 110), np.uint8)
    pixels[185:305] = (92, 94, 100)
    pixels[243:247, (np.arange(WIDTH) + 10) % 60 < MARK] = (226, 226, 214)
    for _, colour, (across, down), y, x, speed in CARS:
        left = x + speed * i
        corners = (left, y - down // 2), (left + across, y + down // 2)
        cv2.rectangle(pixels, *corners, colour, cv2.FILLED)
        cv2.rectangle(
            pixels, (left + 14, y - down // 2 + 5), (left + across - 14, y + down // 2 - 5), (30, 34, 40), 2
        )
    pixels[:, BRIDGE[0] : BRIDGE[1]] = (168, 160, 150)
    pixels[:, BRIDGE[0] : BRIDGE[0] + 4] = pixels[:, BRIDGE[1] - 4 : BRIDGE[1]] = (120, 112, 104)
    return pixels


@penstock.register_calculator
@penstock.calculator
def colour_detector(frame: np.ndarray) -> list[Detection]:
    """Find the cars that a frame shows, by their colours: boxes in fractions of the frame."""
    found = []
    for name, (colour, (across, down)) in {one[0]: one[1:3] for one in CARS}.items():
        mask = (np.abs(frame.astype(int) - colour).max(axis=2) < NEAR).astype(np.uint8)
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for left, top, width, height in map(cv2.boundingRect, outlines):
            if width * height < SEEN * across * down:
                continue
            place = LocationData(
                format=LocationData.RELATIVE_BOUNDING_BOX,
                relative_bounding_box={
                    "xmin": left / WIDTH,
                    "ymin": top / HEIGHT,
                    "width": width / WIDTH,
                    "height": height / HEIGHT,
                },
            )
            found.append(Detection(label=[name], score=[0.9], location_data=place))
    return found


GRAPH = """
input_stream: "frame"
output_stream: "events"
output_stream: "counts"
output_stream: "drawn"
node { calculator: "ColourDetector" input_stream: "FRAME:frame" output_stream: "OUT:detections" }
node {
  calculator: "TrackerCalculator"
  input_stream: "DETECTIONS:detections"
  output_stream: "DETECTIONS:followed"
  node_options {
    [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] { lost_seconds: 1.5 min_overlap: 0.05 }
  }
}
node {
  calculator: "ZonesCalculator"
  input_stream: "DETECTIONS:followed"
  output_stream: "EVENTS:events"
  output_stream: "COUNTS:counts"
  node_options {
    [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {
      line { name: "gate" point: [0.7, 0.5, 0.7, 0.86] direction: "west" direction: "east" }
    }
  }
}
node {
  calculator: "TrackTailsCalculator"
  input_stream: "DETECTIONS:followed"
  output_stream: "RENDER_DATA:tails"
}
node {
  calculator: "ZonesToRenderDataCalculator"
  input_stream: "COUNTS:counts"
  output_stream: "RENDER_DATA:lines"
}
node {
  calculator: "DetectionOverlayCalculator"
  input_stream: "IMAGE:frame"
  input_stream: "DETECTIONS:followed"
  output_stream: "IMAGE:boxes"
  node_options {
    [type.googleapis.com/penstock.DetectionOverlayCalculatorOptions] {
      show_id: true show_score: false text_height: 0.035
    }
  }
}
node {
  calculator: "AnnotationOverlayCalculator"
  input_stream: "IMAGE:boxes"
  input_stream: "tails"
  input_stream: "lines"
  output_stream: "IMAGE:drawn"
}
"""


def play(graph: penstock.CalculatorGraph) -> None:
    """Feed the frames to a graph, 25 a second, and wait for its end."""
    graph.start_run()
    for i in range(FRAMES):
        graph.add_packet_to_input_stream("frame", penstock.Packet(street(i), 40_000 * i))
    graph.close_all_packet_sources()
    graph.wait_until_done()


def main() -> None:
    """Print each crossing and the counts at the end."""
    frames = [(40_000 * i, street(i)) for i in range(FRAMES)]
    outputs = penstock.run(GRAPH, {"frame": frames})
    for packet in outputs["events"]:
        for event in packet.payload:
            print(f"{event.timestamp / 1e6:.2f} s: {event.label} #{event.track} goes {event.direction}")
    (line,) = outputs["counts"][-1].payload.lines
    print(f"{line.name}: {line.totals[1]} east, {line.totals[0]} west")


if __name__ == "__main__":
    main()
