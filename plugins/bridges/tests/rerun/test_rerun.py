"""Streams in files of Rerun, read back by its own reader, and what happens where no viewer takes them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rerun", reason="penstock-bridges[rerun] is not installed")
from rerun.chunk import RrdReader

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, UnavailableError
from penstock_formats import (
    ClassificationList,
    Detection,
    ImageFormat,
    ImageFrame,
    LandmarkList,
    LocationData,
    NormalizedLandmarkList,
    NormalizedRect,
)
from penstock_ros import CameraInfo, Imu, PointCloud, Transform, Transforms

pytestmark = pytest.mark.heavy  # each log is a process that imports Rerun's SDK

PATIENCE_S = 30.0
START = 1_700_000_000_000_000


def sink(streams, options):
    outer = " ".join(f'input_stream: "{name}"' for name in streams)
    return f"""{outer} node {{ calculator: "RerunSinkCalculator" {outer}
        node_options {{ [type.googleapis.com/penstock_rerun.RerunSinkCalculatorOptions] {{ {options} }}
        }} }}"""


def write(streams, options):
    with penstock.CalculatorGraph(sink(streams, options)) as graph:
        graph.start_run()
        for name, packets in streams.items():
            for stamp, payload in packets:
                graph.add_packet_to_input_stream(name, penstock.Packet(payload, stamp))
        graph.close_all_input_streams()
        graph.wait_until_done(PATIENCE_S)


def rows(path):
    """Return (time in µs, columns without the entity) by entity path, in the order of time."""
    found = {}
    for chunk in RrdReader(path).stream():
        if chunk.entity_path.startswith("/__"):
            continue
        for row in chunk.to_record_batch().to_pylist():
            at = row.pop("time")
            us = at // np.timedelta64(1, "us") if isinstance(at, np.timedelta64) else at
            us = us.timestamp() * 1e6 if hasattr(us, "timestamp") else us
            us = us.total_seconds() * 1e6 if hasattr(us, "total_seconds") else us
            columns = {
                name.rpartition("@")[2]: value for name, value in row.items() if "@" in name or ":" in name
            }
            found.setdefault(chunk.entity_path, []).append((round(us), columns))
    return {entity: sorted(some, key=lambda one: one[0]) for entity, some in found.items()}


def box(label="cat"):
    relative = LocationData.RelativeBoundingBox(xmin=0.25, ymin=0.5, width=0.5, height=0.25)
    location = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=relative)
    return Detection(label=[label], score=[0.875], location_data=location)


def landmarks(kind, n=3):
    made = kind()
    for i in range(n):
        made.landmark.add(x=i / 4, y=0.5, z=0.25)
    return made


def value(columns, name):
    """Return a column of a row, as a list of its instances."""
    (found,) = [content for column, content in columns.items() if column.endswith(f":{name}")]
    return found


def test_pictures_boxes_landmarks_points_and_scalars_are_at_the_packets_times(tmp_path):
    path = tmp_path / "run.rrd"
    frame = ImageFrame(np.arange(8 * 16 * 3, dtype=np.uint8).reshape(8, 16, 3))
    xyz = np.arange(6, dtype=np.float32).reshape(2, 3)
    imu = Imu(angular_velocity=[1, 2, 3], linear_acceleration=[4, 5, 6])
    at = [0, 33_333, 66_666]
    streams = {
        "frames": [(t, frame) for t in at],
        "boxes": [(t, [box(), box("dog")]) for t in at[:2]] + [(at[2], [])],
        "marks": [(t, [landmarks(NormalizedLandmarkList)]) for t in at],
        "space": [(0, landmarks(LandmarkList, 5))],
        "points": [(33_333, PointCloud.of_xyz(xyz))],
        "score": [(t, t / 1e6) for t in at],
        "imu": [(t, imu) for t in range(0, 60_000, 5000)],
        "words": [(0, "hello")],
    }
    write(streams, f'path: "{path}"')

    found = rows(path)
    assert {entity: len(some) for entity, some in found.items()} == {
        "/frames": 3, "/boxes": 3, "/marks": 3, "/space": 1, "/points": 1, "/score": 3,
        "/imu/angular_velocity": 12, "/imu/linear_acceleration": 12, "/words": 1,
    }  # fmt: skip
    for entity in ("/frames", "/boxes", "/marks", "/score"):
        assert [stamp for stamp, _ in found[entity]] == at, entity
    assert [stamp for stamp, _ in found["/imu/angular_velocity"]] == list(range(0, 60_000, 5000))
    assert bytes(value(found["/frames"][1][1], "buffer")[0]) == frame.array.tobytes()
    first, _, last = (columns for _, columns in found["/boxes"])
    assert value(first, "labels") == ["cat 0.88", "dog 0.88"]
    assert value(first, "centers")[0] == [8.0, 5.0], "in pixels of the image"
    assert value(first, "half_sizes")[0] == [4.0, 1.0]
    assert value(last, "centers") in ([], None), "an empty list clears"
    assert value(found["/marks"][0][1], "positions")[2] == [8.0, 4.0]
    assert value(found["/space"][0][1], "positions")[4] == [1.0, 0.5, 0.25]
    assert value(found["/points"][0][1], "positions") == xyz.tolist()
    assert [value(columns, "scalars") for _, columns in found["/score"]] == [[t / 1e6] for t in at]
    assert value(found["/imu/linear_acceleration"][0][1], "scalars") == [4.0, 5.0, 6.0]
    assert value(found["/words"][0][1], "text") == ["hello"]
    assert [one.name for one in tmp_path.iterdir()] == ["run.rrd"]


def test_dates_are_dates(tmp_path):
    write({"a": [(START, 1.0), (START + 1, 2.0)]}, f'path: "{tmp_path}/a.rrd"')
    assert [stamp for stamp, _ in rows(tmp_path / "a.rrd")["/a"]] == [START, START + 1]


def test_masks_depth_and_other_formats(tmp_path):
    depth = ImageFrame(np.array([[0, 1500], [3000, 65535]], np.uint16))
    classes = ImageFrame(np.array([[0, 1], [2, 3]], np.uint8))
    mask = ImageFrame(np.array([[0.25, 1.0]], np.float32), ImageFormat.VEC32F1)
    bgra = ImageFrame(np.zeros((2, 2, 4), np.uint8), ImageFormat.SBGRA)
    picture = ImageFrame(np.zeros((64, 64, 3), np.uint8))
    streams = {
        "d": [(0, depth)],
        "c": [(0, classes)],
        "m": [(0, mask)],
        "b": [(0, bgra)],
        "j": [(0, picture)],
    }
    options = (
        'stream { entity: "camera/depth" kind: DEPTH } stream { kind: SEGMENTATION } stream { } stream { } '
        "stream { jpeg_quality: 80 }"
    )
    write(streams, f'path: "{tmp_path}/a.rrd" {options}')
    found = rows(tmp_path / "a.rrd")
    assert set(found) == {"/camera/depth", "/c", "/m", "/b", "/j"}
    assert value(found["/camera/depth"][0][1], "meter") == [1000.0]
    assert any("SegmentationImage" in name for name in found["/c"][0][1])
    assert bytes(value(found["/m"][0][1], "buffer")[0]) == mask.array.tobytes()
    assert bytes(value(found["/j"][0][1], "blob")[0]).startswith(b"\xff\xd8")


def test_what_else_is_shown(tmp_path):
    turned = NormalizedRect(x_center=0.5, y_center=0.5, width=0.5, height=0.5, rotation=0.0)
    classes = ClassificationList()
    classes.classification.add(label="cat", score=0.5)
    here = Transform(frame_id="map", child_frame_id="base", translation=[1, 2, 3], rotation=[0, 0, 0, 1])
    streams = {
        "rect": [(0, turned)],
        "classes": [(0, classes)],
        "tf": [(0, Transforms([here]))],
        "camera": [(0, CameraInfo(width=4, height=2, k=np.eye(3)))],
        "array": [(0, np.array([1, 2], np.int16))],
        "grid": [(0, np.zeros((2, 3), np.float32))],
        "other": [(0, {"a": 1})],
    }
    options = "stream { } " * 6 + "stream { kind: TEXT }"
    write(streams, f'path: "{tmp_path}/a.rrd" {options}')
    found = rows(tmp_path / "a.rrd")
    assert set(found) == {"/rect", "/classes", "/tf/base", "/camera", "/array", "/grid", "/other"}
    assert value(found["/rect"][0][1], "strips")[0][0] == [0.25, 0.25], "no image: fractions"
    assert value(found["/classes"][0][1], "text") == ["cat 0.50"]
    assert value(found["/tf/base"][0][1], "translation") == [[1.0, 2.0, 3.0]]
    assert value(found["/array"][0][1], "scalars") == [1.0, 2.0]
    assert "a" in value(found["/other"][0][1], "text")[0]


def test_a_payload_that_cannot_be_shown_is_told_with_its_stream(tmp_path):
    with pytest.raises(
        GraphRunError, match=r"stream 'a': a payload .* cannot be a Rerun entry; set kind: TEXT"
    ) as caught:
        write({"a": [(0, {"x": 1})]}, f'path: "{tmp_path}/a.rrd"')
    assert isinstance(caught.value.errors[0].__cause__, InvalidArgumentError)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ('path: "a.rrd" address: "h:1"', "the Rerun options path and address are both set"),
        ("timeout_ms: 0", "timeout_ms is 0; it must be above 0"),
        ('path: "a.rrd" stream { } stream { }', "stream has 2 entries, but the Rerun sink has 1 inputs"),
        ('path: "a.rrd" stream { jpeg_quality: 101 }', "jpeg_quality is 101; it must be from 0 to 100"),
    ],
)
def test_what_is_wrong_is_said_when_the_graph_is_loaded(options, why):
    with pytest.raises(GraphConfigError, match=why):
        penstock.CalculatorGraph(sink(["a"], options))


def test_without_a_place_or_with_a_wrong_one_the_run_does_not_start(tmp_path):
    for options, why in (
        ("", "the Rerun sink has neither path nor address"),
        (f'path: "{tmp_path}/no/such/a.rrd"', "Failed to create file"),
        ('address: "http://x/y"', 'the address for the Rerun log is .*; write "HOST:PORT" of a viewer'),
        (
            'address: "127.0.0.1:9"',
            r"the Rerun log finds no viewer at 127\.0\.0\.1:9: .*start one with `rerun`",
        ),
    ):
        with pytest.raises(GraphRunError, match=why):
            write({"a": [(0, 1.0)]}, options)


def test_a_sandbox_allows_places_as_it_says(tmp_path):
    text = sink(["a"], f'path: "{tmp_path}/a.rrd"')
    with pytest.raises(GraphConfigError, match="may not write"):
        penstock.CalculatorGraph(text, access=Access(writes=()))
    with pytest.raises(GraphConfigError, match=r"may not connect to '10\.0\.0\.5:9876'"):
        penstock.CalculatorGraph(sink(["a"], 'address: "10.0.0.5:9876"'), access=Access(connects=()))


@contextlib.contextmanager
def a_viewer_that_stands_still():
    """Yield the address of a server that accepts connections and reads nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_viewer_that_stands_still_holds_the_run_no_longer_than_the_time_out():
    before = threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # names
    with a_viewer_that_stands_still() as address:
        frame = ImageFrame(np.zeros((720, 1280, 3), np.uint8))
        begin = time.monotonic()
        with pytest.raises(GraphRunError, match=f"Rerun cannot log to {address}: ") as caught:
            write({"a": [(n, frame) for n in range(60)]}, f'address: "{address}" timeout_ms: 1000')
        assert time.monotonic() - begin < 20
        assert isinstance(caught.value.errors[0].__cause__, UnavailableError)
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) <= before  # noqa: PTH208


