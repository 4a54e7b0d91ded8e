"""Boxes and keypoints as a single-shot detector writes them, measured from anchors, as numbers of detections.

Computed in float32, in the order of MediaPipe's `calculators/tensor/tensors_to_detections_calculator.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from penstock_formats.api import TABLE_HEIGHT, TABLE_KEYPOINTS, TABLE_WIDTH, TABLE_XMIN, TABLE_YMIN
from penstock_tensors.outputs.tensor_numbers import exponential

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_tensors.messages.tensors_to_detections_pb2 import (
        TensorsToDetectionsCalculatorOptions as Options,
    )

_ONE: Final = np.float32(1)
_TWO: Final = np.float32(2)
#: Columns of the numbers of a detection; slices, since what they show is no copy.
LOW: Final = slice(TABLE_XMIN, TABLE_YMIN + 1)
SIZES: Final = slice(TABLE_WIDTH, TABLE_HEIGHT + 1)
_POINTS_Y: Final = slice(TABLE_KEYPOINTS + 1, None, 2)
#: Of an anchor: y, x, height, width.
_X_OF_ANCHOR, _Y_OF_ANCHOR, _HEIGHT_OF_ANCHOR, _WIDTH_OF_ANCHOR = 1, 0, 2, 3


class Anchors(NamedTuple):
    """Anchors, spread over the columns of the numbers of a detection."""

    #: What each number is multiplied by: (n, columns) float32.
    sides: NDArray[np.float32]
    #: What is then added to it: likewise. 0 for the sizes of boxes.
    centers: NDArray[np.float32]


class SsdBoxes:
    """Decodes boxes. It does not change.

    Args:
        options: those of the calculator, which has checked them.
    """

    def __init__(self, options: Options) -> None:
        kind = options.box_format or (options.XYWH if options.reverse_output_order else options.YXHW)
        self._is_xyxy = kind == options.XYXY
        self._has_exponential = options.apply_exponential_on_box_size
        self._is_flipped = options.flip_vertically
        self._columns = _columns(options, kind)
        points = options.num_keypoints
        scales = [1, options.x_scale, options.y_scale, options.w_scale, options.h_scale]
        self._scales = np.array([*scales, *(scales[1:3] * points)], np.float32)
        spread = (_X_OF_ANCHOR, _Y_OF_ANCHOR) * points
        self._center_columns = np.array([_X_OF_ANCHOR, _X_OF_ANCHOR, _Y_OF_ANCHOR, 0, 0, *spread], np.intp)
        spread = (_WIDTH_OF_ANCHOR, _HEIGHT_OF_ANCHOR) * (points + 2)
        self._side_columns = np.array([_WIDTH_OF_ANCHOR, *spread], np.intp)

    def anchors(self, table: NDArray[np.float32]) -> Anchors:
        """Return anchors, given as rows of y, x, height and width."""
        centers = table.take(self._center_columns, 1)
        centers[:, SIZES] = 0
        return Anchors(table.take(self._side_columns, 1), centers)

    def numbers(
        self, boxes: NDArray[np.float32], anchors: Anchors, kept: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the numbers of some detections, as `penstock_formats.detection_table` orders them.

        Args:
            boxes: (n, num_coords), as the model writes them.
            anchors: n of them.
            kept: which of the boxes.

        Returns:
            (kept, 5 + 2 * keypoints) in new memory. The column of the score has any number.
        """
        found = boxes.take(kept, 0).take(self._columns, 1)
        low, sizes = found[:, LOW], found[:, SIZES]
        if self._is_xyxy:
            sizes_now = sizes + low
            np.divide(sizes - low, _TWO, out=low)
            sizes[...] = sizes_now
        found /= self._scales
        if self._has_exponential:
            sizes[...] = exponential(sizes)
        found *= anchors.sides.take(kept, 0)
        found += anchors.centers.take(kept, 0)
        half = sizes / _TWO
        high = low + half
        low -= half
        np.subtract(high, low, out=sizes)
        if self._is_flipped:
            flip(found, high)
        return found

    def corners(self, low: NDArray[np.float32], high: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the numbers of detections without keypoints, as `numbers`.

        Args:
            low: (n, 2): xmin, ymin.
            high: (n, 2): xmax, ymax.
        """
        found = np.zeros((len(low), TABLE_KEYPOINTS), np.float32)
        found[:, LOW] = low
        found[:, SIZES] = high - low
        if self._is_flipped:
            flip(found, high)
        return found


def flip(numbers: NDArray[np.float32], high: NDArray[np.float32]) -> None:
    """Turn detections upside down; `high` has their xmax and ymax."""
    numbers[:, TABLE_YMIN] = _ONE - high[:, 1]
    numbers[:, _POINTS_Y] = _ONE - numbers[:, _POINTS_Y]


def _columns(options: Options, kind: int) -> NDArray[np.intp]:
    """Return which numbers of a raw box are those of a detection; for the score any.

    Of XYXY, the edges take the places of the low edges and the sizes.
    """
    at = options.box_coord_offset
    first = options.keypoint_coord_offset
    places = [at, at + 1, at + 2, at + 3, *range(first, first + 2 * options.num_keypoints)]
    if kind == options.YXHW:
        places = [place for pair in zip(places[1::2], places[::2], strict=True) for place in pair]
    return np.array([places[0], *places], np.intp)
