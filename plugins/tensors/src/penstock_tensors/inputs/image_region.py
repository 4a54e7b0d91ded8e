"""A rotated region of an image, and how it is brought to the size of a tensor.

All numbers are float32 numbers, held as Python floats; each step rounds to float32 as the reference does.
Source: MediaPipe `calculators/tensor/image_to_tensor_utils.cc`, OpenCV 4.10 `RotatedRect::points`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_formats import NormalizedRect

_HALF: Final = np.float32(0.5)
_ONE: Final = np.float32(1)
_TWO: Final = np.float32(2)
_180: Final = np.float32(180)
#: The padding of a region that is stretched.
NO_PADDING: Final = (0.0, 0.0, 0.0, 0.0)


class Region(NamedTuple):
    """A region in pixels of an image."""

    #: `center_x`, `center_y`: from the left and the top edge of the image.
    center_x: float
    center_y: float
    #: `width`, `height`: before the rotation.
    width: float
    height: float
    #: In radians around the centre, clockwise as the image is seen.
    rotation: float


def check_region(region: Region) -> None:
    """Accept a region of finite numbers and with an area.

    Raises:
        InvalidArgumentError: it is another one.
    """
    if not all(map(math.isfinite, region)) or region.width <= 0 or region.height <= 0:
        raise InvalidArgumentError(
            f"the image's region has the centre ({region.center_x:g}, {region.center_y:g}), the size "
            f"{region.width:g} x {region.height:g} pixels and the rotation {region.rotation:g}, but its "
            "numbers must be finite and its sides above 0; give another NORM_RECT"
        )


def region_of(rect: NormalizedRect | None, width: int, height: int) -> Region:
    """Return the region that a rect means in an image of a size; without a rect the whole image."""
    if rect is None:
        return Region(
            float(_HALF * np.float32(width)),
            float(_HALF * np.float32(height)),
            float(width),
            float(height),
            0.0,
        )
    columns, rows = np.float32(width), np.float32(height)
    return Region(
        float(np.float32(rect.x_center) * columns),
        float(np.float32(rect.y_center) * rows),
        float(np.float32(rect.width) * columns),
        float(np.float32(rect.height) * rows),
        rect.rotation,
    )


def padded(region: Region, width: int, height: int) -> tuple[Region, tuple[float, float, float, float]]:
    """Grow a region around its centre to the aspect ratio of a tensor.

    Args:
        region: its sides are above 0.
        width: columns of the tensor, above 0.
        height: rows of it, above 0.

    Returns:
        The new region, and how much of the tensor is outside of the old one: left, top, right, bottom, in
        fractions of the tensor.

    Raises:
        InvalidArgumentError: a side of the region is not above 0.
    """
    columns, rows = np.float32(region.width), np.float32(region.height)
    if not (columns > 0 and rows > 0):
        raise InvalidArgumentError(
            f"the image's region is {region.width:g} x {region.height:g} pixels, but with keep_aspect_ratio "
            "both sides must be above 0; give a NORM_RECT with a width and a height above 0"
        )
    ratio = np.float32(height) / np.float32(width)
    own = rows / columns
    if ratio > own:
        above = float((_ONE - own / ratio) / _TWO)
        return region._replace(height=float(columns * ratio)), (0.0, above, 0.0, above)
    beside = float((_ONE - ratio / own) / _TWO)
    return region._replace(width=float(rows / ratio)), (beside, 0.0, beside, 0.0)


def region_matrix(region: Region, width: int, height: int) -> tuple[float, ...]:
    """Return the matrix from the region to the image, both measured from 0 to 1.

    Args:
        region: in the image.
        width: of the image in pixels.
        height: likewise.

    Returns:
        4 x 4 numbers, row after row. z is scaled as x.
    """
    a, b = np.float32(region.width), np.float32(region.height)
    c, d = np.float32(math.cos(region.rotation)), np.float32(math.sin(region.rotation))
    e, f = np.float32(region.center_x), np.float32(region.center_y)
    g, h = _ONE / np.float32(width), _ONE / np.float32(height)
    half_a, half_b = _HALF * a, _HALF * b
    return (
        float(a * c * g), float(-b * d * g), 0.0, float((half_b * d - half_a * c + e) * g),
        float(a * d * h), float(b * c * h), 0.0, float((-half_b * c - half_a * d + f) * h),
        0.0, 0.0, float(a * g), 0.0,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


def corners(region: Region) -> NDArray[np.float32]:
    """Return the corners of a region: bottom left, top left, top right, bottom right, each x and y.

    The names are those of the region before the rotation. New versions of OpenCV compute other numbers.
    """
    degrees = float(np.float32(float(np.float32(region.rotation) * _180) / math.pi))
    angle = degrees * math.pi / 180.0
    along = np.float32(math.cos(angle)) * _HALF
    across = np.float32(math.sin(angle)) * _HALF
    x, y = np.float32(region.center_x), np.float32(region.center_y)
    columns, rows = np.float32(region.width), np.float32(region.height)
    across_rows, along_rows = across * rows, along * rows
    along_columns, across_columns = along * columns, across * columns
    left, top = x - across_rows - along_columns, y + along_rows - across_columns
    right, bottom = x + across_rows - along_columns, y - along_rows - across_columns
    return np.array(
        (
            (left, top),
            (right, bottom),
            (_TWO * x - left, _TWO * y - top),
            (_TWO * x - right, _TWO * y - bottom),
        ),
        np.float32,
    )


def tensor_corners(width: int, height: int) -> NDArray[np.float32]:
    """Return where `corners` lie in a tensor of a size."""
    return np.array(((0, height), (0, 0), (width, 0), (width, height)), np.float32)


def region_transform(region: Region, to: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return OpenCV's transform from the pixels of an image to those of a tensor.

    Args:
        region: finite, without a side of 0.
        to: `tensor_corners` of the tensor's size.
    """
    return cv2.getPerspectiveTransform(corners(region), to)  # type: ignore[return-value]  # OpenCV's stubs do not follow the element type


def cut_out(
    pixels: NDArray[np.uint8], transform: NDArray[np.float64], size: tuple[int, int], border: int
) -> NDArray[np.uint8]:
    """Return the pixels of a region, interpolated.

    Args:
        pixels: (H, W) or (H, W, channels).
        transform: `region_transform` of the region.
        size: columns and rows of the result.
        border: OpenCV's number of what is outside of the image.
    """
    return cv2.warpPerspective(pixels, transform, size, flags=cv2.INTER_LINEAR, borderMode=border)  # type: ignore[return-value]  # likewise
