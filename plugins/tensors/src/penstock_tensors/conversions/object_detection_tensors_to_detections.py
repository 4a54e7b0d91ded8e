"""ObjectDetectionTensorsToDetectionsCalculator: boxes, scores and classes of a model as detections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData, Tensor
from penstock_tensors.conversions.tensor_squeeze_dimensions import squeezed
from penstock_tensors.messages.object_detection_tensors_to_detections_pb2 import (
    ObjectDetectionsTensorToDetectionsCalculatorOptions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_COORDINATES: Final = 4
#: Tag → dimensions of its tensor.
_DIMENSIONS: Final = {"BOXES": 2, "CLASSES": 1, "KEYPOINTS": 3, "MASKS": 3}
#: Tags of tensors that `tensor_dim_to_squeeze` is for.
_SQUEEZED: Final = ("BOXES", "SCORES", "CLASSES", "NUM_DETECTIONS")


class ObjectDetectionTensorsToDetectionsCalculator(penstock.Calculator):
    """Make detections of the tensors of an object detection model.

    Inputs (Tensor, float32): BOXES (n x 4: ymin, xmin, ymax, xmax in fractions of the image); SCORES (n;
    without CLASSES n x classes, of which the best counts); CLASSES (n, optional); NUM_DETECTIONS (one
    number, float32 or int32, needed with CLASSES: so many rows count); KEYPOINTS (n x points x 2, optional:
    y, x); MASKS (n x height x width, optional). Input side packet LABELMAP (dict from int to str, optional:
    labels instead of label ids). Output: DETECTIONS (list of Detection with a relative box; with MASKS a
    mask). Timestamp offset 0.

    Options `ObjectDetectionsTensorToDetectionsCalculatorOptions`: `mask_threshold` (0): pixels above it are
    in the mask; `tensor_dim_to_squeeze`: dimensions of size 1, counted from 0, that BOXES, SCORES, CLASSES
    and NUM_DETECTIONS have too much.

    Raises in `get_contract`: InvalidArgumentError for CLASSES without NUM_DETECTIONS, and with MASKS for a
    mask_threshold outside of 0 to 1. In `process`: the same for a tensor of another type or shape, with fewer
    rows than there are detections, and a class without a label.

    Source of the behaviour: MediaPipe
    `calculators/tensorflow/object_detection_tensors_to_detections_calculator.cc` and
    `util/tensor_to_detection.cc`.

    Config::

        node {
          calculator: "ObjectDetectionTensorsToDetectionsCalculator"
          input_stream: "NUM_DETECTIONS:count"
          input_stream: "BOXES:boxes"
          input_stream: "SCORES:scores"
          input_stream: "CLASSES:classes"
          output_stream: "DETECTIONS:detections"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the tensors and the detections.

        Raises:
            InvalidArgumentError: CLASSES is connected without NUM_DETECTIONS, or mask_threshold is out of
            range.
        """
        cc.inputs["BOXES"].set(Tensor, "n x 4: ymin, xmin, ymax, xmax")
        cc.inputs["SCORES"].set(Tensor, "n, or n x classes")
        cc.inputs["NUM_DETECTIONS"].set(Tensor, "how many rows count").optional()
        cc.inputs["CLASSES"].set(Tensor, "n").optional()
        cc.inputs["KEYPOINTS"].set(Tensor, "n x points x 2: y, x").optional()
        cc.inputs["MASKS"].set(Tensor, "n x height x width").optional()
        cc.input_side_packets["LABELMAP"].set(dict, "class to label").optional()
        cc.outputs["DETECTIONS"].set(list[Detection], "the detections")
        if "CLASSES" in cc.inputs and "NUM_DETECTIONS" not in cc.inputs:
            raise InvalidArgumentError(
                "the detections' input CLASSES needs the input NUM_DETECTIONS; connect it too"
            )
        threshold = cc.options(ObjectDetectionsTensorToDetectionsCalculatorOptions).mask_threshold
        if "MASKS" in cc.inputs and not 0 <= threshold <= 1:
            raise InvalidArgumentError(
                f"the detections' mask_threshold is {threshold:g}, but must be from 0 to 1; change it in the "
                "options"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options and labels."""
        options = cc.options(ObjectDetectionsTensorToDetectionsCalculatorOptions)
        self._threshold = options.mask_threshold
        self._left_out = list(options.tensor_dim_to_squeeze)
        sides = cc.input_side_packets
        self._labels: Mapping[int, str] = sides["LABELMAP"].get(dict) if "LABELMAP" in sides else {}
        self._tags = [tag for tag in (*_SQUEEZED, "KEYPOINTS", "MASKS") if tag in cc.inputs]

    def process(self, cc: CalculatorContext) -> None:
        """Make the detections of one timestamp."""
        empty = [tag for tag in self._tags if cc.inputs[tag].is_empty()]
        if len(empty) == len(self._tags):
            return
        if empty:
            raise InvalidArgumentError(
                f"the detection tensors are not complete: there is no packet on {', '.join(empty)}, but each "
                "timestamp needs all tensors; look at the nodes that make them"
            )
        tensors = {tag: self._array(cc, tag) for tag in self._tags}
        count = self._count(tensors)
        scores, classes = self._best(tensors)
        found = []
        for i in range(count):
            detection = self._detection(tensors["BOXES"][i], scores[i], int(classes[i]))
            self._locate(detection.location_data, tensors, i)
            found.append(detection)
        cc.outputs["DETECTIONS"].add(found, cc.stamp)

    def _array(self, cc: CalculatorContext, tag: str) -> NDArray[Any]:
        """Return the elements of an input, in the dimensions that are read."""
        port = cc.inputs[tag]
        tensor: Tensor = port.payload
        array = squeezed(tensor, self._left_out, port.name) if tag in _SQUEEZED else tensor.array
        wanted = _DIMENSIONS.get(tag)
        if tag == "SCORES":
            wanted = 1 if "CLASSES" in cc.inputs else 2
        is_right = array.dtype == np.float32 or (tag == "NUM_DETECTIONS" and array.dtype == np.int32)
        if not is_right or (wanted is not None and array.ndim != wanted) or not self._is_shaped(tag, array):
            raise InvalidArgumentError(
                f"input {tag} holds {tensor!r}, but an object detection is read of float32 of "
                f"{wanted or 'any'} dimensions, for BOXES 4 numbers in each row, for KEYPOINTS 2, one number "
                "for NUM_DETECTIONS; correct the model's outputs, or tensor_dim_to_squeeze"
            )
        return array

    @staticmethod
    def _is_shaped(tag: str, array: NDArray[Any]) -> bool:
        if tag == "BOXES":
            return bool(array.shape[1] == _COORDINATES)
        if tag == "KEYPOINTS":
            return bool(array.shape[2] == 2)  # noqa: PLR2004  # y and x
        if tag == "NUM_DETECTIONS":
            return array.size == 1
        return 0 not in array.shape[1:]

    @staticmethod
    def _count(tensors: Mapping[str, NDArray[Any]]) -> int:
        """Return how many detections there are.

        Raises:
            InvalidArgumentError: a tensor has fewer rows.
        """
        boxes = len(tensors["BOXES"])
        count = int(tensors["NUM_DETECTIONS"].item()) if "NUM_DETECTIONS" in tensors else boxes
        for tag, array in tensors.items():
            if tag != "NUM_DETECTIONS" and len(array) < count:
                raise InvalidArgumentError(
                    f"input {tag} of object detection holds {len(array)} rows, but there are {count} "
                    "detections; look at the model"
                )
        return max(count, 0)

    @staticmethod
    def _best(tensors: Mapping[str, NDArray[Any]]) -> tuple[list[float], list[float]]:
        """Return the score and the class of each row."""
        scores = tensors["SCORES"]
        if "CLASSES" in tensors:
            return scores.tolist(), tensors["CLASSES"].tolist()
        best = scores.argmax(axis=1)
        return scores[np.arange(len(scores)), best].tolist(), best.tolist()

    def _detection(self, box: NDArray[np.float32], score: float, number: int) -> Detection:
        made = Detection(score=[score])
        if not self._labels:
            made.label_id.append(number)
        elif number in self._labels:
            made.label.append(self._labels[number])
        else:
            raise InvalidArgumentError(
                f"a detected object is of class {number}, which side packet LABELMAP lacks; add its label"
            )
        ymin, xmin, ymax, xmax = box
        place = made.location_data
        place.format = LocationData.RELATIVE_BOUNDING_BOX
        relative = place.relative_bounding_box
        relative.xmin, relative.ymin = float(xmin), float(ymin)
        relative.width, relative.height = float(xmax - xmin), float(ymax - ymin)
        return made

    def _locate(self, place: LocationData, tensors: Mapping[str, NDArray[Any]], i: int) -> None:
        """Add key points and mask."""
        if "KEYPOINTS" in tensors:
            for y, x in tensors["KEYPOINTS"][i].tolist():
                place.relative_keypoints.add(x=x, y=y)
        if "MASKS" in tensors:
            mask = tensors["MASKS"][i]
            place.format = LocationData.MASK
            place.mask.height, place.mask.width = mask.shape
            for y, left, right in _runs((mask > self._threshold) & (mask > 0)):
                place.mask.rasterization.interval.add(y=y, left_x=left, right_x=right)


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return row, first and last column of each run of pixels, row by row."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    return [(int(y), int(left), int(right) - 1) for (y, left), (_, right) in zip(starts, ends, strict=True)]
