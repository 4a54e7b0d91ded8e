"""DetectionsToJsonCalculator: each member of its lines, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import (
    Classification,
    ClassificationList,
    Detection,
    ImageFormat,
    ImageFrame,
    LocationData,
)

NODE = """
input_stream: "found" input_stream: "masks" output_stream: "lines"
node {{ calculator: "DetectionsToJsonCalculator" {inputs} output_stream: "JSON:lines" }}"""


def detection(**more):
    place = LocationData(
        format=LocationData.RELATIVE_BOUNDING_BOX,
        relative_bounding_box={"xmin": 0.1, "ymin": 0.2, "width": 0.3, "height": 0.4},
    )
    return Detection(location_data=place, **more)


def lines(packets, inputs='input_stream: "DETECTIONS:found"'):
    return [
        packet.payload
        for packet in penstock.run(NODE.format(inputs=inputs), {"masks": [], **packets})["lines"]
    ]


def test_what_a_detection_does_not_have_is_left_out():
    whole = detection(label=["cat"], label_id=[3], score=[0.87654], detection_id=12)
    whole.location_data.relative_keypoints.add(x=0.5, y=0.25, score=0.75)
    whole.location_data.relative_keypoints.add(x=1 / 3, y=0.25)

    first, second = lines({"found": [(7, [whole, detection()]), (9, [])]})

    box = [0.1, 0.2, 0.4, 0.6]
    points = [[0.5, 0.25, 0.75], [0.33333, 0.25]]
    assert json.loads(first) == {
        "timestamp": 7,
        "detections": [
            {"id": 12, "label": "cat", "class": 3, "score": 0.8765, "box": box, "keypoints": points},
            {"box": box},
        ],
    }
    assert second == '{"timestamp":9,"detections":[]}'


def test_each_part_of_a_mask_is_an_outline():
    mask = np.zeros((10, 20), np.uint8)
    mask[2:4, 3:7] = 255
    mask[8, 15] = 255
    inputs = 'input_stream: "DETECTIONS:found" input_stream: "MASKS:masks"'

    (line,) = lines({"found": [(0, [detection()])], "masks": [(0, [ImageFrame(mask)])]}, inputs)

    (one,) = json.loads(line)["detections"]
    corners = [[0.175, 0.25], [0.325, 0.25], [0.325, 0.35], [0.175, 0.35]]
    assert sorted(map(sorted, one["polygons"])) == sorted([sorted(corners), [[0.775, 0.85]]])


def test_classes_stand_in_their_order():
    found = ClassificationList(
        classification=[Classification(index=4, score=0.5, label="dog"), Classification(index=1, score=0.25)]
    )

    (line,) = lines({"found": [(3, found)]}, 'input_stream: "CLASSIFICATIONS:found"')

    classes = [{"label": "dog", "class": 4, "score": 0.5}, {"class": 1, "score": 0.25}]
    assert json.loads(line) == {"timestamp": 3, "classes": classes}


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (
            "",
            "DETECTIONS or of CLASSIFICATIONS, but neither are connected; connect exactly one",
        ),
        (
            'input_stream: "DETECTIONS:found" input_stream: "CLASSIFICATIONS:masks"',
            "CLASSIFICATIONS, but both are",
        ),
    ],
)
def test_exactly_one_input_is_connected(inputs, words):
    with pytest.raises(GraphConfigError, match=words):
        penstock.CalculatorGraph(NODE.format(inputs=inputs))


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ([], "there are 0 masks for JSON, but 1 detections; give one for each"),
        (
            [ImageFrame(np.zeros((2, 2, 3), np.uint8), ImageFormat.SRGB)],
            "has the format SRGB, but JSON has masks of GRAY8",
        ),
    ],
)
def test_wrong_masks_are_refused(masks, words):
    inputs = 'input_stream: "DETECTIONS:found" input_stream: "MASKS:masks"'
    with pytest.raises(GraphRunError, match=words):
        lines({"found": [(0, [detection()])], "masks": [(0, masks)]}, inputs)
