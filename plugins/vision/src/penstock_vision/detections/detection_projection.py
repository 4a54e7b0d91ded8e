"""DetectionProjectionCalculator: detections in a crop as detections in the image."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData
from penstock_formats.api import TABLE_XMIN, detections_of, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_CORNERS: Final = 4
_MATRIX: Final = 16
#: Where the matrix has the numbers of x and y of the result: from x, from y, and what is added.
_FROM_X, _FROM_Y, _SHIFT = np.array([[[0], [4]], [[1], [5]], [[3], [7]]])


class DetectionProjectionCalculator(penstock.Calculator):
    """Map boxes and keypoints by a matrix, such as an ImageToTensorCalculator writes.

    Inputs: one or more DETECTIONS (list[Detection] with relative bounding boxes); PROJECTION_MATRIX (tuple
    of 16 numbers, row after row, of which x and y use the first two rows). Outputs: as many DETECTIONS (new
    messages; the box becomes the upright one around its four mapped corners). Timestamp offset 0; without a
    matrix nothing is sent.

    Raises in `get_contract`: InvalidArgumentError if there are not as many outputs as inputs. In `process`:
    the same for another format of a location, and for a matrix of another size.

    Source of the behaviour: MediaPipe `calculators/util/detection_projection_calculator.cc`.

    Config::

        node {
          calculator: "DetectionProjectionCalculator"
          input_stream: "DETECTIONS:detections"
          input_stream: "PROJECTION_MATRIX:matrix"
          output_stream: "DETECTIONS:detections_in_image"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out, and the matrix.

        Raises:
            InvalidArgumentError: there are not as many outputs as inputs.
        """
        count = cc.inputs.count("DETECTIONS")
        if not count or count != cc.outputs.count("DETECTIONS"):
            raise InvalidArgumentError(
                f"the projection has {count} inputs and {cc.outputs.count('DETECTIONS')} outputs DETECTIONS, "
                "but each input has an output; connect as many, one at least"
            )
        for i in range(count):
            cc.inputs["DETECTIONS", i].set(list[Detection], "in the crop")
            cc.outputs["DETECTIONS", i].set(list[Detection], "in the image")
        cc.inputs["PROJECTION_MATRIX"].set(tuple, "16 numbers: maps the crop to the image")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Map the detections of one timestamp."""
        matrix_port = cc.inputs["PROJECTION_MATRIX"]
        if matrix_port.is_empty():
            return
        matrix = _matrix(matrix_port)
        for i in range(cc.inputs.count("DETECTIONS")):
            source = cc.inputs["DETECTIONS", i]
            if not source.is_empty():
                cc.outputs["DETECTIONS", i].add(_projected(source.payload, matrix), cc.stamp)


def _matrix(port: Input) -> NDArray[np.float32]:
    matrix = np.asarray(port.payload, np.float32)
    if matrix.shape != (_MATRIX,):
        raise InvalidArgumentError(
            f"input {port.name!r} holds {port.payload!r}, but the matrix of a detection projection is "
            f"{_MATRIX} numbers, row after row"
        )
    return matrix


def _projected(detections: list[Detection], matrix: NDArray[np.float32]) -> list[Detection]:
    table = table_of(detections) if detections else None
    if table is None:
        return [_projected_alone(one, matrix) for one in detections]
    numbers = np.array(table.rows, np.float32)
    _map(numbers[:, TABLE_XMIN:], matrix)
    return detections_of(table.labels, numbers.tolist())


def _projected_alone(detection: Detection, matrix: NDArray[np.float32]) -> Detection:
    """Map a detection of any form, field by field."""
    location = detection.location_data
    if location.format != LocationData.RELATIVE_BOUNDING_BOX:
        raise InvalidArgumentError(
            f"a detection's location has format {LocationData.Format.Name(location.format)}, but it must "
            "be RELATIVE_BOUNDING_BOX for a projection"
        )
    given = location.relative_bounding_box
    keypoints = [number for point in location.relative_keypoints for number in (point.x, point.y)]
    row = np.array([(given.xmin, given.ymin, given.width, given.height, *keypoints)], np.float32)
    _map(row, matrix)
    found = row[0].tolist()
    made = Detection()
    made.CopyFrom(detection)
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = found[:_CORNERS]
    for i, point in enumerate(made.location_data.relative_keypoints):
        point.x, point.y = found[_CORNERS + 2 * i], found[_CORNERS + 2 * i + 1]
    return made


def _map(boxes: NDArray[np.float32], matrix: NDArray[np.float32]) -> None:
    """Map boxes and keypoints in their own memory; a box becomes the one around its mapped corners.

    Args:
        boxes: (n, 4 + 2 * keypoints): xmin, ymin, width and height of the box, x and y of each keypoint.
        matrix: 16 numbers.
    """
    low, sizes = boxes[:, :2], boxes[:, 2:_CORNERS]
    sizes += low
    places = boxes.take(_places(boxes.shape[1]), 1)  # (n, x and y, corners and keypoints)
    mapped = places[:, :1] * matrix[_FROM_X] + places[:, 1:] * matrix[_FROM_Y] + matrix[_SHIFT]
    corners = mapped[:, :, :_CORNERS]
    np.minimum.reduce(corners, axis=2, out=low)
    np.subtract(np.maximum.reduce(corners, axis=2), low, out=sizes)
    boxes[:, _CORNERS::2] = mapped[:, 0, _CORNERS:]
    boxes[:, _CORNERS + 1 :: 2] = mapped[:, 1, _CORNERS:]


@cache
def _places(width: int) -> NDArray[np.intp]:
    """Return the columns of x, then those of y, of the four corners and the keypoints."""
    keypoints = range(_CORNERS, width, 2)
    return np.array(((0, 2, 2, 0, *keypoints), (1, 1, 3, 3, *(i + 1 for i in keypoints))), np.intp)
