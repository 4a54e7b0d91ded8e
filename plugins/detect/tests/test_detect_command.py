"""`penstock detect`: what it writes and prints, and what it refuses."""

from __future__ import annotations

import json
import re

import av
import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from detector_models import LABELS, TASKS, mean_colours, outputs_of
from PIL import Image

from penstock.config import read_graph
from penstock.packs import default_registry
from penstock_cli.main import penstock_command
from penstock_detect.command_graph import graph_text
from penstock_detect.detect_command import _LAYOUTS
from penstock_detect.outputs.layouts import Layout

NAMES = {"names": str(dict(enumerate(LABELS)))}
FRAMES = 5
WIDTH, HEIGHT = 320, 160


@pytest.fixture
def film(tmp_path):
    """Return a black video of five frames, 320 x 160."""
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for _ in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(np.zeros((HEIGHT, WIDTH, 3), np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def invoke(*given):
    return CliRunner().invoke(penstock_command, ["detect", *map(str, given)])


@pytest.fixture
def one_box(model):
    """Return a model that finds a bird in the middle of each frame."""
    row = np.array([[[16, 8, 48, 24, 0.75, 2]]], np.float32)
    return model({"output0": row}, metadata=NAMES)


def test_boxes_are_drawn_into_a_file(film, one_box, tmp_path):
    out = tmp_path / "out.mp4"

    result = invoke(film, "--model", one_box, "-o", out)

    assert result.exit_code == 0, result.output
    assert f"detecting in {film}, into {out}\n" in result.stderr
    assert re.search(
        r"^5 frames in, 5 processed, 0 dropped; .*written to .*out\.mp4", result.stdout, re.MULTILINE
    )
    with av.open(str(out)) as container:
        frames = [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]
    assert len(frames) == FRAMES
    is_drawn = frames[-1].max(axis=2) > 60
    left, right, top, bottom = WIDTH // 4, 3 * WIDTH // 4, HEIGHT // 4, 3 * HEIGHT // 4
    assert is_drawn[top + 20 : bottom - 20, left - 3 : left + 4].any(axis=1).all()
    assert is_drawn[top + 20 : bottom - 20, right - 3 : right + 4].any(axis=1).all()
    assert is_drawn[bottom - 3 : bottom + 4, left + 20 : right - 20].any(axis=0).all()
    assert not is_drawn[:, : left - 10].any()


def test_detections_are_printed_as_lines(film, one_box):
    result = invoke(film, "--model", one_box, "--json")

    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["timestamp"] for line in lines] == [100_000 * i for i in range(FRAMES)]
    box = {"label": "bird", "class": 2, "score": 0.75, "box": [0.25, 0.25, 0.75, 0.75]}
    assert [line["detections"] for line in lines] == [[box]] * FRAMES


@pytest.mark.parametrize("tracker", [(), ("--tracker", "oc-sort")])
def test_objects_are_followed(film, one_box, tmp_path, tracker):
    out = tmp_path / "followed.mp4"

    result = invoke(film, "--model", one_box, "--track", *tracker, "--json", "-o", out)

    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    box = {"id": 1, "label": "bird", "class": 2, "score": 0.75, "box": [0.25, 0.25, 0.75, 0.75]}
    assert [line["detections"] for line in lines] == [[box]] * FRAMES
    with av.open(str(out)) as container:
        assert sum(1 for _ in container.decode(video=0)) == FRAMES


def test_the_graph_of_the_tracker_has_its_algorithm_and_weak_detections():
    for tracker, name in (("byte-track", "BYTE_TRACK"), ("oc-sort", "OC_SORT")):
        text = graph_text({"model_path": "a.onnx", "min_score": 0.1}, tracker)
        assert f"algorithm: {name}" in text
        assert "min_score: 0.1" in text
        nodes = [node.calculator for node in read_graph(text, default_registry()).node]
        assert nodes.index("TrackerCalculator") == nodes.index("DetectorSubgraph") + 1
    assert "Tracker" not in graph_text({"model_path": "a.onnx"})


def test_a_frame_without_detections_has_an_empty_list(film, one_box):
    result = invoke(film, "--model", one_box, "--json", "--class", "dog")

    assert [json.loads(line)["detections"] for line in result.stdout.splitlines()] == [[]] * FRAMES


def test_a_picture_and_a_file_of_labels(one_box, tmp_path):
    picture, labels = tmp_path / "a.png", tmp_path / 'it\'s "1".txt'
    cv2.imwrite(str(picture), np.zeros((64, 128, 3), np.uint8))
    labels.write_text("Katze\nHund\nVögelchen\n", encoding="utf-8")

    result = invoke(picture, "--model", one_box, "--labels", labels, "--json")

    (line,) = result.stdout.splitlines()
    assert json.loads(line)["detections"][0]["label"] == "Vögelchen"


def test_key_points_are_printed(film, model):
    path = model(outputs_of("YOLO_V8_POSE"), metadata={**NAMES, **TASKS["YOLO_V8_POSE"]})

    result = invoke(film, "--model", path, "--json")

    for one in json.loads(result.stdout.splitlines()[0])["detections"]:
        assert [len(point) for point in one["keypoints"]] == [3, 3]


def test_what_the_model_does_not_say_is_said_by_options(film, model):
    path = model(outputs_of("YOLOX"), shape=(1, 3, "h", "w"))
    given = (film, "--model", path, "--json", "--size", "64x32", "--layout", "yolox")
    colours = ("--bgr", "--scale", "1", "--mean", "1,2,3", "--std", "2", "--resize", "stretch")

    assert "leaves the height open; set width" in invoke(film, "--model", path).output
    result = invoke(*given, *colours, "--threads", "2", "--provider", "cpu")
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout.splitlines()[0])["detections"]) > 2


