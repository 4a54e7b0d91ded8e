"""`penstock bag`, and bags in graphs that `penstock run` runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from bags import START, frame, payloads, read, write

from penstock_formats import ImageFormat

pytestmark = pytest.mark.heavy


def penstock(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "penstock", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=cwd,
    )


def test_the_node_that_is_printed_plays_the_bag(tmp_path):
    streams = {
        "imu": [(START + n, payloads()["imu"]) for n in range(3)],
        "a": [(START, frame(ImageFormat.SRGB))],
    }
    write(tmp_path / "in.bag", streams, 'topic { name: "/imu/data" } topic { name: "/Cam/image" }')
    done = penstock("bag", tmp_path / "in.bag")
    assert done.returncode == 0, done.stderr
    table, _, node = done.stdout.partition("\n\n")
    assert [line.split()[:3] for line in table.splitlines()[1:3]] == [
        ["/Cam/image", "sensor_msgs/msg/Image", "1"],
        ["/imu/data", "sensor_msgs/msg/Imu", "3"],
    ]
    assert "penstock_ros.Imu" in table
    assert 'output_stream: "cam_image"' in node

    sink = (
        'node { calculator: "RosBagSinkCalculator" input_side_packet: "PATH:out" input_stream: "imu_data" }'
    )
    (tmp_path / "g.pbtxt").write_text('input_side_packet: "out"\n' + node + sink)
    sides = ("--side", f"bag={tmp_path / 'in.bag'}", "--side", "out=out.mcap")
    done = penstock("run", "g.pbtxt", *sides, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [stamp for stamp, _ in read(tmp_path / "out.mcap", "/imu_data")[0][0]] == [
        START,
        START + 1,
        START + 2,
    ]


def test_a_bag_as_json_and_errors_with_their_codes(tmp_path):
    write(tmp_path / "in", {"a": [(START, 1), (START + 2_000_000, 2)]})
    done = penstock("bag", tmp_path / "in", "--json")
    assert json.loads(done.stdout) == {
        "begin_s": START / 1e6,
        "seconds": 2.0,
        "topics": [{"topic": "/a", "type": "std_msgs/msg/Int64", "messages": 2, "payload": "int"}],
    }
    (tmp_path / "bad.bag").write_bytes(b"no bag")
    done = penstock("bag", tmp_path / "bad.bag")
    assert done.returncode != 0
    assert "cannot be read as a bag" in done.stderr
    done = penstock("bag", tmp_path / "gone.bag")
    assert "the bag command finds no ROS bag at" in done.stderr
    assert done.returncode != 0
