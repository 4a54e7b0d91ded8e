"""What is written into a bag comes out of it, exactly, and other programs find what they expect in it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from bags import FORMATS, START, frame, payloads, read, run, same, sink, source, write
from PIL import Image as Pillow
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.typesys import Stores, get_typestore

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_ros import CameraInfo, Imu, PointCloud, Transform

TYPES = get_typestore(Stores.ROS1_NOETIC)
DEPTH = frame(ImageFormat.GRAY16)
X = 'topic {{ name: "/x" type: "{}" }}'


def message(kind, **fields):
    return TYPES.types[kind](**fields)


def header(us=START, frame_id=""):
    stamp = message("builtin_interfaces/msg/Time", sec=us // 1_000_000, nanosec=us % 1_000_000 * 1000)
    return message("std_msgs/msg/Header", seq=0, stamp=stamp, frame_id=frame_id)


def bag_of(path, messages, topic="/t", kind=None):
    """Write (log time in µs, message)s as another program does."""
    with Writer1(path) as writer:
        kind = kind or messages[0][1].__msgtype__
        connection = writer.add_connection(topic, kind, typestore=TYPES)
        for us, one in messages:
            writer.write(connection, us * 1000, TYPES.serialize_ros1(one, kind))


def image(encoding, data, width, height, step=None, *, big=False):  # noqa: PLR0913  # fields of the message
    data = np.frombuffer(data, np.uint8)
    return message(
        "sensor_msgs/msg/Image", header=header(), height=height, width=width, encoding=encoding,
        is_bigendian=int(big), step=step or len(data) // height, data=data,
    )  # fmt: skip


def test_every_payload_comes_back_as_it_was_at_its_time(path):
    given = {**payloads(), **{f"frame_{kind.name.lower()}": frame(kind) for kind in FORMATS}}
    write(path, {name: [(START + 7, one)] for name, one in given.items()})

    got, ledger = read(path, " ".join(f"/{name}" for name in given))

    for name, found in zip(given, got, strict=True):
        assert [stamp for stamp, _ in found] == [START + (0 if name == "tf" else 7)], name
        assert same(found[0][1], given[name]), name
    assert not any(stream.dropped for stream in ledger.streams)


def test_other_programs_find_types_encodings_frames_and_both_times(path):
    pixels = frame(ImageFormat.SRGB)
    write(
        path,
        {"a": [(START + n, pixels) for n in (0, 33_333)], "b": [(START + 5, payloads()["cloud"])]},
        'topic { name: "/camera/image" frame_id: "optical" } topic { name: "/points" }',
    )

    with AnyReader([path]) as reader:
        found = [(one.topic, at, reader.deserialize(raw, one.msgtype)) for one, at, raw in reader.messages()]

    assert [(topic, at) for topic, at, _ in found] == [
        ("/camera/image", START * 1000),
        ("/points", (START + 5) * 1000),
        ("/camera/image", (START + 33_333) * 1000),
    ]
    first, cloud, _ = (one for _, _, one in found)
    assert first.__msgtype__ == "sensor_msgs/msg/Image"
    assert (first.encoding, first.width, first.height, first.step) == ("rgb8", 8, 6, 24)
    assert (first.header.frame_id, first.header.stamp.sec) == ("optical", START // 1_000_000)
    assert bytes(first.data) == pixels.array.tobytes()
    assert [(one.name, one.offset, one.datatype) for one in cloud.fields] == [
        ("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("intensity", 12, 7),
    ]  # fmt: skip
    assert (cloud.header.frame_id, cloud.width, cloud.height, cloud.point_step) == ("lidar", 4, 1, 16)


def test_a_folder_is_called_as_ros_calls_it(tmp_path):
    for name, storage in (("one", "BY_ENDING"), ("two", "FOLDER_OF_MCAP")):
        write(tmp_path / name, {"a": [(START, 1)]}, more=f"storage: {storage}")
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*.*")) == [
        "one/metadata.yaml", "one/one.db3", "two/metadata.yaml", "two/two.mcap",
    ]  # fmt: skip
    assert read(tmp_path / "two", "/a")[0] == [[(START, 1)]]


@pytest.mark.parametrize("kind", [ImageFormat.GRAY8, ImageFormat.GRAY16, ImageFormat.SRGB, ImageFormat.SRGBA])
def test_png_is_exact(path, kind):
    pixels = frame(kind)
    topics = 'topic { name: "/c" type: "sensor_msgs/CompressedImage" format: "png" }'
    write(path, {"a": [(START, pixels)]}, topics)
    ((_, found),) = read(path, "/c")[0][0]
    assert same(found, pixels)
    ((_, raw),) = read(path, "/c", ports="MESSAGE:m")[0][0]
    assert raw.__msgtype__ == "sensor_msgs/msg/CompressedImage"
    assert bytes(raw.data).startswith(b"\x89PNG")


def test_jpeg_keeps_colours_and_follows_its_quality(tmp_path):
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:, :, 0] = np.arange(64) * 4
    sizes = []
    for quality in (20, 95):
        path = tmp_path / f"{quality}.mcap"
        topics = f'topic {{ name: "/c" type: "sensor_msgs/msg/CompressedImage" quality: {quality} }}'
        write(path, {"a": [(START, Image(ImageFrame(picture)))]}, topics)
        ((_, found),) = read(path, "/c")[0][0]
        assert found.format is ImageFormat.SRGB
        assert np.abs(found.array.astype(int) - picture).mean() < 4
        ((_, raw),) = read(path, "/c", ports="MESSAGE:m")[0][0]
        sizes.append(len(raw.data))
    assert sizes[0] < sizes[1]


def test_encodings_of_other_programs(tmp_path):
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    depth = np.array([[0, 1, 2], [300, 4000, 65535]], np.uint16)
    padded = np.zeros((2, 16), np.uint8)
    padded[:, :12] = rgb.reshape(2, 12)
    cases = [
        (image("bgr8", rgb[..., ::-1].tobytes(), 4, 2), rgb, ImageFormat.SRGB),
        (image("8UC3", rgb[..., ::-1].tobytes(), 4, 2), rgb, ImageFormat.SRGB),
        (image("rgb8", padded.tobytes(), 4, 2, 16), rgb, ImageFormat.SRGB),
        (image("rgb8", padded.tobytes()[:-4], 4, 2, 16), rgb, ImageFormat.SRGB),
        (image("mono16", depth.tobytes(), 3, 2), depth, ImageFormat.GRAY16),
        (image("16UC1", depth.astype(">u2").tobytes(), 3, 2, big=True), depth, ImageFormat.GRAY16),
    ]
    for number, (one, pixels, kind) in enumerate(cases):
        path = tmp_path / f"{number}.bag"
        bag_of(path, [(START, one)])
        ((_, found),) = read(path, "/t")[0][0]
        assert found.format is kind
        assert np.array_equal(found.array, pixels), number
        assert found.array.dtype.isnative


def test_depth_that_ros_compresses(tmp_path):
    depth = np.array([[0, 1], [300, 4000]], np.uint16)
    out = io.BytesIO()
    Pillow.fromarray(depth).save(out, "png")
    one = message(
        "sensor_msgs/msg/CompressedImage", header=header(), format="16UC1; compressedDepth",
        data=np.frombuffer(bytes(12) + out.getvalue(), np.uint8),
    )  # fmt: skip
    bag_of(tmp_path / "a.bag", [(START, one)])
    ((_, found),) = read(tmp_path / "a.bag", "/t")[0][0]
    assert found.format is ImageFormat.GRAY16
    assert np.array_equal(found.array, depth)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (image("bayer_rggb8", bytes(4), 2, 2), "'bayer_rggb8': raw Bayer mosaics .* output MESSAGE"),
        (image("yuv422", bytes(8), 2, 2), "encoding 'yuv422'; known are mono8, .*output MESSAGE"),
        (image("rgb8", bytes(5), 2, 1), "says 2 x 1 rgb8 with rows of 5 bytes, but has 5 bytes"),
        (image("mono8", bytes(4), 2, 3, 2), "says 2 x 3 mono8 with rows of 2 bytes, but has 4 bytes"),
    ],
)
def test_an_image_that_is_none_is_told_with_topic_and_time(tmp_path, one, why):
    bag_of(tmp_path / "a.bag", [(START, one)])
    with pytest.raises(
        GraphRunError,
        match=rf"the ROS source cannot take topic /t at 1700000000\.000000 s of .*a\.bag: .*{why}",
    ) as caught:
        read(tmp_path / "a.bag", "/t")
    assert isinstance(caught.value.errors[0].__cause__, InvalidArgumentError)
    ((_, raw),) = read(tmp_path / "a.bag", "/t", ports="MESSAGE:m")[0][0]
    assert raw.encoding == one.encoding


def cloud(fields, data, width, height, step, row=None, *, big=False):  # noqa: PLR0913, PLR0917  # as image
    made = [
        message("sensor_msgs/msg/PointField", name=name, offset=offset, datatype=kind, count=count)
        for name, offset, kind, count in fields
    ]
    return message(
        "sensor_msgs/msg/PointCloud2", header=header(frame_id="lidar"), height=height, width=width,
        fields=made, is_bigendian=big, point_step=step, row_step=row or step * width,
        data=np.frombuffer(data, np.uint8), is_dense=True,
    )  # fmt: skip


def test_clouds_with_gaps_rows_and_arrays_in_a_point(tmp_path):
    dtype = np.dtype({
        "names": ["x", "y", "z", "ring", "rgb"], "formats": ["f4", "f4", "f4", "<u2", ("u1", 3)],
        "offsets": [0, 4, 8, 16, 20], "itemsize": 32,
    })  # fmt: skip
    points = np.zeros((2, 3), dtype)
    points["x"] = np.arange(6).reshape(2, 3)
    points["ring"], points["rgb"] = 7, (1, 2, 3)
    fields = [("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1), ("ring", 16, 4, 1), ("rgb", 20, 2, 3)]
    rows = b"".join(row.tobytes() + bytes(8) for row in points)
    bag_of(tmp_path / "a.bag", [(START, cloud(fields, rows, 3, 2, 32, 104))])
    ((_, found),) = read(tmp_path / "a.bag", "/t")[0][0]

    assert found.points.shape == (2, 3)
    assert found.points["ring"].tolist() == [[7] * 3] * 2
    assert found.points["rgb"].shape == (2, 3, 3)
    assert found.xyz()[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    write(tmp_path / "b.mcap", {"a": [(START, found)]})
    ((_, again),) = read(tmp_path / "b.mcap", "/a")[0][0]
    assert np.array_equal(again.points["x"], points["x"])
    assert np.array_equal(again.points["rgb"], points["rgb"])


def test_a_cloud_of_big_endian_numbers(tmp_path):
    numbers = np.arange(6, dtype=">f4")
    fields = [("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1)]
    bag_of(tmp_path / "a.bag", [(START, cloud(fields, numbers.tobytes(), 2, 1, 12, big=True))])
    ((_, found),) = read(tmp_path / "a.bag", "/t")[0][0]
    assert found.xyz().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "one",
    [
        cloud([("x", 0, 7, 1)], bytes(7), 2, 1, 4),
        cloud([("x", 0, 9, 1)], bytes(8), 2, 1, 4),
        cloud([("x", 2, 7, 1)], bytes(8), 2, 1, 4),
        cloud([], bytes(8), 2, 1, 4),
    ],
)
def test_a_cloud_that_is_none_is_told(tmp_path, one):
    bag_of(tmp_path / "a.bag", [(START, one)])
    with pytest.raises(GraphRunError, match=r"topic /t at .* a ROS point cloud .*(do not fit|but has)"):
        read(tmp_path / "a.bag", "/t")


def test_messages_of_other_types_pass_as_they_are(path):
    odometry = get_typestore(Stores.ROS2_HUMBLE).types["geometry_msgs/msg/Point"](x=1.0, y=2.0, z=3.0)
    write(path, {"a": [(START, odometry)]})
    (found,) = read(path, "/a")[0]
    assert [(stamp, one.x, one.z) for stamp, one in found] == [(START, 1.0, 3.0)]
    assert found[0][1].__msgtype__ == "geometry_msgs/msg/Point"


def test_scalars_become_the_type_that_the_topic_names(path):
    topics = 'topic { name: "/a" type: "std_msgs/UInt8" } topic { name: "/b" type: "std_msgs/msg/Float32" }'
    write(path, {"a": [(START, 255)], "b": [(START, 2)]}, topics)
    (first, second), _ = read(path, "/a /b", ports="MESSAGE:0:a MESSAGE:1:b")
    assert (first[0][1].__msgtype__, first[0][1].data) == ("std_msgs/msg/UInt8", 255)
    assert (second[0][1].__msgtype__, second[0][1].data) == ("std_msgs/msg/Float32", 2.0)


@pytest.mark.parametrize(
    ("streams", "topics", "why"),
    [
        ({"a": [(START, object())]}, "", "stream 'a': ROS topic /a: no message can be made of a object"),
        ({"a": [(START, 256)]}, X.format("std_msgs/UInt8"), "/x: 256 cannot be a std_msgs/msg/UInt8"),
        ({"a": [(START, 1), (START + 1, "x")]}, "", "std_msgs/msg/Int64, and now one of std_msgs/msg/String"),
        ({"a": [(START, 1)]}, X.format("nav_msgs/Gone"), "there is no type 'nav_msgs/msg/Gone' among"),
        ({"a": [(START, 1)]}, X.format("sensor_msgs/Imu"), "sensor_msgs/msg/Imu, and a int becomes none"),
        ({"a": [(-5, 1)]}, "", "the time -5 µs is none of ROS: from 1970 to 2038; set start_us"),
        ({"a": [(START, frame(ImageFormat.LAB8))]}, "", "ROS images have no encoding for LAB8"),
        ({"a": [(START, DEPTH)]}, X.format("sensor_msgs/CompressedImage"), "GRAY16 .*jpeg"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_told_and_the_bag_is_whole_so_far(tmp_path, streams, topics, why):
    path = tmp_path / "a.mcap"
    with pytest.raises(GraphRunError, match=why) as caught:
        write(path, streams, topics)
    assert isinstance(caught.value.errors[0].__cause__, InvalidArgumentError)
    with AnyReader([path]) as reader:
        assert len(list(reader.messages())) == sum(map(len, streams.values())) - 1
    assert [one.name for one in tmp_path.iterdir()] == ["a.mcap"]


def test_start_us_moves_streams_that_begin_at_0(tmp_path):
    write(tmp_path / "a.bag", {"a": [(0, 1), (40_000, 2)]}, more=f"start_us: {START}")
    assert read(tmp_path / "a.bag", "/a")[0] == [[(START, 1), (START + 40_000, 2)]]


def test_a_bag_is_replayed_through_a_graph_into_another_bag(tmp_path):
    write(tmp_path / "in.bag", {"imu": [(START + n, payloads()["imu"]) for n in range(20)]})
    text = (
        'input_side_packet: "from" input_side_packet: "to"'
        'node { calculator: "RosBagSourceCalculator" input_side_packet: "PATH:from" output_stream: "imu" '
        "node_options { [type.googleapis.com/penstock_ros.RosBagSourceCalculatorOptions] "
        '{ topic: "/imu" } } }'
        'node { calculator: "RosBagSinkCalculator" input_side_packet: "PATH:to" input_stream: "imu" }'
    )
    run(text, sides={"from": str(tmp_path / "in.bag"), "to": tmp_path / "out"})
    (found,) = read(tmp_path / "out", "/imu")[0]
    assert [stamp for stamp, _ in found] == [START + n for n in range(20)]
    assert same(found[3][1], payloads()["imu"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            source("a.bag", "a b", "/a"),
            "topic has 1 names, but the ROS source has 2 outputs; name a topic for each",
        ),
        (source("a.bag", "a b", "/a /a"), "the ROS source names topic /a twice"),
        (source("a.bag", "IMU:a", "/a"), "output with the tag IMU; an output has none, or MESSAGE"),
        (source("a.bag", "a", "/a", "reorder_ms: -1"), "reorder_ms is -1; it must be from 0"),
        (source("a.bag", "a", "/a", "speed: nan"), "speed is nan; it must be from 0"),
        (
            sink("a.bag", ["a", "b"], 'topic { name: "/a" }'),
            "topic has 1 entries, but the ROS sink has 2 inputs",
        ),
        (
            sink("a.bag", ["a", "b"], 'topic { name: "/a" } topic { name: "/a" }'),
            "the ROS sink describes topic /a twice",
        ),
        (sink("a.bag", ["a"], "topic { }"), "ROS option topic has an entry without a name"),
        (
            sink("a.bag", ["a"], 'topic { name: "/a" format: "gif" }'),
            "ROS option format of topic /a is 'gif'; it must be",
        ),
        (
            sink("a.bag", ["a"], 'topic { name: "/a" quality: 0 }'),
            "ROS option quality of topic /a is 0; it must be 1 to 100",
        ),
    ],
)
def test_what_is_wrong_is_said_when_the_graph_is_loaded(text, why):
    with pytest.raises(GraphConfigError, match=why):
        penstock.CalculatorGraph(text)


def test_payloads_refuse_arrays_of_other_shapes():
    with pytest.raises(
        InvalidArgumentError, match=r"the ROS payload is an array of shape \(2,\), expected \(3,\)"
    ):
        Imu(angular_velocity=[1, 2], linear_acceleration=[1, 2, 3])
    with pytest.raises(InvalidArgumentError, match=r"expected \(3, 3\)"):
        CameraInfo(width=1, height=1, k=np.zeros(9))
    with pytest.raises(InvalidArgumentError, match=r"expected \(4,\)"):
        Transform(frame_id="a", child_frame_id="b", translation=[1, 2, 3], rotation=[1, 2, 3])
    with pytest.raises(InvalidArgumentError, match="expected a structured array"):
        PointCloud(np.zeros((4, 3)))
    with pytest.raises(InvalidArgumentError, match=r"coordinates are \(4, 2\), expected \(N, 3\)"):
        PointCloud.of_xyz(np.zeros((4, 2)))
    with pytest.raises(InvalidArgumentError, match="has the fields a, expected x, y and z"):
        PointCloud(np.zeros(4, [("a", "f4")])).xyz()
