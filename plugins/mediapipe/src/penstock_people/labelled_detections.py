"""LandmarksToLabelledDetectionsCalculator: a box with a label around each list of landmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import (
    ClassificationList,
    Detection,
    LocationData,
    NormalizedLandmarkList,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Around the landmarks, as a share of the box's height.
_MARGIN: Final = 0.125


class LandmarksToLabelledDetectionsCalculator(penstock.Calculator):
    """Make a detection of each list of landmarks: a box around them, with a label.

    Inputs: LANDMARKS (list[NormalizedLandmarkList]), CLASSIFICATIONS (list[ClassificationList], as many).
    Output: DETECTIONS (list[Detection]): box i is around landmarks i, and has the labels and scores of
    classification i, in order; it has a margin of an eighth of its height, with room for a label. Nothing
    is sent at a timestamp at which an input has no packet. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for another number of classifications than of lists, or a list
    without landmarks.

    Config::

        node {
          calculator: "LandmarksToLabelledDetectionsCalculator"
          input_stream: "LANDMARKS:hands"
          input_stream: "CLASSIFICATIONS:handedness"
          output_stream: "DETECTIONS:labelled_hands"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two lists in and one out."""
        cc.inputs["LANDMARKS"].set(list[NormalizedLandmarkList], "landmarks of each hand or face")
        cc.inputs["CLASSIFICATIONS"].set(list[ClassificationList], "what each is")
        cc.outputs["DETECTIONS"].set(list[Detection], "a box with a label around each")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make the detections of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        landmarks, classes = cc.inputs["LANDMARKS"], cc.inputs["CLASSIFICATIONS"]
        if landmarks.is_empty() or classes.is_empty():
            return
        if len(landmarks.payload) != len(classes.payload):
            raise InvalidArgumentError(
                f"input {classes.name!r} has {len(classes.payload)} labels, but input {landmarks.name!r} has "
                f"{len(landmarks.payload)} lists of landmarks at timestamp {cc.stamp}; send as many of both"
            )
        detections = [
            _detection(points, found)
            for points, found in zip(landmarks.payload, classes.payload, strict=True)
        ]
        cc.outputs["DETECTIONS"].add(detections, cc.stamp)


def _detection(landmarks: NormalizedLandmarkList, found: ClassificationList) -> Detection:
    left, top, right, bottom = box(landmarks)
    margin = _MARGIN * (bottom - top)
    return Detection(
        label=[one.label for one in found.classification],
        score=[one.score for one in found.classification],
        location_data={
            "format": LocationData.RELATIVE_BOUNDING_BOX,
            "relative_bounding_box": {
                "xmin": left - margin,
                "ymin": top - margin,
                "width": right - left + 2 * margin,
                "height": bottom - top + 2 * margin,
            },
        },
    )


def box(landmarks: NormalizedLandmarkList) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the box around landmarks.

    Raises:
        InvalidArgumentError: there are no landmarks.
    """
    if not landmarks.landmark:
        raise InvalidArgumentError(
            "a list of landmarks is empty, but the box of a labelled detection is around one or more; drop "
            "it before"
        )
    xs = [point.x for point in landmarks.landmark]
    ys = [point.y for point in landmarks.landmark]
    return min(xs), min(ys), max(xs), max(ys)
