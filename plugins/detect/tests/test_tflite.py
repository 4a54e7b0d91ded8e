"""Detectors in .tflite files: their layouts, the units of their boxes, and files that are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from detector_models import CELLS, HEIGHT, LABELS, TASKS, WIDTH, outputs_of, tflite_model
from plain_decoders import DECODERS, best_of
from test_decoders import OVERLAP, assert_equal, detect

from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, ResourceExhaustedError
from penstock_detect import model_file
from penstock_detect.model_file import read_model

NAMES = {"names": dict(enumerate(LABELS)), "task": "detect", "imgsz": [HEIGHT, WIDTH]}
#: As newer exports have it, and as older ones.
PACKED = [{"metadata.json": json.dumps(NAMES)}, {"temp_meta.txt": str(NAMES)}]
SIZE = (WIDTH, HEIGHT)


def in_fractions(outputs, columns=4):
    """Return outputs of YOLOv8 with boxes in fractions of the input, as Ultralytics' .tflite files have."""
    rows = outputs["output0"].copy()
    rows[:, 0:columns:2] /= WIDTH
    rows[:, 1:columns:2] /= HEIGHT
    return {"output0": rows}


def expected_of(layout, outputs):
    """Return what plain loops find in outputs in pixels, without what overlaps."""
    return best_of(list(DECODERS[layout](list(outputs.values()), 0.3)), OVERLAP)


@pytest.mark.parametrize("metadata", PACKED, ids=["json", "older"])
def test_an_export_of_ultralytics_is_told_by_what_is_packed_into_it(lite_model, metadata):
    outputs = outputs_of("YOLO_V8")

    found = detect(lite_model(in_fractions(outputs), metadata=metadata), size=SIZE)

    assert_equal(found, expected_of("YOLO_V8", outputs))
    assert {one.label[0] for one in found} <= set(LABELS)


def test_units_say_that_boxes_are_in_pixels(lite_model):
    outputs = outputs_of("YOLO_V8")
    path = lite_model(outputs, metadata=PACKED[0])

    assert_equal(detect(path, "units: PIXELS", SIZE), expected_of("YOLO_V8", outputs))


def test_an_onnx_file_may_have_fractions_too(model):
    outputs = outputs_of("YOLO_V8")
    path = model(in_fractions(outputs), metadata={"names": str(dict(enumerate(LABELS)))})

    assert_equal(detect(path, "units: FRACTIONS", SIZE), expected_of("YOLO_V8", outputs))


def test_key_points_are_in_the_same_units(lite_model):
    outputs = outputs_of("YOLO_V8_POSE")
    rows = in_fractions(outputs)["output0"]
    start = 4 + len(LABELS)
    rows[:, start::3] /= WIDTH
    rows[:, start + 1 :: 3] /= HEIGHT
    metadata = {"metadata.json": json.dumps({**NAMES, "task": "pose", "kpt_shape": [2, 3]})}

    found = detect(lite_model({"output0": rows}, metadata=metadata), size=SIZE)

    assert TASKS["YOLO_V8_POSE"]["task"] == "pose"
    assert_equal(found, expected_of("YOLO_V8_POSE", outputs))


def test_the_outputs_of_tensorflows_ssd_are_told_from_their_names(lite_model):
    outputs = outputs_of("SSD")
    names = [f"TFLite_Detection_PostProcess{suffix}" for suffix in ("", ":1", ":2", ":3")]

    found = detect(lite_model(dict(zip(names, outputs.values(), strict=True))), size=SIZE)

    assert_equal(found, list(DECODERS["SSD"](list(outputs.values()), 0.3)))


def test_a_model_that_takes_bytes_gets_pixels(lite_model):
    outputs = outputs_of("YOLO_V8")
    path = lite_model(in_fractions(outputs), metadata=PACKED[0], kind="UINT8")

    assert_equal(detect(path, size=SIZE), expected_of("YOLO_V8", outputs))


