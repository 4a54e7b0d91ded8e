"""Resizing in linear light: pixels are mixed by how bright they shine, not by their sRGB numbers.

Source of the method: MediaPipe `util/image_frame_util.cc`; of the curve: IEC 61966-2-1 (sRGB).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _light(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how bright sRGB values of 0 to 1 shine, 0 to 1."""
    bend = 0.04045
    return np.where(srgb < bend, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _srgb(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sRGB values of light, the inverse of `_light`."""
    bend = 0.0031308
    return np.where(light < bend, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


#: sRGB in 8 bits → light in 16 bits, rounded half up; and back.
_LIGHT: Final = np.floor(_light(np.arange(1 << 8) / 255) * 65535 + 0.5).astype(np.uint16)
_SRGB: Final = np.floor(_srgb(np.arange(1 << 16) / 65535) * 255 + 0.5).astype(np.uint8)


def resized_in_linear_light(image: NDArray[Any], size: tuple[int, int], method: int) -> NDArray[Any]:
    """Return an image in another size.

    Args:
        image: (H, W, 3) uint8, sRGB. Borrowed.
        size: (width, height) of the result in pixels.
        method: OpenCV's interpolation.

    Returns:
        (height, width, 3) uint8, sRGB, in new memory. The GIL is released.
    """
    light = cv2.resize(cv2.LUT(image, _LIGHT), size, interpolation=method)
    # mode="clip" needs no check of the indices, of which none is too large
    found: NDArray[Any] = np.take(_SRGB, np.asarray(light), mode="clip")
    return found