def test_how_pictures_are_resized_is_an_option(tmp_path):
    path = mean_colours(tmp_path / "mean.onnx", 16, 16)
    picture = tmp_path / "noise.png"
    pixels = np.random.default_rng(3).integers(0, 256, (90, 160, 3)).astype(np.uint8)
    cv2.imwrite(str(picture), pixels[..., ::-1])

    result = invoke(
        picture, "--model", path, "--json", "--resize", "crop", "--interpolation", "antialias-cubic",
        "--short-side", "20",
    )  # fmt: skip

    small = Image.fromarray(pixels).resize((35, 20), Image.Resampling.BICUBIC)
    means = np.asarray(small)[2:18, 10:26].mean(axis=(0, 1)) / 255  # half of 19 is rounded to 10
    found = {one["class"]: one["score"] for one in json.loads(result.stdout)["classes"]}
    assert [found[i] for i in range(3)] == pytest.approx(means, abs=1e-4)


def test_options_reach_the_graph_as_they_are():
    text = graph_text({
        "model_path": 'a "b" \\ ü\n', "layout": "yolo-end-to-end", "scores": "usual", "resize": "stretch",
        "min_score": 1e-5, "bgr": True, "mean": (1.5, 2.0), "std": None, "labels_path": "",
        "classes": ("a b", "é"), "size": (64, 32), "threads": 3,
    })  # fmt: skip

    (options,) = next(
        node.node_options
        for node in read_graph(text, default_registry()).node
        if node.calculator == "DetectorSubgraph"
    )
    from penstock_detect import DetectorSubgraphOptions

    assert DetectorSubgraphOptions.__name__ in options.type_url
    for part in ('a "b" \\ ü\n'.encode(), "é".encode(), b"a b"):
        assert part in options.value


def test_each_layout_has_a_name_on_the_command_line():
    names = {one.name.lower().replace("_", "-") for one in Layout}

    assert names - set(_LAYOUTS) == {"auto"}
    assert set(_LAYOUTS) <= names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "neither of VIDEO and --camera are given to detect"),
        (("film.mp4", "--camera", "0"), "both of VIDEO and --camera are given to detect"),
        (("film.mp4", "--mean", "1;2"), "'1;2' is no list of numbers for detect, such as"),
        (("film.mp4", "--size", "640"), "'640' is no width and height for detect, such as 640x480"),
        (("film.mp4",), "model 'best.onnx' does not exist"),
        (
            ("film.mp4", "--tracker", "oc-sort"),
            "--tracker oc-sort says how detected objects are followed; add --track",
        ),
    ],
)
def test_wrong_usage(given, words):
    result = invoke(*given, "--model", "best.onnx")

    assert result.exit_code != 0
    assert words in " ".join(result.output.split())
