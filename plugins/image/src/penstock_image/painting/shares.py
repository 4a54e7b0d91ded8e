"""Masks as shares: one float32 for each pixel, 0 to 1, of the size of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat
from penstock_image.frame_checks import expect_format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_formats import ImageFrame

_MOST: Final = 255
_MASKS: Final = (ImageFormat.GRAY8, ImageFormat.SRGB, ImageFormat.SRGBA, ImageFormat.VEC32F1)


def shares_of(mask: ImageFrame, channel: int, size: tuple[int, int]) -> NDArray[Any]:
    """Return the shares that a mask of input MASK says.

    Args:
        mask: GRAY8, SRGB or SRGBA, 0 to 255; or VEC32F1, 0 to 1, other values stay. Borrowed.
        channel: the one that counts in a mask of several.
        size: (width, height) in pixels; a mask of another size is stretched linearly.

    Returns:
        (height, width) float32; the mask's own memory where nothing is to be done, so do not write to it.

    Raises:
        InvalidArgumentError: the mask has another format, or not that channel.
    """
    expect_format(mask, _MASKS, "MASK", "make it a mask of one of these")
    plane: Any = mask.array
    if mask.format.channels > 1:
        if channel >= mask.format.channels:
            raise InvalidArgumentError(
                f"input 'MASK' holds {mask!r}, which has no alpha channel to read shares from, but "
                "mask_channel is ALPHA; set it to RED in the options"
            )
        plane = cv2.extractChannel(plane, channel)
    if (mask.width, mask.height) != size:
        plane = cv2.resize(plane, size, interpolation=cv2.INTER_LINEAR)
    if plane.dtype == np.uint8:
        plane = np.multiply(plane, np.float32(1 / _MOST), dtype=np.float32)
    return np.asarray(plane)
