"""The region of a frame that is cut out, and the cutting.

Pure functions of arrays (H, W) or (H, W, channels) in any element type that OpenCV warps (uint8, uint16,
float32). Inputs are borrowed and never changed; a result is new memory. Numbers of a region are single
precision, as in the reference: sizes and places agree to the pixel.

Source of the rules: MediaPipe `calculators/image/image_cropping_calculator.cc`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import check_frame_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_formats import NormalizedRect, Rect

_f32: Final = np.float32
#: From coordinates that count from a pixel's corner to those from its middle, which OpenCV takes; and back.
_TO_MIDDLES: Final = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])
_FROM_MIDDLES: Final = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
_ZERO: Final = _f32(0)
_HALF: Final = _f32(0.5)
_NO_LIMITS: Final = (0, 0)
_UNLIMITED: Final = _f32(np.finfo(np.float32).max)


@attrs.frozen
class Region:
    """A rectangle of a frame."""

    #: `width`, `height`: in pixels, before the rotation.
    width: int
    height: int
    #: `x`, `y`: of its middle, in pixels from the frame's left upper corner.
    x: np.float32
    y: np.float32
    #: In radians, clockwise as seen.
    rotation: np.float32 = _ZERO

    def on_pixels(self) -> Region:
        """Return the region moved by up to half a pixel, so that its sides are on those of pixels.

        A rotated region is returned as it is. At least one pixel is left of each side.
        """
        width, height, x, y = max(1, self.width), max(1, self.height), self.x, self.y
        if self.rotation == 0:
            x, y = _on_pixel(x, width), _on_pixel(y, height)
        return Region(width, height, x, y, self.rotation)


def of_rect(rect: Rect, width: int, height: int) -> Region:
    """Return the region of a rectangle in pixels; one without area stands for the whole frame."""
    if not (rect.width > 0 and rect.height > 0):
        return whole(width, height)
    return Region(rect.width, rect.height, _f32(rect.x_center), _f32(rect.y_center), _finite(rect.rotation))


def of_norm_rect(rect: NormalizedRect, width: int, height: int) -> Region:
    """Return the region of a rectangle in shares of the frame; one without area stands for the whole frame.

    Raises:
        InvalidArgumentError: a number of it is not finite.
    """
    if not (rect.width > 0 and rect.height > 0):
        return whole(width, height)
    return Region(
        share(rect.width, width),
        share(rect.height, height),
        _finite(rect.x_center) * _f32(width),
        _finite(rect.y_center) * _f32(height),
        _finite(rect.rotation),
    )


def whole(width: int, height: int) -> Region:
    """Return the region of the whole frame."""
    return Region(width, height, _f32(width) / _f32(2), _f32(height) / _f32(2))


def share(part: float, side: int) -> int:
    """Return a share of a side in whole pixels, rounded half up.

    Raises:
        InvalidArgumentError: it is not finite.
    """
    return math.floor(_finite(part) * _f32(side) + _HALF)


def crop(image: NDArray[Any], region: Region, most: tuple[int, int], border: int) -> NDArray[Any]:
    """Return what a region shows of an image, upright; each pixel of it is the nearest one of the image.

    Args:
        image: borrowed.
        region: as `on_pixels` returns it.
        most: (width, height) of the result at most, in pixels; it is scaled down to fit. 0: no limit.
        border: OpenCV's number of what is seen outside of the image.

    Raises:
        ResourceExhaustedError: the region is too large, see `penstock_formats.check_frame_size`.
    """
    width, height = _scaled(region, most)
    size = _whole_pixels(width, height)
    check_frame_size(*size, "the region")
    inside = _slices(image, region) if size == (region.width, region.height) else None
    if inside is not None:
        return image[inside].copy()
    box = ((float(region.x), float(region.y)), (region.width, region.height), math.degrees(region.rotation))
    corners = np.array([[0, height], [0, 0], [width, 0], [width, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(cv2.boxPoints(box), corners)
    matrix = _TO_MIDDLES @ matrix @ _FROM_MIDDLES
    return cv2.warpPerspective(image, matrix, size, flags=cv2.INTER_NEAREST, borderMode=border)


def result_size(region: Region, most: tuple[int, int]) -> tuple[int, int]:
    """Return (width, height) of the result of `crop`, each at least 1."""
    return _whole_pixels(*_scaled(region, most))


def _whole_pixels(width: np.float32, height: np.float32) -> tuple[int, int]:
    return max(1, int(width)), max(1, int(height))


def _scaled(region: Region, most: tuple[int, int]) -> tuple[np.float32, np.float32]:
    width, height = _f32(region.width), _f32(region.height)
    if most == _NO_LIMITS:
        return width, height
    limits = [_f32(limit) if limit > 0 else _UNLIMITED for limit in most]
    scale = min(_f32(1), limits[0] / width, limits[1] / height)
    return width * scale, height * scale


def _slices(image: NDArray[Any], region: Region) -> tuple[slice, slice] | None:
    """Return the rows and columns of a region that is not rotated and inside the image, else None."""
    if region.rotation != 0:
        return None
    left, top = (float(region.x) - region.width / 2, float(region.y) - region.height / 2)
    right, bottom = left + region.width, top + region.height
    if left < 0 or top < 0 or right > image.shape[1] or bottom > image.shape[0]:
        return None
    return slice(int(top), int(bottom)), slice(int(left), int(right))


def _on_pixel(middle: np.float32, side: int) -> np.float32:
    """Return the nearest place for the middle of a side of so many pixels."""
    if side % 2 == 0:
        return _rounded(middle)
    return _rounded(middle + _HALF) - _HALF


def _rounded(number: np.float32) -> np.float32:
    """Round to a whole number, halves away from zero, as C does."""
    return _f32(math.copysign(math.floor(abs(float(number)) + 0.5), number))


def _finite(number: float) -> np.float32:
    if not math.isfinite(number):
        raise InvalidArgumentError(
            f"a number of the crop's region is {number}, but all must be finite; look at the node that made "
            "it"
        )
    return _f32(number)
