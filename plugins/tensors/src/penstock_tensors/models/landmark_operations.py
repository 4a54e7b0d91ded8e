"""The custom operations of MediaPipe's face model with attention, in NumPy.

Each step rounds to float32 where the reference's does, so results are equal to its results bit by bit.
Source: MediaPipe `util/tflite/operations/`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_tensors.models.float_math import atan2f

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.custom_ops import CustomOp, Kernel

    Floats = NDArray[np.float32]

_XY: Final = 2
_XYZ: Final = 3


def landmarks_to_transform_matrix(attributes: Mapping[str, Any]) -> Kernel:
    """Make the matrix from a patch to the region of some landmarks: (1, n, 3) to (1, 4, 4).

    Attributes: `subset_idxs`: the landmarks; `left_rotation_idx` and `right_rotation_idx`: two that become
    level, but for `target_rotation_radians`; `scale_x`, `scale_y`: the region in boxes around the landmarks;
    `output_width`, `output_height`: of the patch.
    """
    left, right = _index(attributes, "left_rotation_idx"), _index(attributes, "right_rotation_idx")
    target = np.float32(attributes["target_rotation_radians"])
    subset = np.array(attributes["subset_idxs"], np.intp).ravel()
    if not subset.size:
        raise InvalidArgumentError(
            "the operation Landmarks2TransformMatrix has no subset_idxs; get the model again"
        )
    columns, rows = _above_0(attributes, "output_width"), _above_0(attributes, "output_height")
    scale_x, scale_y = _above_0(attributes, "scale_x"), _above_0(attributes, "scale_y")
    back = _shift(-columns / np.float32(2), -rows / np.float32(2))

    def run(inputs: Sequence[Floats]) -> list[Floats]:
        points = inputs[0].reshape(-1, _XYZ)
        across, down = points[right, 0] - points[left, 0], points[right, 1] - points[left, 1]
        turn = target - np.float32(atan2f(float(down), float(across)))
        cos, sin = np.float32(math.cos(turn)), np.float32(math.sin(turn))
        x, y = points[subset, 0], points[subset, 1]
        turned_x, turned_y = cos * x - sin * y, sin * x + cos * y
        most_x, least_x = turned_x.max(), turned_x.min()
        most_y, least_y = turned_y.max(), turned_y.min()
        middle_x, middle_y = (least_x + most_x) / np.float32(2), (least_y + most_y) / np.float32(2)
        made = _shift(cos * middle_x + sin * middle_y, -sin * middle_x + cos * middle_y)
        made = _product(made, _rotation(cos, -sin))
        made = _product(
            made, _scale(scale_x * (most_x - least_x) / columns, scale_y * (most_y - least_y) / rows)
        )
        return [_product(made, back).reshape(1, 4, 4)]

    return run


def transform_tensor_bilinear(attributes: Mapping[str, Any]) -> Kernel:
    """Cut a patch out of a tensor: (1, h, w, c) and a matrix to (1, output_height, output_width, c)."""
    columns, rows = int(_above_0(attributes, "output_width")), int(_above_0(attributes, "output_height"))
    x = np.arange(columns, dtype=np.float32)[None, :]
    y = np.arange(rows, dtype=np.float32)[:, None]

    def run(inputs: Sequence[Floats]) -> list[Floats]:
        data, matrix = inputs[0], inputs[1].ravel()
        height, width = data.shape[1:3]
        at_x, at_y = _position(matrix[0:4], x, y), _position(matrix[4:8], x, y)
        inside = ~((at_x < 0) | (at_x > width - 1) | (at_y < 0) | (at_y > height - 1))
        column = np.where(inside, np.floor(at_x), 0).astype(np.intp)
        row = np.where(inside, np.floor(at_y), 0).astype(np.intp)
        beside = np.where(inside, at_x - column, 0).astype(np.float32)[..., None]
        below = np.where(inside, at_y - row, 0).astype(np.float32)[..., None]
        # One row and one column of zeros more: what is beyond the edge.
        grid = np.zeros((height + 1, width + 1, data.shape[3]), np.float32)
        grid[:height, :width] = data[0]
        upper = _mixed(grid[row, column], grid[row, column + 1], beside)
        lower = _mixed(grid[row + 1, column], grid[row + 1, column + 1], beside)
        made = _mixed(upper, lower, below)
        made[~inside] = 0
        return [made[None]]

    return run


def transform_landmarks(attributes: Mapping[str, Any]) -> Kernel:
    """Apply a matrix to x and y of landmarks: (1, n, 2 or 3) and a matrix to the same shape."""
    del attributes  # this version of the operation has none

    def run(inputs: Sequence[Floats]) -> list[Floats]:
        landmarks, matrix = inputs[0], inputs[1].ravel()
        size = landmarks.shape[-1]
        if size not in (_XY, _XYZ):
            raise InvalidArgumentError(
                f"the operation TransformLandmarks got landmarks of {size} numbers, but takes 2 or 3; get "
                "the model again"
            )
        made = landmarks.copy()
        x, y = landmarks[..., 0], landmarks[..., 1]
        made[..., 0] = matrix[0] * x + matrix[1] * y + matrix[3]
        made[..., 1] = matrix[4] * x + matrix[5] * y + matrix[7]
        return [made]

    return run


#: Name and version → the operation.
OPERATIONS: Final[dict[tuple[str, int], CustomOp]] = {
    ("Landmarks2TransformMatrix", 2): landmarks_to_transform_matrix,
    ("TransformTensorBilinear", 2): transform_tensor_bilinear,
    ("TransformLandmarks", 2): transform_landmarks,
}


def _position(row: Floats, x: Floats, y: Floats) -> Floats:
    """Return one coordinate of each pixel of a patch, measured from the middle of pixels."""
    m0, m1, _, m3 = (float(number) for number in row)
    shift = np.float32(m3 + (m0 * 0.5 + m1 * 0.5 - 0.5))  # the reference computes this sum in double
    found: Floats = row[0] * x + row[1] * y + shift
    return found


def _mixed(first: Floats, second: Floats, part: Floats) -> Floats:
    """Return (1 - part) of the first and part of the second; the reference computes the sum in double."""
    rest = (1.0 - part.astype(np.float64)) * first
    made: Floats = (rest + part * second).astype(np.float32)
    return made


def _shift(x: np.float32, y: np.float32) -> Floats:
    return np.array([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)


def _rotation(cos: np.float32, sin: np.float32) -> Floats:
    return np.array([[cos, -sin, 0, 0], [sin, cos, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)


def _scale(x: np.float32, y: np.float32) -> Floats:
    return np.array([[x, 0, 0, 0], [0, y, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)


def _product(left: Floats, right: Floats) -> Floats:
    """Return the product of two 4 x 4 matrices, summed from the first to the last; `@` may sum otherwise."""
    made: Floats = left[:, 0:1] * right[0]
    for k in range(1, 4):
        made += left[:, k : k + 1] * right[k]
    return made


def _index(attributes: Mapping[str, Any], name: str) -> int:
    found = int(attributes[name])
    if found < 0:
        raise InvalidArgumentError(
            f"a landmark operation of the model has the {name} {found}, but needs 0 or more"
        )
    return found


def _above_0(attributes: Mapping[str, Any], name: str) -> np.float32:
    found = np.float32(attributes[name])
    if not found > 0:
        raise InvalidArgumentError(
            f"a landmark operation of the model has the {name} {found:g}, but needs one above 0"
        )
    return found
