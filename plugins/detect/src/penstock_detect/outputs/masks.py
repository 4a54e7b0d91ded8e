"""The prototypes of masks: which of their axes is which, and the matrix that coefficients mix."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from penstock_detect.outputs.output_arrays import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_detect.outputs.layouts import Layout

_DIMENSIONS: Final = 4


class MaskAxes(Enum):
    """The order of the dimensions of the prototypes of masks."""

    #: Told from the shape: rows and columns have the aspect ratio of the input. Where both orders have it, as
    #: for 32 prototypes of 32 x 32: NHWC in DetectorSubgraph if the model's input is NHWC, else NCHW.
    USUAL = 0
    #: Prototypes, rows, columns: what PyTorch exports.
    NCHW = 1
    #: Rows, columns, prototypes: what TensorFlow exports.
    NHWC = 2


class Prototypes(NamedTuple):
    """What the masks of an image are mixed of."""

    #: (prototypes, height * width) float32.
    table: NDArray[np.float32]
    #: Rows and columns of each.
    height: int
    width: int


def axes_of(shape: Sequence[int], width: int, height: int, usual: MaskAxes = MaskAxes.NCHW) -> MaskAxes:
    """Return the order of the axes of prototypes: rows and columns are the pair that the input fits.

    Args:
        shape: of the output, 4 numbers; -1 is an open size.
        width: of the model's input, in pixels.
        height: of it.
        usual: what it is where both orders fit, or none.
    """
    is_first, is_last = (_fits(rows, columns, width, height) for rows, columns in (shape[2:4], shape[1:3]))
    if is_first == is_last:
        return usual
    return MaskAxes.NCHW if is_first else MaskAxes.NHWC


def _fits(rows: int, columns: int, width: int, height: int) -> bool:
    return rows > 0 and columns > 0 and rows * width == columns * height


def count_of(shape: Sequence[int], axes: MaskAxes) -> int:
    """Return how many prototypes an output of a shape has."""
    return shape[3] if axes == MaskAxes.NHWC else shape[1]


def prototypes_of(
    arrays: Sequence[NDArray[Any]], layout: Layout, axes: MaskAxes, size: tuple[int, int]
) -> Prototypes:
    """Return what masks are made of, without a copy of float32.

    Args:
        arrays: the outputs of the model, in the order of the layout.
        layout: for messages.
        axes: of the second output; USUAL: told from its shape.
        size: width and height of the model's input, in pixels.

    Raises:
        InvalidArgumentError: there is no such output.
    """
    if len(arrays) < 2 or arrays[1].ndim != _DIMENSIONS or arrays[1].shape[0] != 1:  # noqa: PLR2004  # the second one
        refuse(layout, arrays, "a second output 1 x masks x height x width, or 1 x height x width x masks")
    maps: NDArray[np.float32] = arrays[1][0].astype(np.float32, copy=False)
    if (axes_of(arrays[1].shape, *size) if axes == MaskAxes.USUAL else axes) == MaskAxes.NHWC:
        height, width, count = maps.shape
        return Prototypes(maps.reshape(height * width, count).T, height, width)
    count, height, width = maps.shape
    return Prototypes(maps.reshape(count, height * width), height, width)