def process():
    """Return the id of the process that logs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # one that has ended meanwhile
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"penstock_rerun" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    (found,) = found
    return found


@pytest.mark.parametrize(
    ("number", "why"),
    [(signal.SIGKILL, ""), (signal.SIGSTOP, "the Rerun viewer takes no data for 0.5 s")],
)
def test_a_log_whose_process_is_killed_or_stopped_is_told(tmp_path, number, why):
    graph = penstock.CalculatorGraph(sink(["a"], f'path: "{tmp_path}/a.rrd" timeout_ms: 500'))
    frame = ImageFrame(np.zeros((480, 640, 3), np.uint8))
    graph.start_run()
    graph.add_packet_to_input_stream("a", penstock.Packet(frame, 0))
    graph.wait_until_idle(PATIENCE_S)
    os.kill(process(), number)

    def feed():
        for n in range(1, 1000):
            graph.add_packet_to_input_stream("a", penstock.Packet(frame, n))
            graph.wait_until_idle(PATIENCE_S)

    begin = time.monotonic()
    with pytest.raises(GraphRunError, match=rf"Rerun cannot log to .*a\.rrd: {why}"):
        feed()
    assert time.monotonic() - begin < 10
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="not enough values"):
        process()


# --- the command line -----------------------------------------------------------------------------

GRAPH = """
node { calculator: "VideoDecoderCalculator" output_stream: "VIDEO:frames"
  options { [penstock.VideoDecoderCalculatorOptions.ext] {
    test_pattern { width: 64 height: 48 frames: 12 } } } }
