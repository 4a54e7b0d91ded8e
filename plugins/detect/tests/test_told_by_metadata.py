"""Layouts that the metadata tells: of rows of six numbers, and where `dynamic=True` leaves sizes open."""

from __future__ import annotations

import numpy as np
import pytest
from detector_models import HEIGHT, LABELS, POINTS, WIDTH, outputs_of
from plain_decoders import DECODERS, OVERLAPPING, best_of
from test_decoders import LEAST, OVERLAP, assert_equal, detect

from penstock.errors import GraphConfigError

NAMES = str(dict(enumerate(LABELS)))
POSE = {"task": "pose", "kpt_shape": f"[{POINTS}, 3]"}
DETECT = {"task": "detect", "head": "Detect", "end2end": "False", "args": "{'dynamic': True, 'nms': None}"}
SEGMENT = {"task": "segment", "end2end": "False"}
WHOLE, NMS = {"end2end": "True"}, {"args": "{'nms': True}"}
OPEN = ["batch", "rows", "columns"]
#: Layout of the rows below → what is found.
OF_SIX = {
    "YOLO_END_TO_END": [("a", 0.8)],
    "DETR_ROWS": [("b", 0.9), ("a", 0.8)],
    "DETR_END_TO_END": [("a", 0.8)],
}


@pytest.mark.parametrize(
    ("metadata", "classes", "layout"),
    [
        ({"end2end": "True"}, 2, "YOLO_END_TO_END"),
        ({"end2end": "False", "args": "{'nms': True}"}, 2, "YOLO_END_TO_END"),
        ({"end2end": "False", "args": "{'nms': False}"}, 2, None),
        ({"end2end": "False", "head": "Detect"}, 2, "YOLO_END_TO_END"),
        ({"end2end": "False", "head": "RTDETRDecoder"}, 2, "DETR_END_TO_END"),
        ({"head": "SomethingElse"}, 2, None),
        ({}, 2, None),
        ({}, 3, "YOLO_END_TO_END"),
        ({"end2end": "False"}, 3, "DETR_END_TO_END"),
        ({"end2end": "False", "args": "{'nms': True}"}, 3, "YOLO_END_TO_END"),
    ],
)
def test_rows_of_six_numbers_are_told_by_the_metadata(metadata, classes, layout, model):
    """Two scores behind a box, or a score and a class: of two classes the shapes are equal."""
    rows = np.array([[[0.4, 0.5, 0.2, 0.3, 0.1, 0.9], [0.3, 0.3, 0.1, 0.1, 0.8, 0.2]]], np.float32)
    names = str(dict(enumerate("abc"[:classes])))
    path = model({"output0": rows}, metadata={"names": names, "task": "detect", **metadata})

    if layout is None:
        with pytest.raises(GraphConfigError, match="several layouts have such outputs"):
            detect(path)
        layout, options = "DETR_ROWS", "layout: DETR_ROWS"
    else:
        options = ""
    found = detect(path, options, size=(WIDTH, HEIGHT))

    wanted = OF_SIX[layout]
    assert [(one.label[0], one.score[0]) for one in found] == [(n, pytest.approx(s)) for n, s in wanted]
    box = found[-1].location_data.relative_bounding_box
    unit = WIDTH if layout == "YOLO_END_TO_END" else 1
    left = 0.3 / unit if unit > 1 else 0.3 - 0.1 / 2
    assert box.xmin == pytest.approx(left)


@pytest.mark.parametrize(
    ("layout", "metadata", "shape"),
    [
        ("YOLO_V8", DETECT, OPEN),
        ("YOLO_END_TO_END", DETECT | {"head": "v10Detect"} | WHOLE, OPEN),
        ("YOLO_END_TO_END", DETECT | WHOLE, ["batch", 40, "anchors"]),
        ("YOLO_END_TO_END", DETECT | NMS, ["batch", "rows", 6]),
        ("YOLO_V8_SEGMENT", SEGMENT, OPEN),
        ("YOLO_END_TO_END_SEGMENT", SEGMENT | WHOLE, OPEN),
        ("YOLO_END_TO_END_SEGMENT", SEGMENT | NMS, OPEN),
        ("YOLO_V8_POSE", POSE, OPEN),
        ("YOLO_END_TO_END_POSE", POSE | WHOLE, OPEN),
        ("YOLO_END_TO_END_POSE", POSE | NMS, OPEN),
        ("DETR_END_TO_END", DETECT | {"head": "RTDETRDecoder"}, ["batch", "rows", 6]),
        ("DETR_END_TO_END", DETECT | {"head": "RTDETRDecoder"}, OPEN),
    ],
)
def test_a_layout_is_told_from_metadata_where_sizes_are_open(layout, metadata, shape, model):
    outputs = outputs_of(layout, seed=2)
    shapes = {
        name: shape if array.ndim == 3 else ["batch", array.shape[1], "h", "w"]
        for name, array in outputs.items()
    }
    path = model(outputs, metadata={"names": NAMES, **metadata}, shapes=shapes)

    found = detect(path, size=(WIDTH, HEIGHT))

    expected = list(DECODERS[layout](list(outputs.values()), LEAST))
    assert_equal(found, best_of(expected, OVERLAP) if layout in OVERLAPPING else expected)


@pytest.mark.parametrize(
    "metadata",
    [
        {"task": "detect", "end2end": "False"},  # a transformer of Ultralytics, or YOLO
        {"task": "detect", "head": "SomethingElse"},
        {"task": "obb", "head": "OBB", "end2end": "False"},
        {"task": "obb", "head": "OBB26", "end2end": "True"},
        {},
    ],
)
def test_open_sizes_are_not_guessed(metadata, model):
    outputs = outputs_of("YOLO_V8")
    path = model(outputs, metadata={"names": NAMES, **metadata}, shapes={"output0": OPEN, "output": OPEN})

    words = "says the task 'obb', of which no layout is" if metadata.get("task") == "obb" else "set layout in"
    with pytest.raises(GraphConfigError, match=words):
        detect(path)
