"""Masks: the prototypes, mixed by the coefficients of each detection that is left."""

from __future__ import annotations

import math

import numpy as np
import pytest
from detector_models import HEIGHT, LABELS, WIDTH, outputs_of
from test_decoders import detect

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect.detector_input import place_of
from penstock_detect.options import Resize
from penstock_formats import Detection, Tensor

NAMES = {"names": str(dict(enumerate(LABELS)))}


def at(image, y, x):
    """Return the value between pixels of an image, linear, with the nearest one beyond its edges."""
    height, width = image.shape
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    low, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    upper = image[top, left] * (1 - across) + image[top, right] * across
    lower = image[low, left] * (1 - across) + image[low, right] * across
    return upper * (1 - down) + lower * down


def plain_mask(logits, box, place):
    """Return the mask that loops in plain Python make."""
    height, width = place.bottom - place.top, place.right - place.left
    made = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            inside = math.ceil(box.xmin * width) <= x < math.ceil(
                (box.xmin + box.width) * width
            ) and math.ceil(box.ymin * height) <= y < math.ceil((box.ymin + box.height) * height)
            value = at(logits, (y + place.top + 0.5) / 4 - 0.5, (x + place.left + 0.5) / 4 - 0.5)
            made[y, x] = 255 if inside and value > 0 else 0
    return made


@pytest.mark.parametrize("layout", ["YOLO_V8_SEGMENT", "YOLO_V5_SEGMENT", "YOLO_END_TO_END_SEGMENT"])
def test_masks_are_those_of_plain_loops(layout, model):
    outputs = outputs_of(layout, seed=3)
    size = (90, 60)  # 48 x 32 in 64 x 32
    path = model(outputs, metadata=NAMES)

    detections = detect(path, size=size)
    masks = detect(path, size=size, output="MASKS")

    place = place_of(Resize.LETTERBOX, *size, WIDTH, HEIGHT)
    assert (place.left, place.right) == (8, 56)
    assert len(masks) == len(detections) > 2
    table = outputs["output0"][0].T if layout == "YOLO_V8_SEGMENT" else outputs["output0"][0]
    for one, mask in zip(detections, masks, strict=True):
        logits = np.einsum("k,khw->hw", table[one.detection_id, -4:], outputs["masks"][0])
        expected = plain_mask(logits, one.location_data.relative_bounding_box, place)
        assert (mask.width, mask.height) == (48, 32)
        assert np.count_nonzero(mask.array != expected) <= 1  # a value of almost 0 may fall on either side
    assert any(mask.array.any() for mask in masks)


def test_a_model_without_masks_says_what_it_makes(model):
    with pytest.raises(GraphConfigError, match=r"output MASKS.* RTMDET, which makes DETECTIONS, TENSORS"):
        detect(model(outputs_of("RTMDET")), output="MASKS")


def test_a_detection_of_another_node_has_no_mask():
    arrays = list(outputs_of("YOLO_V8_SEGMENT").values())
    graph = """
    input_stream: "tensors" input_stream: "detections" output_stream: "masks"
    node {
      calculator: "DetectorMasksCalculator"
      input_stream: "TENSORS:tensors" input_stream: "DETECTIONS:detections" output_stream: "MASKS:masks"
      node_options { [type.googleapis.com/penstock_detect.DetectorMasksCalculatorOptions] {
        layout: YOLO_V8_SEGMENT input_width: 64 input_height: 32 } }
    }"""
    inputs = {
        "tensors": [(0, [Tensor(one) for one in arrays])],
        "detections": [(0, [Detection(detection_id=1000)])],
    }

    with pytest.raises(
        GraphRunError, match=r"has the id 1000, but must have the number of its row.* below 42"
    ):
        penstock.run(graph, inputs)
