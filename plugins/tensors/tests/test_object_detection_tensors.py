"""ObjectDetectionTensorsToDetectionsCalculator: boxes, scores and classes of a model as detections."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import LocationData, Tensor
from penstock_tensors.conversions.object_detection_tensors_to_detections import (
    ObjectDetectionTensorsToDetectionsCalculator,
)
from penstock_tensors.messages.object_detection_tensors_to_detections_pb2 import (
    ObjectDetectionsTensorToDetectionsCalculatorOptions,
)
from penstock_testing import run_calculator


def floats(*values, shape=(-1,)) -> np.ndarray:
    return np.array(values, np.float32).reshape(shape)


BOXES = floats(*[0.1, 0.2, 0.3, 0.4] * 3, shape=(3, 4))
SCORES = floats(0.1, 0.5, 1)
OF_ALL_CLASSES = floats(0, 0.1, 0.05, 0.02, 0, 0.1, 0.5, 0.2, 0, 0.5, 0.8, 1, shape=(3, 4))
TENSORS = {
    "NUM_DETECTIONS": floats(3),
    "BOXES": BOXES,
    "SCORES": SCORES,
    "CLASSES": floats(1, 2, 3),
}
RAW = {"BOXES": BOXES, "SCORES": OF_ALL_CLASSES}
KEYPOINTS = floats(*[0.6, 0.5] * 6, shape=(3, 2, 2))


def detections(arrays, *, labels=None, **options) -> list:
    run = run_calculator(
        ObjectDetectionTensorsToDetectionsCalculator,
        {tag: [Packet(Tensor(array), Timestamp.POSTSTREAM)] for tag, array in arrays.items()},
        outputs=["DETECTIONS"],
        options=ObjectDetectionsTensorToDetectionsCalculatorOptions(**options),
        side_packets=None if labels is None else {"LABELMAP": labels},
    )
    (packet,) = run.outputs["DETECTIONS"]
    assert packet.timestamp == Timestamp.POSTSTREAM
    return packet.payload


@pytest.mark.parametrize(
    ("arrays", "options", "points"),
    [
        pytest.param(
            TENSORS,
            {},
            0,
            marks=pytest.mark.reference(
                "calculators/tensorflow/object_detection_tensors_to_detections_calculator_test.cc",
                "ObjectDetectionTensorsToDetectionsCalculatorTest.OutputsDetections",
                "ObjectDetectionTensorsToDetectionsCalculatorTest.OutputsDetectionsWithCorrectValues",
            ),
        ),
        pytest.param(
            RAW,
            {},
            0,
            marks=pytest.mark.reference(
                "calculators/tensorflow/object_detection_tensors_to_detections_calculator_test.cc",
                "ObjectDetectionTensorsToDetectionsCalculatorTest.OutputsDetectionsFromRawTensors",
                "ObjectDetectionTensorsToDetectionsCalculatorTest"
                ".OutputsDetectionsFromRawTensorsWithCorrectValues",
            ),
        ),
        pytest.param(
            {**TENSORS, "KEYPOINTS": KEYPOINTS},
            {},
            2,
            marks=pytest.mark.reference(
                "calculators/tensorflow/object_detection_tensors_to_detections_calculator_test.cc",
                "ObjectDetectionTensorsToDetectionsCalculatorTest.OutputsDetectionsWithKeypoints",
                "ObjectDetectionTensorsToDetectionsCalculatorTest"
                ".OutputsDetectionsWithKeypointsAndCorrectValues",
            ),
        ),
        pytest.param(
            {tag: array[None] for tag, array in TENSORS.items()},
            {"tensor_dim_to_squeeze": [0]},
            0,
            marks=pytest.mark.reference(
                "calculators/tensorflow/object_detection_tensors_to_detections_calculator_test.cc",
                "ObjectDetectionTensorsToDetectionsCalculatorTest"
                ".SqueezesInputTensorDimensionAndOutputsDetectionsWithCorrectValues",
            ),
        ),
    ],
)
def test_boxes_scores_and_classes(arrays, options, points):
    found = detections(arrays, **options)

    assert len(found) == 3
    for detection in found:
        place = detection.location_data
        assert place.format == LocationData.RELATIVE_BOUNDING_BOX
        box = place.relative_bounding_box
        assert (box.xmin, box.ymin, box.width, box.height) == pytest.approx((0.2, 0.1, 0.2, 0.2), rel=1e-6)
        assert [(point.x, point.y) for point in place.relative_keypoints] == [
            pytest.approx((0.5, 0.6))
        ] * points
    assert [list(detection.score) for detection in found] == [[np.float32(0.1)], [0.5], [1]]
    assert [list(detection.label_id) for detection in found] == [[1], [2], [3]]


def test_so_many_rows_as_the_model_says():
    assert len(detections({**TENSORS, "NUM_DETECTIONS": np.array([2], np.int32)})) == 2


def test_labels_instead_of_ids():
    found = detections(TENSORS, labels={1: "cat", 2: "dog", 3: "bird"})

    assert [list(one.label) for one in found] == [["cat"], ["dog"], ["bird"]]
    assert not found[0].label_id


def test_masks():
    masks = np.zeros((3, 2, 4), np.float32)
    masks[0] = [[0.2, 0.6, 0.9, 0.1], [0.6, 0, 0, 0.7]]

    found = detections({**TENSORS, "MASKS": masks}, mask_threshold=0.5)

    place = found[0].location_data
    assert (place.format, place.mask.width, place.mask.height) == (LocationData.MASK, 4, 2)
    runs = [(run.y, run.left_x, run.right_x) for run in place.mask.rasterization.interval]
    assert runs == [(0, 1, 2), (1, 0, 0), (1, 3, 3)]
    assert not found[1].location_data.mask.rasterization.interval


@pytest.mark.parametrize(
    ("arrays", "labels", "words"),
    [
        (
            {**TENSORS, "NUM_DETECTIONS": floats(4)},
            None,
            "input BOXES of object detection holds 3 rows, but there are 4 detections",
        ),
        (
            {**TENSORS, "CLASSES": floats(1)},
            None,
            "input CLASSES of object detection holds 1 rows, but there are 3 detections",
        ),
        ({**TENSORS, "SCORES": OF_ALL_CLASSES}, None, "input SCORES holds <Tensor float32 3x4>, but"),
        ({**RAW, "SCORES": SCORES}, None, "input SCORES holds <Tensor float32 3>, but"),
        ({**RAW, "SCORES": floats(shape=(3, 0))}, None, "input SCORES holds <Tensor float32 3x0>, but"),
        (
            {**RAW, "BOXES": floats(1, 2, 3, shape=(1, 3))},
            None,
            "input BOXES holds <Tensor float32 1x3>, but",
        ),
        (
            {**RAW, "BOXES": BOXES.astype(np.int32)},
            None,
            "input BOXES holds <Tensor int32 3x4>, but",
        ),
        ({**TENSORS, "KEYPOINTS": floats(*[0] * 9, shape=(3, 1, 3))}, None, "input KEYPOINTS holds"),
        ({**TENSORS, "NUM_DETECTIONS": floats(1, 2)}, None, "input NUM_DETECTIONS holds <Tensor float32 2>"),
        (TENSORS, {1: "cat"}, "of class 2, which side packet LABELMAP lacks"),
    ],
)
def test_tensors_that_do_not_fit(arrays, labels, words):
    with pytest.raises(GraphRunError, match=words):
        detections(arrays, labels=labels)


def test_all_tensors_of_a_timestamp_are_needed():
    with pytest.raises(
        GraphRunError,
        match="are not complete: there is no packet on SCORES, but each timestamp needs all",
    ):
        run_calculator(
            ObjectDetectionTensorsToDetectionsCalculator,
            {"BOXES": [(0, Tensor(BOXES))], "SCORES": []},
            outputs=["DETECTIONS"],
        )


def test_classes_need_their_number():
    with pytest.raises(
        GraphConfigError, match="the detections' input CLASSES needs the input NUM_DETECTIONS"
    ):
        detections({tag: array for tag, array in TENSORS.items() if tag != "NUM_DETECTIONS"})


def test_the_threshold_of_masks_is_a_share():
    with pytest.raises(GraphConfigError, match="mask_threshold is 2, but must be from 0 to 1"):
        detections({**TENSORS, "MASKS": floats(*[0] * 3, shape=(3, 1, 1))}, mask_threshold=2)
