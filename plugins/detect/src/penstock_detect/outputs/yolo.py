"""The outputs of the YOLO family: a row, or a column, for each place that may hold a box."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_detect.outputs.found import Found, corners
from penstock_detect.outputs.layouts import Layout
from penstock_detect.outputs.masks import prototypes_of
from penstock_detect.outputs.output_arrays import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_detect.outputs.found import Reading

#: Numbers of a box.
_BOX: Final = 4
#: Of an end-to-end row: the box, its score and its class.
_WHOLE: Final = 6
#: Pixels between the cells of each grid, for the models in use.
STRIDES: Final = ((8, 16, 32), (8, 16, 32, 64), (4, 8, 16, 32))
#: Boxes of a cell of YOLOv5 and v7.
V5_ANCHORS: Final = 3


def cell_counts(width: int, height: int) -> tuple[int, ...]:
    """Return how many cells all grids of a model have together, for each set of `STRIDES`."""
    return tuple(sum((width // stride) * (height // stride) for stride in strides) for strides in STRIDES)


def yolo_v5(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, N, 5 + classes [+ coefficients]): centre, size, whether there is something, classes."""
    (table, further) = _table(arrays, reading, "one output 1 x N x (5 + classes)", least=_BOX + 2)
    near = np.flatnonzero(table[:, _BOX] >= reading.min_score)  # a score is at most that
    chosen = table[near]
    scores = chosen[:, _BOX + 1 : table.shape[1] - further] * chosen[:, _BOX, None]
    return _kept(corners(chosen[:, :_BOX]) * reading.scale, scores, near, reading)


def yolo_v8(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, 4 + classes [+ coefficients], N): centre, size, classes."""
    (table, further) = _table(arrays, reading, "one output 1 x (4 + classes) x N", least=_BOX + 1, axis=0)
    scores = table[_BOX : table.shape[0] - further]
    near = np.flatnonzero(scores.max(axis=0) >= reading.min_score)
    boxes = corners(table[:_BOX, near].T) * reading.scale
    return _kept(boxes, scores[:, near].T, near, reading)


def yolo_v8_pose(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, 4 + classes + key points, N); one class where no names are known."""
    table = _only(arrays, reading, "one output 1 x (4 + classes + key points) x N")
    count = max(reading.classes, 1)
    numbers = table.shape[0] - _BOX - count
    if numbers < reading.keypoint_values or numbers % reading.keypoint_values:
        refuse(
            reading.layout, arrays,
            f"4 numbers of a box, {count} scores, and key points of {reading.keypoint_values} numbers each; "
            "set keypoint_values or give as many labels as there are classes",
        )  # fmt: skip
    scores = table[_BOX : _BOX + count]
    near = np.flatnonzero(scores.max(axis=0) >= reading.min_score)
    found = _kept(corners(table[:_BOX, near].T) * reading.scale, scores[:, near].T, near, reading)
    return found._replace(points=_points(table[_BOX + count :, found.rows].T, reading))


def end_to_end(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, N, 6 [+ key points or coefficients]): left, top, right, bottom, score, class."""
    table = _first(
        arrays,
        reading,
        "an output 1 x N x 6, and more numbers in each row where there are masks or key points",
    )
    is_plain = reading.layout == Layout.YOLO_END_TO_END
    if table.shape[1] < _WHOLE or (is_plain and table.shape[1] != _WHOLE):
        refuse(reading.layout, arrays, "rows of 6 numbers: left, top, right, bottom, score, class")
    near = np.flatnonzero(table[:, _BOX] >= reading.min_score)
    chosen = table[near]
    points = None
    if reading.layout == Layout.YOLO_END_TO_END_POSE:
        if (table.shape[1] - _WHOLE) % reading.keypoint_values or table.shape[1] == _WHOLE:
            refuse(reading.layout, arrays, f"6 numbers and key points of {reading.keypoint_values} each")
        points = _points(chosen[:, _WHOLE:], reading)
    classes = np.rint(chosen[:, _BOX + 1]).astype(np.intp)
    return Found(chosen[:, :_BOX] * reading.scale, chosen[:, _BOX], classes, points, near)


def yolox(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, N, 5 + classes) whose boxes are measured from the cells of grids."""
    table = _only(arrays, reading, "one output 1 x N x (5 + classes)")
    cells = _cells(reading.width, reading.height, table.shape[0])
    if cells is None or table.shape[1] < _BOX + 2:
        counts = " or ".join(map(str, cell_counts(reading.width, reading.height)))
        refuse(
            reading.layout, arrays,
            f"one output 1 x N x (5 + classes) with N = {counts} for an input of "
            f"{reading.width}x{reading.height}",
        )  # fmt: skip
    near = np.flatnonzero(table[:, _BOX] >= reading.min_score)
    chosen, places, strides = table[near], cells[0][near], cells[1][near]
    with np.errstate(over="ignore"):
        boxes = np.concatenate(
            [(chosen[:, :2] + places) * strides, np.exp(chosen[:, 2:_BOX]) * strides], axis=1
        )
    scores = chosen[:, _BOX + 1 :] * chosen[:, _BOX, None]
    return _kept(corners(boxes) * reading.pixel_scale, scores, near, reading)


