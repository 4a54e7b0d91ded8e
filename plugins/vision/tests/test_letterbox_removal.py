"""DetectionLetterboxRemovalCalculator and LandmarkLetterboxRemovalCalculator: places without the borders."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphRunError, PenstockError
from penstock_formats import Detection, LocationData, NormalizedLandmark, NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.detections.letterbox_removal import (
    DetectionLetterboxRemovalCalculator,
    LandmarkLetterboxRemovalCalculator,
)

PADDING = (0.125, 0.25, 0.375, 0.0)


def detection(numbers=(0.25, 0.5, 0.125, 0.375), keypoints=((0.625, 1.0),)):
    made = Detection(score=[0.5], label_id=[3])
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = numbers
    for x, y in keypoints:
        made.location_data.relative_keypoints.add(x=x, y=y)
    return made


def detections(given, padding=PADDING):
    return run_calculator(
        DetectionLetterboxRemovalCalculator,
        {"DETECTIONS": given, "LETTERBOX_PADDING": [(3, padding)] if padding is not None else []},
        outputs=["DETECTIONS"],
    ).outputs["DETECTIONS"]


def landmarks(*points):
    return NormalizedLandmarkList(landmark=[NormalizedLandmark(**one) for one in points])


def mapped(*lists, padding=PADDING):
    tags = [("LANDMARKS", i) for i in range(len(lists))]
    inputs = {tag: [(3, one)] if one is not None else [] for tag, one in zip(tags, lists, strict=True)}
    inputs["LETTERBOX_PADDING"] = [(3, padding)] if padding is not None else []
    outputs = run_calculator(LandmarkLetterboxRemovalCalculator, inputs, outputs=tags).outputs
    return [[packet.payload for packet in outputs[tag]] for tag in tags]


def test_a_detection_is_measured_from_the_image_within_its_borders():
    given = detection()

    (packet,) = detections([(3, [given])])

    (found,) = packet.payload
    # the image is the part from (0.125, 0.25) of the size (0.5, 0.75)
    assert found == detection((0.25, np.float32(1) / 3, 0.25, 0.5), [(1.0, 1.0)])
    assert given == detection()


def test_each_step_is_rounded_to_single_precision():
    rng = np.random.default_rng(5)
    numbers, padding = rng.random((2, 4)).astype(np.float32) / 3
    (packet,) = detections([(3, [detection(numbers.tolist(), [])])], tuple(padding.tolist()))

    left, top, right, bottom = padding
    x, y, width, height = numbers
    one = np.float32(1)
    found = packet.payload[0].location_data.relative_bounding_box
    assert [found.xmin, found.ymin] == [
        (x - left) / (one - (left + right)),
        (y - top) / (one - (top + bottom)),
    ]
    assert [found.width, found.height] == [width / (one - (left + right)), height / (one - (top + bottom))]


def test_an_empty_list_stays_one():
    (packet,) = detections([(3, [])])

    assert (packet.timestamp, packet.payload) == (3, [])


def test_nothing_is_sent_where_one_of_both_is_missing():
    assert detections([]) == []
    assert detections([(3, [detection()])], None) == []


def test_landmarks_are_mapped_and_z_as_x_is():
    given = landmarks(
        {"x": 0.25, "y": 0.625, "z": 0.5, "visibility": 0.5, "presence": 0.25}, {"x": 0.125, "y": 1.0}
    )

    ((found,),) = mapped(given)

    assert found == landmarks(
        {"x": 0.25, "y": 0.5, "z": 1.0, "visibility": 0.5, "presence": 0.25}, {"x": 0.0, "y": 1.0, "z": 0.0}
    )


def test_lists_go_pairwise_and_an_empty_one_is_left_out():
    one, other = landmarks({"x": 0.125, "y": 0.25, "z": 0.0}), landmarks({"x": 0.625, "y": 1.0, "z": 0.0})

    first, second, third = mapped(one, None, other)

    assert first == [landmarks({"x": 0.0, "y": 0.0, "z": 0.0})]
    assert second == []
    assert third == [landmarks({"x": 1.0, "y": 1.0, "z": 0.0})]


def test_landmarks_without_a_padding_give_nothing():
    assert mapped(landmarks({"x": 0.5}), padding=None) == [[]]


@pytest.mark.parametrize("padding", [(0.5, 0.0, 0.5, 0.0), (0.0, 0.75, 0.0, 0.5), (0.1, 0.2)])
def test_a_padding_that_leaves_nothing_of_the_image_is_refused(padding):
    with pytest.raises(GraphRunError, match=r"a letterbox that leaves nothing|the padding of a letterbox"):
        detections([(3, [detection()])], padding)
    with pytest.raises(GraphRunError, match=r"a letterbox that leaves nothing|the padding of a letterbox"):
        mapped(landmarks({"x": 0.5}), padding=padding)


def test_other_numbers_of_inputs_than_of_outputs_are_refused():
    with pytest.raises(PenstockError, match="LANDMARKS"):
        run_calculator(
            LandmarkLetterboxRemovalCalculator,
            {("LANDMARKS", 0): [], ("LANDMARKS", 1): [], "LETTERBOX_PADDING": []},
            outputs=["LANDMARKS"],
        )


def test_the_padding_of_each_timestamp_counts():
    given = landmarks({"x": 0.5, "y": 0.5, "z": 0.5})
    paddings = [(0.0, 0.25, 0.0, 0.25), (0.25, 0.0, 0.25, 0.0), (0.0, 0.25, 0.0, 0.25)]

    run = run_calculator(
        LandmarkLetterboxRemovalCalculator,
        {
            ("LANDMARKS", 0): [(i, given) for i in range(3)],
            "LETTERBOX_PADDING": list(enumerate(paddings)),
        },
        outputs=[("LANDMARKS", 0)],
    )

    found = [packet.payload.landmark[0].z for packet in run.outputs["LANDMARKS", 0]]
    assert found == [0.5, 1.0, 0.5]


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------

LEFT_RIGHT, TOP_BOTTOM = (0.2, 0.0, 0.3, 0.0), (0.0, 0.2, 0.0, 0.3)


def at_the_end(calculator, tag, given, padding):
    feeds = {tag: given, "LETTERBOX_PADDING": padding}
    run = run_calculator(
        calculator, {t: [Packet(one, Timestamp.POSTSTREAM)] for t, one in feeds.items()}, outputs=[tag]
    )
    (packet,) = run.outputs[tag]
    return packet.payload


@pytest.mark.reference(
    "calculators/util/detection_letterbox_removal_calculator_test.cc",
    "DetectionLetterboxRemovalCalculatorTest.PaddingLeftRight",
    "DetectionLetterboxRemovalCalculatorTest.PaddingTopBottom",
)
@pytest.mark.parametrize(
    ("padding", "expected"),
    [(LEFT_RIGHT, (0.1, 0.25, 0.5, 0.25)), (TOP_BOTTOM, (0.25, 0.1, 0.25, 0.5))],
)
def test_a_box_loses_its_borders_and_keeps_its_label(padding, expected):
    given = Detection(label=["detected_object"], score=[0.3], feature_tag="feature_tag")
    given.location_data.CopyFrom(detection((0.25, 0.25, 0.25, 0.25), ()).location_data)

    (found,) = at_the_end(DetectionLetterboxRemovalCalculator, "DETECTIONS", [given], padding)

    assert (found.label, found.label_id, found.score) == (given.label, [], given.score)
    assert found.location_data.format == LocationData.RELATIVE_BOUNDING_BOX
    box = found.location_data.relative_bounding_box
    assert (box.xmin, box.ymin, box.width, box.height) == pytest.approx(expected, abs=1e-5)


@pytest.mark.reference(
    "calculators/util/landmark_letterbox_removal_calculator_test.cc",
    "LandmarkLetterboxRemovalCalculatorTest.PaddingLeftRight",
    "LandmarkLetterboxRemovalCalculatorTest.PaddingTopBottom",
)
@pytest.mark.parametrize(("padding", "axis"), [(LEFT_RIGHT, 0), (TOP_BOTTOM, 1)])
def test_landmarks_lose_the_borders_of_one_axis(padding, axis):
    given = landmarks(*({"x": one, "y": one} for one in (0.5, 0.2, 0.7)))

    found = at_the_end(LandmarkLetterboxRemovalCalculator, "LANDMARKS", given, padding)

    moved = [(one.x, one.y)[axis] for one in found.landmark]
    stayed = [(one.y, one.x)[axis] for one in found.landmark]
    assert moved == pytest.approx([0.6, 0.0, 1.0], abs=1e-5)
    assert stayed == pytest.approx([0.5, 0.2, 0.7], abs=1e-5)
