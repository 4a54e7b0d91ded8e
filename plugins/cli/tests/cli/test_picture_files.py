"""Pictures in place of a video: which paths mean them, how graphs change, what the demo reads and writes."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
import av
import cv2
import numpy as np

from penstock.config import read_graph
from penstock.plugins.default_registry import default_registry
from penstock_cli.demo.demo_graph import FRAMES, demo_config, graph_text
from penstock_cli.failures import FileMissing, WrongUsage
from penstock_cli.runs.manner import Manner
from penstock_cli.runs.over_video import OverVideo, run_over_video
from penstock_cli.runs.picture_files import (
    are_pictures,
    are_pictures_out,
    default_picture_path,
    path_read,
    path_written,
    with_pictures,
)

GRAPH = """
input_side_packet: "input_video"
input_side_packet: "output_video"
output_stream: "drawn"
output_stream: "results"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
}
node { calculator: "PassThroughCalculator" input_stream: "frame" output_stream: "drawn" }
node { calculator: "PassThroughCalculator" input_stream: "frame" output_stream: "results" }
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
  input_side_packet: "AUDIO_FILE_PATH:input_video"
  options { [mediapipe.OpenCvVideoEncoderCalculatorOptions.ext] { codec: "avc1" } }
}
"""


@pytest.fixture
def shots(tmp_path) -> Path:
    """Return a folder of three pictures: grey of level 10, 20 and 30, 32 x 16."""
    folder = tmp_path / "shots"
    folder.mkdir()
    for number, name in enumerate(["a 1.png", "a 2.png", "a 10.png"], 1):
        cv2.imwrite(str(folder / name), np.full((16, 32, 3), 10 * number, np.uint8))
    return folder


def run(video, out, **more) -> None:
    run_over_video(
        OverVideo(graph=GRAPH, command="penstock test", what="drawing", video=video, out=out, **more),
        Manner(progress=False),
    )


def levels(folder: Path) -> dict[str, int]:
    """Return the names of pictures, with the level of grey of each."""
    return {path.name: int(cv2.imread(str(path))[0, 0, 0]) for path in sorted(folder.iterdir())}


@pytest.mark.parametrize(
    ("path", "is_read", "is_written"),
    [
        ("a.jpg", True, True), ("a.PNG", True, True), ("a_%04d.png", True, True), ("a/*.tif", True, True),
        ("list.txt", True, False), ("folder", False, True), ("a.mp4", False, False), ("a.gif", False, False),
        ("rtsp://camera/a.jpg", False, False), ("http://camera/stream", False, False),
    ],
)  # fmt: skip
def test_a_path_means_pictures_by_its_ending(path, is_read, is_written):
    for one in (path, Path(path)) if "://" not in path else (path,):
        assert (are_pictures(one), are_pictures_out(one)) == (is_read, is_written)


def test_a_folder_that_exists_means_pictures(tmp_path):
    folder = tmp_path / "holiday.mp4"
    folder.mkdir()

    assert are_pictures(folder)
    assert are_pictures_out(folder)
    assert path_written(folder, None) == f"{folder}/"


def test_where_pictures_go_when_nothing_is_said(shots):
    assert default_picture_path(shots / "a 1.png", "drawn") == Path("drawn.png")
    assert (
        default_picture_path(shots, "drawn")
        == default_picture_path(shots / "a*.png", "drawn")
        == Path("drawn")
    )


def test_a_missing_picture_is_named_with_a_similar_one(shots):
    with pytest.raises(FileMissing, match=r"picture '.*a 3\.png' does not exist; did you mean '.*a .*\.png'"):
        path_read(shots / "a 3.png")
    assert path_read(shots / "b_%d.png") == str(shots / "b_%d.png")  # the source finds none of them


def test_what_is_read_is_not_written_over(shots):
    for out, read in ((shots / "a 1.png", shots / "a 1.png"), (shots, shots), (shots, shots / "a *.png")):
        with pytest.raises(WrongUsage, match=r"name another (file|folder) with -o"):
            path_written(out, read)
    assert path_written(shots / "b.png", shots / "a 1.png") == str(shots / "b.png")


def test_a_folder_becomes_a_folder_with_the_same_names(shots, tmp_path, capsys):
    run(shots, tmp_path / "out")

    assert levels(tmp_path / "out") == {"a 1.png": 10, "a 2.png": 20, "a 10.png": 30}
    said = capsys.readouterr()
    assert re.search(
        r"3 pictures in, 3 processed, 0 dropped; .*, written to .*out \(3 pictures\)\n", said.out
    )
    assert f"drawing {shots}, into {tmp_path / 'out'}\n" in said.err


def test_one_picture_becomes_one_picture_of_the_kind_that_is_named(shots, tmp_path, capsys):
    run(shots / "a 2.png", tmp_path / "out.jpg")

    assert (tmp_path / "out.jpg").read_bytes()[:2] == b"\xff\xd8"
    assert levels(shots) == {"a 1.png": 10, "a 2.png": 20, "a 10.png": 30}
    assert re.search(r"1 picture in, .* written to .*out\.jpg \([\d.]+ k?B\)\n", capsys.readouterr().out)


def test_pictures_become_a_video_and_a_video_becomes_pictures(shots, tmp_path):
    run(shots / "a *.png", tmp_path / "film.mkv")
    run(tmp_path / "film.mkv", tmp_path / "frame_%02d.png")

    with av.open(str(tmp_path / "film.mkv")) as container:
        assert len(list(container.decode(video=0))) == 3
    back = [cv2.imread(str(tmp_path / f"frame_0{number}.png")).mean() for number in range(3)]
    assert back == pytest.approx([10, 20, 30], abs=2)


def test_broken_pictures_are_skipped_and_counted_where_that_is_asked(shots, tmp_path, capsys):
    (shots / "a 3.png").write_bytes(b"no picture")

    run(shots, tmp_path / "out", skips=True)

    assert list(levels(tmp_path / "out")) == ["a 1.png", "a 10.png", "a 2.png"]
    said = capsys.readouterr()
    assert "4 pictures in, 3 processed, 1 dropped" in said.out
    assert "left out: picture" in said.err
    assert "a 3.png': the file begins with b'no pictu'" in said.err


class Surface:
    """A window; one that closes does so when it has been looked at a few times after its last frame."""

    shared = None

    def __init__(self, *, closes):
        self.drawn = []
        self.looks = 0
        self.closes = closes

    @property
    def is_closed(self):
        return self.closes and self.looks > 5

    def look(self, wait_s=0.0):
        self.looks += bool(self.drawn)

    def draw(self, frame):
        self.drawn.append(frame)
        self.looks = 0


@pytest.mark.parametrize(("name", "count", "stays"), [("a 1.png", 1, True), ("a *.png", 3, False)])
def test_a_window_with_one_picture_stays_until_it_is_closed(shots, monkeypatch, name, count, stays):
    surface = Surface(closes=stays)
    monkeypatch.setattr("penstock_cli.runs.window.Window.opened", lambda _: nullcontext(surface))

    run(shots / name, None, show=True)

    assert len(surface.drawn) == count
    assert surface.is_closed == stays


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_graphs_of_the_demo_read_and_write_pictures(shots, tmp_path, on_gpu):
    registry = default_registry()
    config = demo_config(registry, on_gpu=on_gpu)

    with_pictures(config, registry, (shots, FRAMES[on_gpu]), tmp_path / "out")

    used = [node.calculator for node in config.node]
    before = [node.calculator for node in read_graph(graph_text(on_gpu=on_gpu), registry).node]
    swapped = {
        "VideoDecoderCalculator": "PictureSourceCalculator",
        "VideoEncoderCalculator": "PictureSinkCalculator",
    }
    assert used == [swapped.get(name, name) for name in before]
    assert not any("AUDIO" in side for node in config.node for side in node.input_side_packet)


def test_the_demo_draws_edges_over_pictures(invoke, shots, tmp_path):
    cv2.rectangle(picture := np.full((64, 64, 3), 200, np.uint8), (40, 20), (56, 44), (20, 20, 20), -1)
    cv2.imwrite(str(shots / "box.png"), picture)

    result = invoke("demo", shots / "box.png", "-o", tmp_path / "edges.png", "--no-gpu")

    assert result.exit_code == 0, result.output
    assert re.search(
        r"^1 frame at [\d.]+/s, written to .*edges\.png \([\d.]+ k?B\)$", result.stdout, re.MULTILINE
    )
    drawn = cv2.cvtColor(cv2.imread(str(tmp_path / "edges.png")), cv2.COLOR_BGR2RGB)
    assert (drawn[:, :32] == 200).all()
    assert ((drawn == (255, 180, 0)).all(axis=2)).sum() > 50


def test_the_demo_writes_a_folder_of_pictures(invoke, tmp_path):
    result = invoke("demo", "--frames", "3", "-o", tmp_path / "out", "--no-gpu")

    assert result.exit_code == 0, result.output
    assert list(levels(tmp_path / "out")) == ["000000.png", "000001.png", "000002.png"]
    assert "written to" in result.stdout
    assert "out (3 pictures)" in result.stdout
