"""`penstock detect` with models of masks, key points and classes, and with pictures."""

from __future__ import annotations

import json

import av
import cv2
import numpy as np
import pytest
from detector_models import LABELS, outputs_of
from test_detect_command import FRAMES, HEIGHT, WIDTH, film, invoke

from penstock.config import read_graph
from penstock.packs import default_registry
from penstock_detect.command_graph import Making, graph_text, making_of

__all__ = ["film"]  # a fixture

NAMES = {"names": str(dict(enumerate(LABELS)))}
#: Okabe and Ito's colours, as the overlay has them.
BLACK_LIMIT = 12


def first_frame(path):
    with av.open(str(path)) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24")


def lines_of(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "photo.png"
    cv2.imwrite(str(path), np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    return path


@pytest.fixture
def one_mask(model):
    """Return a model that finds a bird whose mask is the left half of its box, in the middle of the image."""
    row = np.array([[[16, 8, 48, 24, 0.75, 2, 1, 0]]], np.float32)  # 1 x 1 x (6 + 2 masks)
    masks = np.full((1, 2, 8, 16), -1, np.float32)
    masks[0, 0, :, :8] = 1
    return model({"output0": row, "masks": masks}, "masks.onnx", metadata=NAMES)


@pytest.fixture
def person(model):
    """Return a model of 17 key points, which stand on a line across the image; the last one is not seen."""
    points = np.stack([np.linspace(4, 60, 17), np.full(17, 16.0), np.full(17, 0.9)], axis=1)
    points[-1, 2] = 0.1
    row = np.concatenate([[2, 2, 62, 30, 0.75, 0], points.ravel()]).astype(np.float32)
    metadata = {"names": "{0: 'person'}", "task": "pose", "kpt_shape": "[17, 3]"}
    return model({"output0": row[None, None]}, "person.onnx", metadata=metadata)


@pytest.fixture
def classifier(model):
    return model(outputs_of("CLASSES"), metadata={**NAMES, "task": "classify"})


# --- masks -----------------------------------------------------------------------------------------


def test_masks_are_drawn_into_a_picture(picture, one_mask, tmp_path):
    out = tmp_path / "masks.png"

    result = invoke(picture, "--model", one_mask, "-o", out)

    assert result.exit_code == 0, result.output
    pixels = cv2.imread(str(out))
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    tinted = pixels.max(axis=2) > BLACK_LIMIT
    # The box is 80 to 240 across; 8 of 16 columns of the prototypes are the left half of the image.
    assert tinted[60:110, 90:150].all()
    assert not tinted[60:110, 170:230].any()
    assert not tinted[:, :70].any()


def test_masks_are_outlines_in_json(picture, one_mask):
    (line,) = lines_of(invoke(picture, "--model", one_mask, "--json"))

    (one,) = line["detections"]
    assert "id" not in one
    (polygon,) = one["polygons"]
    across, down = zip(*polygon, strict=True)
    assert min(across) == pytest.approx(0.25, abs=0.02)
    assert max(across) == pytest.approx(0.5, abs=0.02)
    assert (min(down), max(down)) == pytest.approx((0.25, 0.75), abs=0.04)


def test_masks_of_what_is_followed_have_ids(film, one_mask, tmp_path):
    out = tmp_path / "followed.mp4"

    lines = lines_of(invoke(film, "--model", one_mask, "--track", "--json", "-o", out))

    assert [[one["id"] for one in line["detections"]] for line in lines] == [[1]] * FRAMES
    assert all(one["polygons"] for line in lines for one in line["detections"])
    pixels = first_frame(out).max(axis=2)
    assert pixels[60:110, 90:150].min() > 30
    assert pixels[60:110, 180:220].max() < 30


def test_zones_and_masks_go_together(film, one_mask, tmp_path):
    zones = tmp_path / "zones.json"
    zones.write_text(json.dumps({"zones": [{"name": "yard", "points": [[0, 0], [1, 0], [1, 1], [0, 1]]}]}))

    result = invoke(film, "--model", one_mask, "--zones", zones, "-o", tmp_path / "out.mp4")

    assert result.exit_code == 0, result.output
    assert "yard: " in result.stderr


# --- key points ------------------------------------------------------------------------------------


def test_key_points_and_the_lines_between_them_are_drawn(picture, person, tmp_path):
    out = tmp_path / "pose.png"

    result = invoke(picture, "--model", person, "-o", out)

    assert result.exit_code == 0, result.output
    row = cv2.imread(str(out))[HEIGHT // 2].max(axis=1) > BLACK_LIMIT
    assert row[20:280].mean() > 0.95  # limbs along the whole line
    assert not row[292:303].any()  # the key point that is not seen, and no line to it


def test_a_body_of_other_key_points_has_dots_alone(picture, model, tmp_path):
    points = np.array([[20, 10, 0.9], [40, 22, 0.9]], np.float32)
    row = np.concatenate([[2, 2, 62, 30, 0.75, 0], points.ravel()]).astype(np.float32)
    metadata = {"names": "{0: 'hand'}", "task": "pose", "kpt_shape": "[2, 3]"}
    out = tmp_path / "pose.png"

    invoke(picture, "--model", model({"output0": row[None, None]}, metadata=metadata), "-o", out)

    pixels = cv2.imread(str(out)).max(axis=2) > BLACK_LIMIT
    assert pixels[50, 100]
    assert pixels[110, 200]
    assert not pixels[60:100, 110:190].any()


# --- classes ---------------------------------------------------------------------------------------


def test_the_best_classes_of_a_picture_are_printed(picture, classifier):
    (line,) = lines_of(invoke(picture, "--model", classifier, "--json"))

    assert [(one["label"], one["class"], one["score"]) for one in line["classes"]] == [
        ("dog", 1, 0.6),
        ("bird", 2, 0.3),
        ("cat", 0, 0.1),
    ]


def test_classes_are_written_into_the_corner(film, classifier, tmp_path):
    out = tmp_path / "out.mp4"

    result = invoke(film, "--model", classifier, "--min-score", "0.2", "-o", out)

    assert result.exit_code == 0, result.output
    pixels = first_frame(out).max(axis=2) > 40
    assert pixels[:40, :60].mean() > 0.3
    assert not pixels[80:].any()


@pytest.mark.parametrize("option", [["--track"], ["--zones", "zones.json"]])
def test_a_classifier_has_nothing_to_follow(film, classifier, option):
    result = invoke(film, "--model", classifier, *option)

    assert result.exit_code == 2
    words = "says what a whole picture is; leave them out"
    assert words in " ".join(result.output.split())


def test_at_most_five_classes_are_told(picture, model):
    scores = np.linspace(0, 0.9, 10, dtype=np.float32)[None]

    (line,) = lines_of(invoke(picture, "--model", model({"output0": scores}), "--json"))

    assert [one["class"] for one in line["classes"]] == [9, 8, 7, 6, 5]


# --- pictures --------------------------------------------------------------------------------------


def test_pictures_have_a_default_name_of_their_own(picture, one_mask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = invoke(picture, "--model", one_mask)

    assert result.exit_code == 0, result.output
    assert "written to penstock-detect.png" in result.stdout
    assert (tmp_path / "penstock-detect.png").is_file()


def test_pictures_of_a_folder_are_written_into_another(picture, one_mask, tmp_path):
    folder, out = tmp_path / "photos", tmp_path / "drawn"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(picture.read_bytes())

    result = invoke(folder, "--model", one_mask, "-o", out)

    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["a.png", "b.png"]


def test_a_video_does_not_fit_into_one_picture(film, one_mask, tmp_path):
    result = invoke(film, "--model", one_mask, "-o", tmp_path / "a.png")

    assert result.exit_code == 1
    assert "has the frame at 0, and the frame at 100000 would replace it; name a pattern" in result.output


# --- the graph -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tracker", [None, "oc-sort"])
@pytest.mark.parametrize("making", [Making(), Making(has_masks=True), Making(connections=(0, 1))])
@pytest.mark.parametrize("as_lines", [False, True])
def test_each_graph_of_the_command_is_whole(one_mask, tracker, making, as_lines):
    text = graph_text({"model_path": str(one_mask)}, tracker, making, as_lines=as_lines)
    config = read_graph(text, default_registry())

    made = {stream.rpartition(":")[2] for node in config.node for stream in node.output_stream}
    read = {stream.rpartition(":")[2] for node in config.node for stream in node.input_stream}
    assert read <= made
    assert ("masks" in made) == making.has_masks
    assert ("lines" in config.output_stream) == as_lines
    assert ("keypoint_connections" in text) == bool(making.connections)


def test_what_a_model_makes_is_told_before_the_graph_is_written(one_mask, person, classifier, tmp_path):
    def of(path, **more):
        return making_of({"model_path": str(path), **more})

    assert of(one_mask) == Making(has_masks=True)
    assert of(person).connections
    assert of(classifier) == Making(is_classifier=True)
    assert of(tmp_path / "none.onnx") == Making()
    assert of(classifier, layout="yolo-v8") == Making()
    assert of(classifier, labels_path=str(tmp_path / "none.txt")) == Making()
