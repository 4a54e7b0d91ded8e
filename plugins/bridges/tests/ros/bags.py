"""Bags to test with: graphs that write and read them, and payloads."""

from __future__ import annotations

import numpy as np

import penstock
from penstock_formats import ImageFormat, ImageFrame
from penstock_ros import CameraInfo, Imu, PointCloud, Transform, Transforms

PATIENCE_S = 30.0
#: A time of this decade, in microseconds.
START = 1_700_000_000_000_000


def run(text, inputs=None, sides=None, streams=()):
    """Run a graph to its end; return (timestamp, payload) by stream, and the ledger."""
    got = {name: [] for name in streams}
    with penstock.CalculatorGraph(text) as graph:
        for name, packets in got.items():
            graph.observe_output_stream(
                name, lambda _, p, packets=packets: packets.append((int(p.timestamp), p.payload))
            )
        graph.start_run(sides or {})
        for name, packets in (inputs or {}).items():
            for stamp, payload in packets:
                graph.add_packet_to_input_stream(name, penstock.Packet(payload, stamp))
        graph.close_all_input_streams()
        graph.wait_until_done(PATIENCE_S)
        ledger = graph.ledger()
    assert ledger.adds_up
    return got, ledger


def sink(path, streams, topics="", more=""):
    """Return the text of a graph that writes its inputs."""
    outer = " ".join(f'input_stream: "{name}"' for name in streams)
    return f"""{outer} node {{ calculator: "RosBagSinkCalculator" {outer}
        node_options {{ [type.googleapis.com/penstock_ros.RosBagSinkCalculatorOptions] {{
          path: "{path}" {topics} {more} }} }} }}"""


def source(path, ports, topics, more=""):
    """Return the text of a graph that reads topics into streams, as "a b" or "MESSAGE:a"."""
    outputs = " ".join(f'output_stream: "{port}"' for port in ports.split())
    names = " ".join(f'topic: "{name}"' for name in topics.split())
    return f"""node {{ calculator: "RosBagSourceCalculator" {outputs}
        node_options {{ [type.googleapis.com/penstock_ros.RosBagSourceCalculatorOptions] {{
          path: "{path}" {names} {more} }} }} }}"""


def write(path, streams, topics="", more=""):
    """Write streams, name to (timestamp, payload)s, into a bag."""
    run(sink(path, streams, topics, more), inputs=streams)


def read(path, topics, more="", ports=None):
    """Return (timestamp, payload) by topic, in the order of the topics, and the ledger."""
    names = ports or " ".join(f"s{i}" for i in range(len(topics.split())))
    streams = [name.rpartition(":")[2] for name in names.split()]
    got, ledger = run(source(path, names, topics, more), streams=streams)
    return [got[name] for name in streams], ledger


def same(a, b):
    """Return whether two payloads of this pack have the same fields."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, ImageFrame):
        return a.format is b.format and np.array_equal(a.array, b.array)
    if hasattr(a, "__attrs_attrs__"):
        return type(a) is type(b) and all(
            same(getattr(a, one.name), getattr(b, one.name)) for one in a.__attrs_attrs__
        )
    return type(a) is type(b) and a == b


def frame(kind, seed=0, size=(6, 8)):
    random = np.random.default_rng(seed)
    channels = kind.channels
    shape = size if channels == 1 else (*size, channels)
    name = kind.name
    if name.startswith("VEC32F"):
        return ImageFrame(random.normal(size=shape).astype(np.float32), kind)
    bits = np.uint16 if name in ("GRAY16", "SRGB48", "SRGBA64") else np.uint8
    return ImageFrame(random.integers(0, np.iinfo(bits).max, shape, bits, endpoint=True), kind)


def payloads():
    """Return a payload of each kind, by name."""
    eye = np.eye(3)
    return {
        "imu": Imu(
            frame_id="imu",
            angular_velocity=[0.1, -0.2, 0.3],
            linear_acceleration=[0, 0, 9.81],
            orientation=[0, 0, 0, 1],
            orientation_covariance=eye * 0.5,
            angular_velocity_covariance=eye * 0.25,
        ),
        "bare_imu": Imu(angular_velocity=[1, 2, 3], linear_acceleration=[4, 5, 6], frame_id="bare"),
        "cloud": PointCloud.of_xyz(
            np.arange(12, dtype=float).reshape(4, 3), np.arange(4), frame_id="lidar"
        ),
        "camera": CameraInfo(
            frame_id="optical", width=640, height=480, distortion_model="plumb_bob",
            d=[0.1, 0.2, 0, 0, 0.3], k=[[500, 0, 320], [0, 500, 240], [0, 0, 1]],
            p=np.arange(12).reshape(3, 4),
        ),
        "tf": Transforms([
            Transform(frame_id="map", child_frame_id="base", translation=[1, 2, 3],
                      rotation=[0, 0, 1, 0], stamp_us=START),
        ]),
        "yes": True,
        "count": -5,
        "number": 2.5,
        "words": "grüße",
    }  # fmt: skip


FORMATS = [kind for kind in ImageFormat if kind.channels and kind is not ImageFormat.LAB8]
