"""`penstock detect --zones`: a model that follows a white square, which crosses a line and enters a zone."""

from __future__ import annotations

import json
import re
import sqlite3

import av
import numpy as np
import pytest
from test_detect_command import invoke

WIDTH, HEIGHT = 320, 160
FRAMES = 21
ZONES = {
    "lines": [{"name": "gate", "points": [[0.1, 0.5], [0.9, 0.5]], "directions": ["down", "up"]}],
    "zones": [{"name": "yard", "points": [[0.2, 0.6], [0.8, 0.6], [0.8, 0.95], [0.2, 0.95]]}],
    "ground": {
        "image": [[0, 0], [1, 0], [1, 1], [0, 1]],
        "meters": [[0, 0], [16, 0], [16, 8], [0, 8]],
    },
}


@pytest.fixture
def film(tmp_path):
    """Return a video of 2 s in which a square of 32 pixels goes down in the middle, 64 pixels a second."""
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.bit_rate = 4_000_000
        for i in range(FRAMES):
            pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
            top = round(i * 6.4)
            pixels[top : top + 32, 144:176] = 255
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture
def follower(tmp_path):
    """Return a model whose second row is a box around the middle of all white; its row 1 is the track's ID.

    It has the layout of models with masks, since detections of these have their rows as IDs.
    """
    pytest.importorskip("onnx", reason='no onnx: pip install "penstock-detect[testing]"')
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    from onnx import TensorProto, helper, numpy_helper

    height, width = 32, 64
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32) + 0.5
    weights = np.stack([np.ones_like(rows), columns, rows]).reshape(3, -1).T  # sums: all, x, y
    half = np.array([[-3.2, -3.2, 3.2, 3.2]], np.float32)
    constants = {
        "flat": np.array([3, -1], np.int64), "weights": weights, "half": half, "one": np.array([1], np.int64),
        "two": np.array([2], np.int64), "three": np.array([3], np.int64), "zero": np.array([0], np.int64),
        "axis": np.array([1], np.int64), "rest": np.array([[0.9, 0, 0, 0, 0, 0]], np.float32),
        "nothing": np.zeros((1, 10), np.float32), "whole": np.array([1, 2, 10], np.int64),
        "proto": np.zeros((1, 4, height // 4, width // 4), np.float32),
    }  # fmt: skip
    nodes = [
        helper.make_node("Reshape", ["images", "flat"], ["pixels"]),
        helper.make_node("MatMul", ["pixels", "weights"], ["each"]),
        helper.make_node("ReduceMean", ["each"], ["sums"], axes=[0], keepdims=1),
        helper.make_node("Slice", ["sums", "zero", "one", "axis"], ["all"]),
        helper.make_node("Slice", ["sums", "one", "three", "axis"], ["places"]),
        helper.make_node("Div", ["places", "all"], ["middle"]),
        helper.make_node("Concat", ["middle", "middle"], ["middles"], axis=1),
        helper.make_node("Add", ["middles", "half"], ["box"]),
        helper.make_node("Concat", ["box", "rest"], ["row"], axis=1),
        helper.make_node("Concat", ["nothing", "row"], ["table"], axis=0),
        helper.make_node("Reshape", ["table", "whole"], ["output0"]),
        helper.make_node("Identity", ["proto"], ["output1"]),
    ]
    graph = helper.make_graph(
        nodes,
        "follower",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, height, width])],
        [
            helper.make_tensor_value_info("output0", TensorProto.FLOAT, [1, 2, 10]),
            helper.make_tensor_value_info("output1", TensorProto.FLOAT, [1, 4, height // 4, width // 4]),
        ],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {"names": "{0: 'square'}", "task": "segment"})
    path = tmp_path / "follower.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def zones(tmp_path):
    path = tmp_path / "zones.json"
    path.write_text(json.dumps(ZONES))
    return path


def test_counts_are_printed_and_drawn_and_events_are_written(film, follower, zones, tmp_path):
    out, events = tmp_path / "out.mp4", tmp_path / "events.jsonl"

    result = invoke(film, "--model", follower, "--zones", zones, "--events", events, "-o", out)

    assert result.exit_code == 0, result.output
    assert "gate: 1 down, 0 up (square 1 down, 0 up)\n" in result.stderr
    assert re.search(r"yard: 1 entered, 0 there at the end, 0\.\d s inside on average\n", result.stderr)
    found = [json.loads(line) for line in events.read_text().splitlines()]
    assert [(one["event"], one["place"], one["label"], one["track"]) for one in found] == [
        ("cross", "gate", "square", 1), ("enter", "yard", "square", 1), ("leave", "yard", "square", 1)
    ]  # fmt: skip
    # the lower edge is at 32 + 64 t pixels of 160, which are 8 m
    for one, edge in zip(found, (80, 96, 152), strict=True):
        assert one["timestamp"] / 1e6 == pytest.approx((edge - 32) / 64, abs=0.11)
        assert one["speed"] == pytest.approx(64 / 160 * 8, rel=0.03)
    with av.open(str(out)) as container:
        pixels = next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    # the yellow line and the zone's lower edge, far from the square
    for y in (80, 152):
        assert pixels[y - 2 : y + 3, 70:100].max(axis=(0, 2)).min() > 100


def test_a_database_of_events_without_a_video(film, follower, zones, tmp_path):
    result = invoke(film, "--model", follower, "--zones", zones, "--events", tmp_path / "e.db", "--json")

    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == FRAMES
    base = sqlite3.connect(tmp_path / "e.db")
    assert [row[0] for row in base.execute("SELECT event FROM events ORDER BY id")] == [
        "cross",
        "enter",
        "leave",
    ]
    base.close()
    assert "gate: 1 down, 0 up" in result.stderr


def test_quiet_prints_no_counts(film, follower, zones, tmp_path):
    result = invoke(film, "--model", follower, "--zones", zones, "-q", "-o", tmp_path / "out.mp4")

    assert (result.exit_code, result.stderr) == (0, "")


def test_wrong_zones_are_said_before_the_run(film, follower, zones, tmp_path):
    given = (film, "--model", follower)
    broken = tmp_path / "broken.json"
    broken.write_text('{"lines": [{"name": "gate"}]}')

    for more, words in (
        (("--zones", tmp_path / "no.json"), "no.json' does not exist"),
        (("--zones", broken), "lines[0].points is missing, but must be a list of 2"),
        (("--zones", zones, "--events", "events.txt"), "has the ending '.txt', but must have one of"),
        (("--events", "events.csv"), "penstock detect --events needs --zones, which says"),
    ):
        result = invoke(*given, *more)
        assert result.exit_code != 0
        assert words in " ".join(result.output.split())
