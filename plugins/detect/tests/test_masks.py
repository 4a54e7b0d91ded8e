"""Masks: the prototypes, mixed by the coefficients of each detection that is left."""

from __future__ import annotations

import math

import numpy as np
import pytest
from detector_models import HEIGHT, LABELS, WIDTH, outputs_of
from test_decoders import detect

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect.resizing import Resize, place_of
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData, Tensor

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
        logits = np.einsum("k,khw->hw", table[one.mask_row, -4:], outputs["masks"][0])
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
        "detections": [(0, [Detection(mask_row=1000)])],
    }

    with pytest.raises(
        GraphRunError, match=r"has the mask_row 1000, but must have the number of its row.* below 42"
    ):
        penstock.run(graph, inputs)


# --- masks of followed objects ---------------------------------------------------------------------

FOLLOWED = """
input_stream: "image" output_stream: "found" output_stream: "found_masks" output_stream: "followed"
output_stream: "masks"
node {{
  calculator: "DetectorSubgraph" input_stream: "IMAGE:image" output_stream: "DETECTIONS:found"
  output_stream: "MASKS:found_masks"
  node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
    model_path: "{path}" min_score: 0.3 max_overlap: 0.5 }} }}
}}
node {{
  calculator: "TrackerCalculator" input_stream: "DETECTIONS:found" input_stream: "MASKS:found_masks"
  output_stream: "DETECTIONS:followed" output_stream: "MASKS:masks"
  node_options {{ [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {{
    high_score: 0.6 new_score: 0.6 {options} }} }}
}}"""


def followed(path, options=""):
    """Return the packets of three images of the same things."""
    image = ImageFrame(np.zeros((HEIGHT, WIDTH, 3), np.uint8), ImageFormat.SRGB)
    text = FOLLOWED.format(path=path, options=options)
    return penstock.run(text, {"image": [(40_000 * i, image) for i in range(3)]})


def test_what_is_followed_keeps_its_mask_and_has_an_id(model):
    outputs = followed(model(outputs_of("YOLO_V8_SEGMENT", seed=3), metadata=NAMES))

    for found, all_masks, tracks, masks in zip(*outputs.values(), strict=True):
        mask_of = dict(zip((one.mask_row for one in found.payload), all_masks.payload, strict=True))
        assert 1 < len(tracks.payload) == len(masks.payload) < len(found.payload)
        assert [one.detection_id for one in tracks.payload] == list(range(1, len(tracks.payload) + 1))
        for one, mask in zip(tracks.payload, masks.payload, strict=True):
            assert mask is mask_of[one.mask_row]


def test_detections_without_a_track_keep_their_masks_where_they_are_kept(model):
    path = model(outputs_of("YOLO_V8_SEGMENT", seed=3), metadata=NAMES)

    outputs = followed(path, "keep_untracked: true")

    for all_masks, masks in zip(outputs["found_masks"], outputs["masks"], strict=True):
        assert all(one is other for one, other in zip(all_masks.payload, masks.payload, strict=True))


def detection(left, row, score=0.9):
    place = {
        "format": LocationData.RELATIVE_BOUNDING_BOX,
        "relative_bounding_box": {"xmin": left, "ymin": 0.1, "width": 0.2, "height": 0.2},
    }
    return Detection(label_id=[1], score=[score], mask_row=row, location_data=place)


TRACKER = FOLLOWED[FOLLOWED.index("}}\nnode") + 3 :].format(options="fill_seconds: 1")
TRACKED = f'input_stream: "found" input_stream: "found_masks" output_stream: "followed" {TRACKER}'


def test_a_filled_in_detection_has_an_empty_mask_and_no_row():
    mask = ImageFrame(np.full((4, 6), 255, np.uint8), ImageFormat.GRAY8)
    lists = [
        [detection(0.1, 7), detection(0.6, 9)],
        [detection(0.1, 7), detection(0.6, 9)],
        [detection(0.1, 3)],
        [],
    ]
    packets = {
        "found": [(40_000 * i, one) for i, one in enumerate(lists)],
        "found_masks": [(40_000 * i, [mask] * len(one)) for i, one in enumerate(lists)],
    }

    outputs = penstock.run(f'{TRACKED} output_stream: "masks"', packets)

    (third, fourth) = (packet.payload for packet in outputs["followed"][2:])
    assert [one.HasField("mask_row") for one in third] == [True, False]
    assert [one.HasField("mask_row") for one in fourth] == [False, False]
    masks = [packet.payload for packet in outputs["masks"]]
    assert masks[2][0] is mask
    assert masks[2][1].array.shape == (4, 6)
    assert not masks[2][1].array.any()
    assert [one.array.any() for one in masks[3]] == [False, False]


def test_a_mask_is_made_behind_the_tracker_too(model):
    """DetectorMasksCalculator finds the row of a detection that a tracker has given an id."""
    outputs = outputs_of("YOLO_V8_SEGMENT", seed=3)
    path = model(outputs, metadata=NAMES)
    text = f"""
    input_stream: "image" output_stream: "masks"
    node {{ calculator: "DetectorSubgraph" input_stream: "IMAGE:image" output_stream: "DETECTIONS:found"
      output_stream: "TENSORS:tensors" output_stream: "MASKS:before"
      node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
        model_path: "{path}" min_score: 0.3 max_overlap: 0.5 }} }} }}
    node {{ calculator: "TrackerCalculator" input_stream: "DETECTIONS:found"
      output_stream: "DETECTIONS:followed" node_options {{
        [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {{ keep_untracked: true }} }} }}
    node {{ calculator: "DetectorMasksCalculator" input_stream: "TENSORS:tensors"
      input_stream: "DETECTIONS:followed" output_stream: "MASKS:masks" node_options {{
        [type.googleapis.com/penstock_detect.DetectorMasksCalculatorOptions] {{
          layout: YOLO_V8_SEGMENT input_width: {WIDTH} input_height: {HEIGHT} }} }} }}
    output_stream: "before" """
    image = ImageFrame(np.zeros((HEIGHT, WIDTH, 3), np.uint8), ImageFormat.SRGB)

    found = penstock.run(text, {"image": [(0, image)]})

    before, masks = found["before"][0].payload, found["masks"][0].payload
    assert len(masks) == len(before) > 2
    for one, other in zip(masks, before, strict=True):
        assert np.array_equal(one.array, other.array)


@pytest.mark.parametrize(("port", "other"), [("input", "output"), ("output", "input")])
def test_a_tracker_with_half_of_its_masks_connected_is_refused(port, other):
    line = 'output_stream: "MASKS:masks"' if port == "input" else 'input_stream: "MASKS:found_masks"'

    with pytest.raises(
        GraphConfigError, match=f"the tracker's {port} MASKS is connected, but the {other} MASKS is not"
    ):
        penstock.CalculatorGraph(TRACKED.replace(line, ""))


def test_another_number_of_masks_than_detections_is_refused():
    packets = {"found": [(0, [detection(0.1, 7)])], "found_masks": [(0, [])]}

    with pytest.raises(
        GraphRunError, match="there are 0 masks for the tracker, but 1 detections; give one for each"
    ):
        penstock.run(f'{TRACKED} output_stream: "masks"', packets)