def test_quantized_outputs_are_read_by_their_scale(lite_model):
    rows = in_fractions(outputs_of("YOLO_V8"))["output0"]
    quantized = np.clip(np.rint(rows * 128), -128, 127).astype(np.int8)
    path = lite_model({"output0": quantized}, metadata=PACKED[0], scale=1 / 128)
    real = {"output0": quantized.astype(np.float32) / 128}
    pixels = in_fractions({"output0": real["output0"]})["output0"] * 0 + real["output0"]
    pixels[:, 0:4:2] *= WIDTH
    pixels[:, 1:4:2] *= HEIGHT

    found = detect(path, size=SIZE)

    wanted = expected_of("YOLO_V8", {"output0": pixels})
    assert len(found) == len(wanted) > 2
    assert sorted(one.score[0] for one in found) == pytest.approx(sorted(one["score"] for one in wanted))


# --- files that are refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "INT8", "scale": 0.5}, "int8 1x32x64x3, but images are given as float32, float16, uint8"),
        ({"shape": (1, HEIGHT, WIDTH)}, "float32 1x32x64, but must be one image"),
        ({"shape": (2, HEIGHT, WIDTH, 3)}, "export it with a batch of 1"),
    ],
)
def test_an_input_that_is_no_image(lite_model, given, words):
    with pytest.raises(GraphConfigError, match=words):
        detect(lite_model(in_fractions(outputs_of("YOLO_V8")), metadata=PACKED[0], **given))


def test_without_metadata_the_layout_is_asked_for(lite_model):
    path = lite_model(in_fractions(outputs_of("YOLO_V8")))

    with pytest.raises(GraphConfigError, match=f"float32 1x7x{CELLS}: several layouts have such outputs"):
        detect(path)
    assert detect(path, "layout: YOLO_V8", SIZE)


def test_each_truncation_is_refused(lite_model):
    data = lite_model({"output0": np.zeros((1, 6), np.float32)}).read_bytes()

    for length in range(8, len(data) - 8, 61):
        with pytest.raises(InvalidArgumentError, match=r"'cut.tflite'"):
            read_model("cut.tflite", data[:length])


def test_a_size_that_no_memory_has(lite_model):
    for shape in ((1, 2**20, 2**20, 3), (1, 2**30, 2**30, 3), (1, -1, -1, 3), (1, 0, 64, 3)):
        path = lite_model(in_fractions(outputs_of("YOLO_V8")), shape=shape)
        with pytest.raises((GraphConfigError, GraphRunError), match=r"tiny.tflite"):
            detect(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no dict", "must be written as Python writes a dict or a list"),
        ("[1]", r"is '\[1\]', but must be a dict; export the model again"),
        (b"\xff\xfe", "the metadata in 'a.tflite' is damaged"),
    ],
)
def test_metadata_that_is_none(lite_model, text, words):
    del lite_model  # skips without ai-edge-litert
    data = tflite_model({"a": np.zeros((1, 6), np.float32)}, metadata={"metadata.json": text})

    with pytest.raises(InvalidArgumentError, match=words):
        read_model("a.tflite", data)


def test_metadata_has_a_limit(lite_model, monkeypatch):
    del lite_model  # skips without ai-edge-litert
    monkeypatch.setattr(model_file, "MAX_LITERAL", 50)
    data = tflite_model({"a": np.zeros((1, 6), np.float32)}, metadata={"metadata.json": "1" * 10**6})

    with pytest.raises(ResourceExhaustedError, match="has 51 characters, but at most 50 are read"):
        read_model("a.tflite", data)


def test_a_provider_is_refused(lite_model):
    path = lite_model(in_fractions(outputs_of("YOLO_V8")), metadata=PACKED[0])

    with pytest.raises(GraphConfigError, match=r"is a .tflite file, which runs on the CPU"):
        detect(path, 'providers: "cuda"')
