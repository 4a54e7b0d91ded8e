"""DetectionsToJsonCalculator: what was found as lines of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import cv2

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, Detection, ImageFormat, ImageFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorContext, CalculatorContract

#: The form of the numbers: digits behind the point.
_PLACE, _SCORE = 5, 4


class DetectionsToJsonCalculator(penstock.Calculator):
    """Makes a line of JSON for each image with all that was found in it, for files, pipes, MQTT and Kafka.

    Inputs: either DETECTIONS (list[Detection] with relative boxes) and perhaps MASKS (list[ImageFrame],
    GRAY8, a mask of the whole image for each), or CLASSIFICATIONS (ClassificationList). Output: JSON (str,
    without a line end): an object with `timestamp`, microseconds, and `detections` or `classes`. A detection
    has `id` (of a track), `label`, `class` (its number), `score` (4 digits), `box` (left, top, right,
    bottom), `keypoints` (a list of [x, y] or [x, y, score]) and with MASKS `polygons` (the outlines of the
    parts of the mask, each a list of [x, y]); what it does not have is left out. A class has `label`, `class`
    and `score`. Places are fractions of the image, with 5 digits. Timestamp offset 0.

    Raises when the graph is loaded: InvalidArgumentError unless exactly one of DETECTIONS and CLASSIFICATIONS
    is connected. In `process`: the same for another number of masks than detections, and for masks that are
    not GRAY8.

    Config::

        node {
          calculator: "DetectionsToJsonCalculator"
          input_stream: "DETECTIONS:detections"
          output_stream: "JSON:lines"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: as the class says.
        """
        has_detections, has_classes = "DETECTIONS" in cc.inputs, "CLASSIFICATIONS" in cc.inputs
        if has_detections == has_classes:
            raise InvalidArgumentError(
                f"JSON is made of DETECTIONS or of CLASSIFICATIONS, but "
                f"{'both' if has_classes else 'neither'} are connected; connect exactly one of them"
            )
        if has_classes:
            cc.inputs["CLASSIFICATIONS"].set(ClassificationList, "what each image is")
        else:
            cc.inputs["DETECTIONS"].set(list[Detection], "what was found")
            cc.inputs["MASKS"].set(list[ImageFrame], "a mask for each detection").optional()
        cc.outputs["JSON"].set(str, "an object")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """See what is connected."""
        self._has_classes = "CLASSIFICATIONS" in cc.inputs
        self._has_masks = "MASKS" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Make one line.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if any(port.is_empty() for port in cc.inputs):
            return
        line: dict[str, object] = {"timestamp": int(cc.stamp)}
        if self._has_classes:
            line["classes"] = classes_as_data(cc.inputs["CLASSIFICATIONS"].payload)
        else:
            masks = cc.inputs["MASKS"].payload if self._has_masks else None
            line["detections"] = detections_as_data(cc.inputs["DETECTIONS"].payload, masks)
        cc.outputs["JSON"].add(json.dumps(line, separators=(",", ":")), cc.stamp)


def classes_as_data(found: ClassificationList) -> list[dict[str, object]]:
    """Return the classes of an image as JSON has them."""
    return [
        {
            **({"label": one.label} if one.label else {}),
            "class": one.index,
            "score": round(one.score, _SCORE),
        }
        for one in found.classification
    ]


def detections_as_data(
    detections: Sequence[Detection], masks: Sequence[ImageFrame] | None = None
) -> list[dict[str, object]]:
    """Return detections as JSON has them.

    Args:
        detections: with relative boxes.
        masks: a mask for each, GRAY8.

    Raises:
        InvalidArgumentError: there are not as many masks as detections, or they are not GRAY8.
    """
    made = [_as_data(one) for one in detections]
    if masks is not None:
        if len(masks) != len(made):
            raise InvalidArgumentError(
                f"there are {len(masks)} masks for JSON, but {len(made)} detections; give one for each"
            )
        for one, mask in zip(made, masks, strict=True):
            one["polygons"] = polygons_of(mask)
    return made


def _as_data(detection: Detection) -> dict[str, object]:
    location = detection.location_data
    box = location.relative_bounding_box
    edges = (box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height)
    made: dict[str, object] = {"id": detection.detection_id} if detection.HasField("detection_id") else {}
    made |= {"label": detection.label[0]} if detection.label else {}
    made |= {"class": detection.label_id[0]} if detection.label_id else {}
    made |= {"score": round(detection.score[0], _SCORE)} if detection.score else {}
    made["box"] = [round(edge, _PLACE) for edge in edges]
    if location.relative_keypoints:
        made["keypoints"] = [
            [
                round(point.x, _PLACE),
                round(point.y, _PLACE),
                *([round(point.score, _SCORE)] if point.HasField("score") else []),
            ]
            for point in location.relative_keypoints
        ]
    return made


def polygons_of(mask: ImageFrame) -> list[list[list[float]]]:
    """Return the outlines of the parts of a mask, through the centres of its outer pixels, without holes.

    Raises:
        InvalidArgumentError: the mask is not GRAY8.
    """
    if mask.format is not ImageFormat.GRAY8:
        raise InvalidArgumentError(
            f"a detection's mask has the format {mask.format.name}, but JSON has masks of GRAY8; convert it "
            "before"
        )
    found, _ = cv2.findContours(mask.array, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return [
        [
            [round((x + 0.5) / mask.width, _PLACE), round((y + 0.5) / mask.height, _PLACE)]
            for x, y in outline[:, 0].tolist()
        ]
        for outline in found
    ]
