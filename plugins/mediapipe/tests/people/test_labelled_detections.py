"""LandmarksToLabelledDetectionsCalculator: boxes with labels around landmarks."""

from __future__ import annotations

import pytest

from penstock.errors import GraphRunError
from penstock_formats import ClassificationList, Detection, LocationData, NormalizedLandmarkList
from penstock_people.labelled_detections import LandmarksToLabelledDetectionsCalculator
from penstock_testing import run_calculator

HAND = NormalizedLandmarkList(
    landmark=[{"x": 0.5, "y": 0.25}, {"x": 0.25, "y": 0.75}, {"x": 0.375, "y": 0.5}]
)
LEFT = ClassificationList(classification=[{"index": 0, "label": "Left", "score": 0.75}])
RIGHT = ClassificationList(classification=[{"index": 1, "label": "Right", "score": 0.5}])


def detections(landmarks: list, classes: list) -> list[Detection]:
    run = run_calculator(
        LandmarksToLabelledDetectionsCalculator,
        {"LANDMARKS": [(3, landmarks)], "CLASSIFICATIONS": [(3, classes)]},
        outputs=["DETECTIONS"],
    )
    (packet,) = run.outputs["DETECTIONS"]
    assert packet.timestamp == 3
    return packet.payload


def test_each_box_is_around_its_landmarks_with_a_margin_and_has_its_label():
    first, second = detections([HAND, HAND], [LEFT, RIGHT])

    assert (list(first.label), list(first.score)) == (["Left"], [0.75])
    assert (list(second.label), list(second.score)) == (["Right"], [0.5])
    assert first.location_data.format == LocationData.RELATIVE_BOUNDING_BOX
    box = first.location_data.relative_bounding_box
    # an eighth of the height of 0.5 on each side
    assert (box.xmin, box.ymin, box.width, box.height) == (0.1875, 0.1875, 0.375, 0.625)


def test_nothing_is_sent_where_an_input_has_no_packet():
    run = run_calculator(
        LandmarksToLabelledDetectionsCalculator,
        {"LANDMARKS": [(1, [HAND]), (2, [HAND])], "CLASSIFICATIONS": [(2, [LEFT]), (3, [LEFT])]},
        outputs=["DETECTIONS"],
    )

    assert [packet.timestamp for packet in run.outputs["DETECTIONS"]] == [2]


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        ([HAND, HAND], "has 1 labels, but input .* has 2 lists of landmarks at timestamp 3"),
        (
            [NormalizedLandmarkList()],
            "a list of landmarks is empty, but the box of a labelled detection is around one or more",
        ),
    ],
)
def test_what_has_no_box_or_label_is_refused(landmarks, message):
    with pytest.raises(GraphRunError, match=message):
        detections(landmarks, [LEFT])
