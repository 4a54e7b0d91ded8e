"""DetectionsDeduplicateCalculator: one detection for each box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class DetectionsDeduplicateCalculator(penstock.Calculator):
    """Joins detections with the same box in pixels: one stays, with the labels and scores of all.

    Input 0 and output 0 (list[Detection] with bounding boxes in pixels); detections are copied. The first
    of some with equal boxes stays in its place, and the scores, labels, label ids and display names of the
    others are appended to its own, in order. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for a detection without a bounding box in pixels.

    Source of the behaviour: MediaPipe `calculators/util/detections_deduplicate_calculator.cc`.

    Config::

        node {
          calculator: "DetectionsDeduplicateCalculator"
          input_stream: "detections"
          output_stream: "detections_of_boxes"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out."""
        cc.inputs[0].set(list[Detection], "detections with boxes in pixels")
        cc.outputs[0].set(list[Detection], "one for each box")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Join the detections of one list."""
        if cc.input.is_empty():
            return
        of_boxes: dict[tuple[int, int, int, int], Detection] = {}
        for detection in cc.input.payload:
            place = detection.location_data
            if not place.HasField("bounding_box"):
                raise InvalidArgumentError(
                    f"a detection's location has format {LocationData.Format.Name(place.format)} and no "
                    "bounding_box, but to deduplicate, boxes in pixels are compared; put a "
                    "DetectionTransformationCalculator before"
                )
            box = place.bounding_box
            key = (box.xmin, box.ymin, box.width, box.height)
            if key in of_boxes:
                _append(of_boxes[key], detection)
            else:
                of_boxes[key] = Detection()
                of_boxes[key].CopyFrom(detection)
        cc.output.add(list(of_boxes.values()), cc.stamp)


def _append(to: Detection, other: Detection) -> None:
    """Append what another detection says of the same box."""
    to.score.extend(other.score)
    to.label.extend(other.label)
    to.label_id.extend(other.label_id)
    to.display_name.extend(other.display_name)
