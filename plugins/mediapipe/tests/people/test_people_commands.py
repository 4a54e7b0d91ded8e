"""The commands hands, faces and pose: what they find, write and print, and what they refuse."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from PIL import Image

PICTURES = Path(__file__).resolve().parents[4].parent / "shared" / "cases" / "door"
HAND_POINTS, FACE_POINTS, FINE_FACE_POINTS, POSE_POINTS = 21, 468, 478, 33


def frames_of(path):
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def lines(result, what):
    assert result.exit_code == 0, result.output
    return [json.loads(line)[what] for line in result.stdout.splitlines()]


# --- with models ---


def test_four_hands_are_drawn_into_a_file(invoke, film, tmp_path):
    video, out = film("hands_four"), tmp_path / "out.mp4"

    result = invoke("hands", video, "-n", 4, "-o", out)

    assert result.exit_code == 0, result.output
    assert f"finding hands in {video}, into {out}\n" in result.stderr
    assert re.search(
        r"^12 frames in, 12 processed, 0 dropped; [\d.]+/s, written to .*out\.mp4 \([\d.]+ kB\)$",
        result.stdout,
        re.MULTILINE,
    )
    before, after = frames_of(video), frames_of(out)
    assert len(after) == 12
    is_drawn = (np.abs(after[-1] - before[-1]) > 60).any(axis=2)
    blue = (np.abs(after[-1] - (0, 114, 178)) < 40).all(axis=2) & is_drawn  # the bones
    height, width = blue.shape
    for rows in (slice(0, height // 2), slice(height // 2, height)):
        for columns in (slice(0, width // 2), slice(width // 2, width)):
            assert blue[rows, columns].sum() > 50
    plates = (np.abs(after[-1] - (204, 121, 167)) < 40).all(
        axis=2
    ) & is_drawn  # boxes and plates of left hands
    assert plates.sum() > 500


def test_hands_come_as_json_with_their_side_and_landmarks(invoke, film):
    frames = lines(invoke("hands", film("hands_two"), "--json"), "hands")

    assert [len(hands) for hands in frames] == [2] * 12
    for hand in frames[-1]:
        assert hand["label"] in {"Left", "Right"}
        assert 0.5 < hand["score"] <= 1
        assert [len(point) for point in hand["landmarks"]] == [3] * HAND_POINTS
        assert len(hand["world_landmarks"]) == HAND_POINTS


def test_no_hands_give_empty_lists(invoke, film):
    assert lines(invoke("hands", film("astronaut"), "--json"), "hands") == [[]] * 12


def test_the_smaller_models_find_hands_too(invoke, film):
    assert all(
        len(hands) == 2 for hands in lines(invoke("hands", film("hands_two"), "--fast", "--json"), "hands")
    )


def test_live_frames_are_counted_and_their_ages_told(invoke, film):
    result = invoke("hands", film("hands_two"), "--live", "--json")

    counts = re.search(
        r"(\d+) frames in, (\d+) processed, (\d+) dropped; results were [\d.]+ ms old in the median",
        result.stderr,
    )
    came, done, dropped = map(int, counts.groups())
    assert came == 12 == done + dropped
    assert len(result.stdout.splitlines()) == done


def test_faces_come_as_rows(invoke, film):
    result = invoke("faces", film("astronaut"), "--rows")

    heading, *rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert heading == ["seconds", "number", "label", "score", "left", "top", "right", "bottom"]
    assert len(rows) == 12
    assert rows[1][:4] == ["0.040", "0", "-", "-"]
    left, top, right, bottom = map(float, rows[0][4:])
    assert 0.3 < left < right < 0.6
    assert 0 < top < bottom < 0.5


@pytest.mark.parametrize(("options", "points"), [([], FACE_POINTS), (["--fine"], FINE_FACE_POINTS)])
def test_faces_have_irises_on_request(invoke, film, options, points):
    frames = lines(invoke("faces", film("astronaut"), "--json", *options), "faces")

    assert {len(face["landmarks"]) for faces in frames for face in faces} == {points}


def test_a_pose_has_its_points_with_their_visibility(invoke, film):
    frames = lines(invoke("pose", film("astronaut"), "--json"), "pose")

    assert [len(people) for people in frames] == [1] * 12
    assert [len(point) for point in frames[-1][0]["landmarks"]] == [4] * POSE_POINTS
    assert len(frames[-1][0]["world_landmarks"]) == POSE_POINTS


def test_a_raw_pose_is_not_smoothed(invoke, film):
    smooth = lines(invoke("pose", film("astronaut"), "--json"), "pose")
    raw = lines(invoke("pose", film("astronaut"), "--json", "--raw"), "pose")

    assert smooth[-1] != raw[-1]
    assert np.allclose(smooth[-1][0]["landmarks"][0][:2], raw[-1][0]["landmarks"][0][:2], atol=0.05)


def test_the_times_of_the_nodes_are_printed_on_request(invoke, film, tmp_path):
    result = invoke("pose", film("astronaut"), "-o", tmp_path / "out.mkv", "--times")

    assert "AnnotationOverlayCalculator" in result.stdout


# --- without ---


@pytest.mark.parametrize("command", ["hands", "faces", "pose"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "neither of VIDEO and --camera are given to look for people; give exactly one of them"),
        (["in.mp4", "--camera", "0"], "both of VIDEO and --camera are given"),
        (
            ["--camera", "0", "--live"],
            "--live looks for people in a VIDEO as if it were a camera; leave it out with --camera",
        ),
        (
            ["in.mp4", "--json", "--rows"],
            "--json and --rows both print the landmarks of people to stdout; leave out one of them",
        ),
        (["in.mp4", "-q", "-v"], "the manner of a run cannot be --quiet with --verbose or --log-level"),
    ],
)
def test_options_that_do_not_go_together_are_refused(invoke, command, arguments, message):
    result = invoke(command, *arguments)

    assert result.exit_code == 2
    assert message in result.output


def test_a_missing_runtime_is_reported_with_the_command_that_installs_it(invoke, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "penstock_people.needs.find_spec", lambda name: None if name == "ai_edge_litert" else found(name)
    )

    result = invoke("hands", "in.mp4")

    assert result.exit_code == 1
    assert "not installed, ai-edge-litert: " in result.output
    assert re.search(r"install .*mediapipe\[litert\]", result.output)


def test_missing_models_are_reported_with_the_places_and_the_cure(invoke, monkeypatch, tmp_path):
    monkeypatch.setattr("penstock_people.needs.find_spec", lambda name: name)
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path))

    result = invoke("pose", "in.mp4")

    if result.exit_code == 2:
        pytest.skip(f"the models of an installed mediapipe are there: {result.output}")
    assert result.exit_code == 4
    assert (
        "the resource finder has not found 'mediapipe/modules/pose_detection/pose_detection.tflite'"
        in result.output
    )
    assert str(tmp_path) in result.output
    assert "pip download --no-deps mediapipe==0.10.21" in result.output


def test_a_missing_video_is_reported(invoke, models, tmp_path):
    result = invoke("faces", tmp_path / "none.mp4")

    assert result.exit_code == 4
    assert "none.mp4' does not exist; check the path" in result.output


# --- pictures ---


def picture(name: str) -> Path:
    path = PICTURES / f"{name}.png"
    if not path.exists():
        pytest.skip(f"no picture {path}")
    return path


@pytest.mark.parametrize(
    "asked", [("hands", "hands_two", 2), ("faces", "astronaut", 1), ("pose", "astronaut", 1)], ids=str
)
def test_a_picture_is_drawn_into_a_picture(invoke, models, tmp_path, asked):
    command, name, found = asked
    shown = cv2.imread(str(picture(name)))
    cv2.imwrite(str(tmp_path / "photo.jpg"), shown, [cv2.IMWRITE_JPEG_QUALITY, 100])

    result = invoke(command, tmp_path / "photo.jpg", "-o", tmp_path / "out.png")

    assert result.exit_code == 0, result.output
    assert re.search(r"^1 picture in, 1 processed, .*, written to .*out\.png \(", result.stdout, re.MULTILINE)
    drawn = cv2.imread(str(tmp_path / "out.png"))
    assert drawn.shape == shown.shape
    changed = (np.abs(drawn.astype(int) - shown) > 60).any(axis=2)
    assert 200 < changed.sum() < changed.size / 5
    heading, *rows = invoke(command, tmp_path / "photo.jpg", "--rows").stdout.splitlines()
    assert heading.startswith("picture\tseconds\tnumber\t")
    assert [row.split("\t")[:3] for row in rows] == [["photo.jpg", "0.000", str(n)] for n in range(found)]


def test_a_photo_that_was_taken_upright_is_looked_at_upright(invoke, models, tmp_path):
    with Image.open(picture("hands_two")) as image:
        exif = Image.Exif()
        exif[0x0112] = 6
        image.convert("RGB").rotate(90, expand=True).save(tmp_path / "turned.jpg", exif=exif, quality=100)

    (upright,) = lines(invoke("hands", picture("hands_two"), "--json"), "hands")
    (turned,) = lines(invoke("hands", tmp_path / "turned.jpg", "--json"), "hands")

    assert [hand["label"] for hand in turned] == [hand["label"] for hand in upright]
    for one, other in zip(turned, upright, strict=True):
        assert np.abs(np.subtract(one["landmarks"], other["landmarks"])).max() < 0.05


def test_each_picture_of_a_folder_is_looked_at_for_itself(invoke, models, tmp_path):
    shots = tmp_path / "shots"
    shots.mkdir()
    for number, name in enumerate(["hands_two", "astronaut", "hands_two"]):
        shutil.copy(picture(name), shots / f"{number}.png")
    (shots / "3.png").write_bytes(b"no picture")

    refused = invoke("hands", shots, "--json")
    result = invoke("hands", shots, "--json", "--skip-broken")
    found = lines(result, "hands")
    drawn = invoke("hands", shots, "-o", tmp_path / "drawn", "--skip-broken")

    assert refused.exit_code != 0
    assert "3.png': the file begins with b'no pictu'" in refused.output
    assert lines(result, "picture") == ["0.png", "1.png", "2.png"]
    assert [len(hands) for hands in found] == [2, 0, 2]
    assert found[0] == found[2]  # hands that were followed would differ
    assert "4 pictures in, 3 processed, 1 dropped" in drawn.stdout
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == ["0.png", "1.png", "2.png"]


def test_broken_pictures_are_of_pictures_only(invoke):
    result = invoke("pose", "clip.mp4", "--skip-broken")

    assert result.exit_code == 2
    assert "--skip-broken is for pictures" in result.output
