"""The custom operation Resampler, in NumPy: values of an image at given points.

Each step rounds to float32 where the reference's does. Source: MediaPipe
`util/tflite/operations/resampler.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.custom_ops import CustomOp, Kernel

    Floats = NDArray[np.float32]

_DIMENSIONS: Final = 4
_XY: Final = 2
_ZERO: Final = np.float32(0)
_ONE: Final = np.float32(1)


def resampler(attributes: Mapping[str, Any]) -> Kernel:
    """Read an image at points: (b, h, w, c) and points (b, h, w, 2), as x and y in pixels, to (b, h, w, c).

    Between pixels the value is bilinear. Beyond the edge pixels are 0; a point that is a pixel or more
    outside, or no number, gives 0.
    """
    del attributes  # the operation has none

    def run(inputs: Sequence[Floats]) -> list[Floats]:
        source, points = inputs
        if source.ndim != _DIMENSIONS or points.shape != (*source.shape[:3], _XY):
            raise InvalidArgumentError(
                f"the operation Resampler got an image of shape {source.shape} and points of shape "
                f"{points.shape}, but takes (batch, height, width, channels) and (batch, height, width, 2); "
                "get the model again"
            )
        return [np.stack([_resampled(*one) for one in zip(source, points, strict=True)])]

    return run


#: Name and version → the operation.
OPERATIONS: Final[dict[tuple[str, int], CustomOp]] = {("Resampler", 1): resampler}


def _resampled(image: Floats, points: Floats) -> Floats:
    """Return the values of one image (h, w, c) at points (h, w, 2)."""
    height, width, channels = image.shape
    x, y = points[..., 0], points[..., 1]
    inside = (x > -1) & (y > -1) & (x < width) & (y < height)
    x, y = np.where(inside, x, _ZERO), np.where(inside, y, _ZERO)
    left, top = np.floor(x), np.floor(y)
    dx, dy = (left + _ONE - x)[..., None], (top + _ONE - y)[..., None]
    # a border of zeros: the pixels beyond the edge
    grid = np.zeros((height + 2, width + 2, channels), np.float32)
    grid[1:-1, 1:-1] = image
    column, row = left.astype(np.intp) + 1, top.astype(np.intp) + 1
    made: Floats = dx * dy * grid[row, column]
    made = made + (_ONE - dx) * (_ONE - dy) * grid[row + 1, column + 1]
    made = made + dx * (_ONE - dy) * grid[row + 1, column]
    made = made + (_ONE - dx) * dy * grid[row, column + 1]
    made[~inside] = 0
    return made