@lru_cache(maxsize=16)
def _cells(width: int, height: int, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """Return column and row of each cell, (n, 2), and the pixels between cells, (n, 1); None: no such."""
    for strides, cells in zip(STRIDES, cell_counts(width, height), strict=True):
        if cells == count:
            places, sizes = [], []
            for stride in strides:
                rows, columns = np.mgrid[: height // stride, : width // stride]
                places.append(np.stack([columns.ravel(), rows.ravel()], axis=1))
                sizes.append(np.full((rows.size, 1), stride))
            return np.concatenate(places).astype(np.float32), np.concatenate(sizes).astype(np.float32)
    return None


def _kept(
    boxes: NDArray[np.float32], scores: NDArray[np.float32], near: NDArray[np.intp], reading: Reading
) -> Found:
    """Return those whose best class scores enough.

    Args:
        boxes: (n, 4), in fractions of the input.
        scores: (n, classes).
        near: (n,): the rows of the output.
        reading: has the least score.
    """
    classes = scores.argmax(axis=1)
    best = scores[np.arange(len(scores)), classes]
    return Found(boxes, best, classes, None, near).chosen(best >= reading.min_score)


def _points(numbers: NDArray[np.float32], reading: Reading) -> NDArray[np.float32]:
    """Return key points of rows of numbers, in fractions of the input."""
    count = numbers.shape[1] // reading.keypoint_values
    points = numbers.reshape(len(numbers), count, reading.keypoint_values).copy()
    points[..., :2] *= reading.scale[:2]
    return points


def _table(
    arrays: Sequence[NDArray[Any]], reading: Reading, wanted: str, *, least: int, axis: int = 1
) -> tuple[NDArray[np.float32], int]:
    """Return the numbers of all places, and how many at the end of each are coefficients of a mask."""
    if reading.layout not in (Layout.YOLO_V5_SEGMENT, Layout.YOLO_V8_SEGMENT):
        table, further = _only(arrays, reading, wanted), 0
    else:
        table = _first(arrays, reading, f"{wanted}, with the coefficients of masks, and the masks")
        size = (reading.width, reading.height)
        further = len(prototypes_of(arrays, reading.layout, reading.mask_axes, size).table)
    if table.shape[axis] < least + further:
        refuse(reading.layout, arrays, wanted)
    return table, further


def _only(arrays: Sequence[NDArray[Any]], reading: Reading, wanted: str) -> NDArray[np.float32]:
    if len(arrays) != 1:
        refuse(reading.layout, arrays, wanted)
    return _first(arrays, reading, wanted)


def _first(arrays: Sequence[NDArray[Any]], reading: Reading, wanted: str) -> NDArray[np.float32]:
    """Return the first output without its dimension of batches."""
    if not arrays or arrays[0].ndim != 3 or arrays[0].shape[0] != 1:  # noqa: PLR2004  # batch, rows, columns
        refuse(reading.layout, arrays, wanted)
    table: NDArray[np.float32] = arrays[0][0]
    return table
