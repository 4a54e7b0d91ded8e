"""A robot turns in a room: its IMU at 200 Hz beside a camera at 30 frames/s and a lidar at 10 Hz, from a bag.

    python examples/imu_camera_lidar.py [BAG]

The program first writes a bag of ROS 2 of a robot that it makes up, then plays it. One node adds up the
IMU's samples between two frames, which gives where the camera looks. Another one runs at each frame, with
the lidar's scan that is nearest in time, and draws the scan into the frame, turned back by that angle: the
walls of the room stand still although the robot turns. It needs the extra `ros` of Penstock. BAG is kept,
for RViz or Foxglove.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import penstock
from penstock_formats import ImageFrame
from penstock_ros import Imu, PointCloud

#: Half the room's length and width, in metres, and the colours of its walls.
ROOM = np.array([3.0, 2.0])
COLOURS = np.array([[200, 80, 70], [80, 150, 90], [70, 110, 200], [200, 170, 70]])
#: When the recording begins, in microseconds since 1970, and how long it is.
START, SECONDS = 1_750_000_000_000_000, 1.0


# --- the robot ------------------------------------------------------------------------------------


def turned(seconds: float) -> float:
    """Return how far the robot has turned to the left, in radians."""
    return 0.9 * (1 - np.cos(2 * seconds))


def walls(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the walls are in some directions, and which wall each is."""
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    away = ROOM / np.maximum(np.abs(directions), 1e-9)
    side = np.argmin(away, axis=1)
    return away.min(axis=1), 2 * side + (directions[np.arange(len(side)), side] > 0)


def picture(seconds: float) -> ImageFrame:
    """Return what the camera sees: 320 x 180 SRGB, 80 degrees wide."""
    columns = np.arctan(np.linspace(1, -1, 320) * np.tan(np.radians(40)))
    away, wall = walls(columns + turned(seconds))
    half = np.clip(90 / (away * np.cos(columns)), 1, 89)
    rows = np.abs(np.arange(180)[:, None] - 90)
    pixels = np.where((rows < half)[..., None], COLOURS[wall] * (1.1 - away / 5)[:, None], 45)
    return ImageFrame(np.clip(pixels, 0, 255).astype(np.uint8))


def scan(seconds: float) -> PointCloud:
    """Return 180 points of the walls in the robot's own frame: x ahead, y left."""
    angles = np.linspace(-np.pi, np.pi, 180, endpoint=False)
    away, _ = walls(angles + turned(seconds))
    points = np.stack([away * np.cos(angles), away * np.sin(angles), 0 * away], axis=1)
    return PointCloud.of_xyz(points, frame_id="lidar")


def sample(seconds: float) -> Imu:
    """Return how fast the robot turns, as its IMU measures it."""
    rate = 1.8 * np.sin(2 * seconds)
    return Imu(frame_id="imu", angular_velocity=[0, 0, rate], linear_acceleration=[0, 0, 9.81])


WRITE = """
input_side_packet: "bag"
input_stream: "frames"
input_stream: "imu"
input_stream: "scans"
node {
  calculator: "RosBagSinkCalculator"
  input_side_packet: "PATH:bag"
  input_stream: "frames"
  input_stream: "imu"
  input_stream: "scans"
  node_options {
    [type.googleapis.com/penstock_ros.RosBagSinkCalculatorOptions] {
      topic { name: "/camera/image" frame_id: "camera" }
      topic { name: "/imu/data" }
      topic { name: "/lidar/points" }
    }
  }
}
"""


def write_bag(path: Path) -> None:
    """Write what the three sensors measure."""
    makers = {"frames": (picture, 30), "imu": (sample, 200), "scans": (scan, 10)}
    streams = {}
    for name, (make, rate) in makers.items():
        times = [n / rate for n in range(int(SECONDS * rate))]
        streams[name] = [(START + round(time * 1e6), make(time)) for time in times]
    penstock.run(WRITE, streams, side_packets={"bag": str(path)})


