"""The example that reads text: the film whose signs are known, and each step on numbers made by hand."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import math
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

import penstock
from penstock_formats import Detection, ImageFrame, NormalizedRect, Tensor

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
LETTERS = ("", "a", "b", " ")


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("read_text", ROOT / "examples" / "read_text.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its annotations are looked up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def scores(*letters):
    """Return scores of steps at which these letters are the best ones, 0.8 each."""
    table = np.full((len(letters), len(LETTERS)), 0.05, np.float32)
    table[np.arange(len(letters)), letters] = 0.8
    return table


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((1, 1, 1), "a"),
        ((1, 0, 1), "aa"),
        ((0, 1, 2, 2, 0), "ab"),
        ((1, 3, 2), "a b"),
        ((0, 0), ""),
        ((3, 1, 3), "a"),
    ],
)
def test_equal_letters_in_a_row_are_one(example, steps, text):
    found, score = example.text_of(scores(*steps), LETTERS)

    assert found == text
    assert score == pytest.approx(0.8 if text else 0)


@pytest.mark.parametrize("degrees", [-30, 0, 20])
def test_a_line_is_a_turned_rectangle_around_what_is_marked(example, degrees):
    frame = ImageFrame(np.zeros((180, 320, 3), np.uint8))
    likely = np.zeros((160, 160), np.float32)  # half of the frame's size, 35 rows above and below it
    corners = cv2.boxPoints(((80.0, 80.0), (90.0, 16.0), degrees))
    cv2.fillConvexPoly(likely, corners.astype(np.int32), 0.9)

    graph = """
    input_stream: "marked" input_stream: "padding" input_stream: "frame" output_stream: "lines"
    node { calculator: "FindLines" input_stream: "MARKED:marked" input_stream: "PADDING:padding"
      input_stream: "FRAME:frame" output_stream: "OUT:lines" }"""
    inputs = {
        "marked": [(0, [Tensor(likely[None, None])])],
        "padding": [(0, (0.0, 35 / 160, 0.0, 35 / 160))],
        "frame": [(0, frame)],
    }
    ((line,),) = [packet.payload for packet in penstock.run(graph, inputs)["lines"]]

    assert (line.x_center, line.y_center) == pytest.approx((0.5, 0.5), abs=0.01)
    assert math.degrees(line.rotation) == pytest.approx(degrees, abs=2)
    more = example.SPREAD * 90 * 16 / (90 + 16)
    assert line.width * 320 == pytest.approx(2 * (90 + more), rel=0.06)
    assert line.height * 180 == pytest.approx(2 * (16 + more), rel=0.1)


def test_a_line_is_cut_out_level_and_blue_first(example):
    pixels = np.zeros((200, 300, 3), np.uint8)
    corners = cv2.boxPoints(((150.0, 100.0), (120.0, 30.0), 25.0))
    cv2.fillConvexPoly(pixels, corners.astype(np.int32), (255, 0, 0))
    line = NormalizedRect(
        x_center=0.5, y_center=0.5, width=120 / 300, height=30 / 200, rotation=math.radians(25)
    )

    strip = example.strip(ImageFrame(pixels), line)

    width = round(120 * 48 / 30)
    assert strip.shape == (1, 3, 48, -(-width // 32) * 32)
    inner = strip[0, :, 4:-4, 6 : width - 6]
    assert (inner[2] > 0.9).all()
    assert (inner[:2] < -0.9).all()


def reading(text, left, score=0.9):
    made = Detection(label=[text], score=[score])
    place = made.location_data
    place.format = place.RELATIVE_BOUNDING_BOX
    box = place.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = left, 0.2, 0.3, 0.1
    return made


def followed(example, frames, step=40_000):
    nodes = example.GRAPH[example.GRAPH.index("# Which line") : example.GRAPH.index("# To look at.")]
    graph = nodes.replace("READ", str(example.READ)).replace("GONE", str(example.GONE))
    graph += 'input_stream: "readings" output_stream: "results"'
    packets = [(i * step, found) for i, found in enumerate(frames)]
    return [
        [(one.detection_id, one.label[0]) for one in packet.payload]
        for packet in penstock.run(graph, {"readings": packets})["results"]
    ]


def test_a_line_keeps_its_number_and_one_wrong_reading_is_outvoted(example):
    texts = ["Gate 12", "Gate 12", "Cate l2", "Gate 12"]

    assert (
        followed(example, [[reading(text, 0.1 + 0.02 * i)] for i, text in enumerate(texts)])
        == [[(1, "Gate 12")]] * 4
    )


def test_a_line_that_was_gone_is_another_one(example):
    gone = int(1e6 * example.GONE) // 40_000 + 1

    found = followed(
        example, [[reading("one", 0.1)], *[[]] * gone, [reading("two", 0.1)], [reading("?", 0.6, 0.2)]]
    )

    assert found[0] == [(1, "one")]
    assert found[-2:] == [[(2, "two")], []]


@pytest.fixture
def short_film(example, monkeypatch):
    """Make the film short, or skip the test where the models are missing."""
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    try:
        importlib.metadata.distribution("rapidocr")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("no rapidocr, which ships the models: pip install --no-deps rapidocr")
    if not (example.models() / "PP-OCRv6_rec_small.onnx").exists():
        pytest.skip("another version of rapidocr, without PP-OCRv6_rec_small.onnx")
    monkeypatch.setattr(example, "FRAMES", 3)


@pytest.mark.usefixtures("short_film")
def test_the_signs_of_the_film_are_read(example):
    result = CliRunner().invoke(example.main, ["--json", "--size", "480"])

    assert result.exit_code == 0, result.output
    frames = [json.loads(line)["lines"] for line in result.stdout.splitlines()]
    first, second, third = example.SIGNS
    texts = [{line["id"]: line["text"] for line in frame} for frame in frames]
    assert texts == [{1: first, 2: second}, {1: first, 2: second, 3: third}, {1: first, 2: second, 3: third}]
    turned = next(line for line in frames[0] if line["text"] == second)
    (left, top), (right, bottom) = turned["corners"][:2]
    assert math.degrees(math.atan2((bottom - top) * 360, (right - left) * 640)) == pytest.approx(18, abs=3)


@pytest.mark.usefixtures("short_film")
def test_a_frame_without_text_has_an_empty_list_and_texts_are_listed_at_the_end(example, tmp_path):
    empty, sign = tmp_path / "a.png", tmp_path / "b.png"
    cv2.imwrite(str(empty), np.full((120, 160, 3), 90, np.uint8))
    cv2.imwrite(str(sign), example.render(0)[..., ::-1])

    result = CliRunner().invoke(example.main, [str(empty), "--json"])
    listed = CliRunner().invoke(example.main, [str(sign), "-o", str(tmp_path / "drawn.png")])

    assert json.loads(result.stdout) == {"timestamp": 0, "lines": []}
    assert listed.stdout.splitlines() == ["#1  0.00 to 0.00 s  PENSTOCK", "#2  0.00 to 0.00 s  Gate 12"]
    assert cv2.imread(str(tmp_path / "drawn.png")).shape == (360, 640, 3)


def test_without_the_models_it_says_what_to_install(example, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)

    result = CliRunner().invoke(example.main, [])

    assert result.exit_code != 0
    assert "--no-deps rapidocr" in result.output