node { calculator: "PassThroughCalculator" input_stream: "frames" output_stream: "passed" }
"""


def run_command(tmp_path, *arguments):
    (tmp_path / "g.pbtxt").write_text(GRAPH)
    return subprocess.run(
        [sys.executable, "-m", "penstock", "run", "g.pbtxt", *arguments],
        capture_output=True, text=True, check=False, timeout=90, cwd=tmp_path,
    )  # fmt: skip


def test_rerun_logs_the_streams_of_a_graph_that_is_run(tmp_path):
    pytest.importorskip("penstock_video", reason="penstock-video is not installed")
    done = run_command(tmp_path, "--rerun", "run.rrd")
    assert done.returncode == 0, done.stderr
    assert "the log is at run.rrd: rerun run.rrd" in done.stderr
    found = rows(tmp_path / "run.rrd")
    assert Counter({entity: len(some) for entity, some in found.items()}) == {"/frames": 12, "/passed": 12}
    stamps = [stamp for stamp, _ in found["/frames"]]
    assert stamps[0] == 0
    assert np.allclose(np.diff(stamps), stamps[1], atol=1)

    done = run_command(tmp_path, "--rerun", "run.rrd")
    assert done.returncode != 0
    assert "--rerun: the log 'run.rrd' exists; name another one, or add --force" in done.stderr
    done = run_command(tmp_path, "--rerun", "run.rrd", "--force", "--rerun-streams", "passed")
    assert done.returncode == 0, done.stderr
    assert set(rows(tmp_path / "run.rrd")) == {"/passed"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--rerun-streams", "a"), "--rerun-streams means nothing without --rerun"),
        (("--rerun", "a.rrd", "--rerun-streams", "frame"), "no stream 'frame' (did you mean 'frames'?)"),
        (("--rerun", "no/a.rrd"), "there is no directory"),
        (("--rerun", "a.mp4"), 'the Rerun log is \'a.mp4\'; write "HOST:PORT" of a viewer'),
        (("--rerun", "127.0.0.1:9"), "the Rerun log finds no viewer at 127.0.0.1:9"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_command_is_said_before_the_run(tmp_path, arguments, why):
    pytest.importorskip("penstock_video", reason="penstock-video is not installed")
    done = run_command(tmp_path, *arguments)
    assert done.returncode != 0
    assert why in done.stderr
    assert json.dumps(sorted(one.name for one in tmp_path.iterdir())) == '["g.pbtxt"]'