# --- the graph ------------------------------------------------------------------------------------


@penstock.register_calculator
class HeadingCalculator(penstock.Calculator):
    """Sends at each frame how far the robot has turned since the beginning, in radians."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Take frames for their times, and samples."""
        cc.inputs["FRAME"].set(ImageFrame)
        cc.inputs["IMU"].set(Imu)
        cc.outputs["HEADING"].set(float)

    def open(self, cc: penstock.CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Begin at 0."""
        self._heading, self._rate = 0.0, 0.0
        self._last: float | None = None

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Add up; the default policy gives samples and frames in the order of their timestamps."""
        now = cc.input_timestamp.seconds
        if self._last is not None:
            self._heading += self._rate * (now - self._last)
        self._last = now
        if not cc.inputs["IMU"].is_empty():
            self._rate = float(cc.inputs["IMU"].packet.get(Imu).angular_velocity[2])
        if not cc.inputs["FRAME"].is_empty():
            cc.outputs["HEADING"].add(self._heading, cc.input_timestamp)


@penstock.register_calculator
@penstock.calculator
def draw_map(frame: ImageFrame, heading: float, scan: PointCloud | None) -> ImageFrame:
    """Return the frame with the scan from above in a corner, and a line that shows where it looks."""
    pixels = frame.array.copy()  # the frame itself may be read by other nodes
    pixels[6:86, 194:314] = 20
    middle, scale = np.array([46, 254]), 18
    ahead = np.linspace(0, 1.2, 30)[:, None] * [np.cos(heading), np.sin(heading)]
    marks = [(ahead, (255, 210, 60))]
    if scan is not None:
        points = scan.xyz()[:, :2].astype(float)
        back = np.array([[np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
        marks.append((points @ back, (255, 255, 255)))
    for places, colour in marks:
        rows, columns = np.round(middle + places[:, ::-1] * [-scale, scale]).astype(int).T
        pixels[np.clip(rows, 6, 85), np.clip(columns, 194, 313)] = colour
    return ImageFrame(pixels, frame.format)


GRAPH = """
input_side_packet: "bag"
output_stream: "heading"
output_stream: "shown"
node {
  calculator: "RosBagSourceCalculator"
  input_side_packet: "PATH:bag"
  output_stream: "frames"
  output_stream: "imu"
  output_stream: "scans"
  node_options {
    [type.googleapis.com/penstock_ros.RosBagSourceCalculatorOptions] {
      topic: "/camera/image" topic: "/imu/data" topic: "/lidar/points"
    }
  }
}
node {
  calculator: "HeadingCalculator"
  input_stream: "FRAME:frames"
  input_stream: "IMU:imu"
  output_stream: "HEADING:heading"
}
node {
  calculator: "DrawMap"
  input_stream: "FRAME:frames"
  input_stream: "HEADING:heading"
  input_stream: "SCAN:scans"
  output_stream: "OUT:shown"
  input_stream_handler {
    input_stream_handler: "Nearest"
    options { [penstock.NearestOptions.ext] { base: "FRAME" tolerance: 60000 } }
  }
}
"""


def play(graph: penstock.CalculatorGraph, bag: Path | None = None) -> None:
    """Write a bag, and play it through a graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.mcap" if bag is None else bag
        write_bag(path)
        graph.run({"bag": str(path)})


def main() -> None:
    """Print where the robot looks at every fifth frame, by its IMU and in truth."""
    graph = penstock.CalculatorGraph(GRAPH)

    def tell(_: str, packet: penstock.Packet) -> None:
        seconds = packet.timestamp.seconds - START / 1e6
        if round(seconds * 30) % 5 == 0:
            true = np.degrees(turned(seconds))
            print(f"{seconds:.2f} s: turned {np.degrees(packet.get(float)):5.1f} degrees (true {true:5.1f})")

    graph.observe_output_stream("heading", tell)
    play(graph, Path(sys.argv[1]) if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
