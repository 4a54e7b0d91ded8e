"""What the numbers of an image mean: channels, their order, their element type.

Source of names and numbers: MediaPipe `framework/formats/image_format.proto`.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

import numpy as np


class ImageFormat(enum.IntEnum):
    """The layout of one pixel, under the reference's names and numbers.

    `YCBCR420P` and `YCBCR420P10` are for headers and options only; no ImageFrame has them.
    """

    UNKNOWN = 0
    #: 3 x uint8: red, green, blue.
    SRGB = 1
    #: 4 x uint8: red, green, blue, alpha (not premultiplied).
    SRGBA = 2
    #: 1 x uint8, black 0 to white 255.
    GRAY8 = 3
    #: 1 x uint16, black 0 to white 65535.
    GRAY16 = 4
    YCBCR420P = 5
    YCBCR420P10 = 6
    #: 3 x uint16: red, green, blue.
    SRGB48 = 7
    #: 4 x uint16: red, green, blue, alpha.
    SRGBA64 = 8
    #: 1 x float32, any range.
    VEC32F1 = 9
    #: 3 x uint8: lightness, a, b.
    LAB8 = 10
    #: 4 x uint8: blue, green, red, alpha.
    SBGRA = 11
    #: 2 x float32, any range: a flow field, say.
    VEC32F2 = 12
    #: 4 x float32, any range.
    VEC32F4 = 13

    @property
    def channels(self) -> int:
        """How many numbers a pixel has; 0 for formats that no ImageFrame can have."""
        return LAYOUTS[self].channels if self in LAYOUTS else 0


class PixelLayout(NamedTuple):
    """How an array holds a format's pixels: (H, W) for one channel, else (H, W, channels).

    A tuple, because each frame that is made looks its format up by one.
    """

    channels: int
    dtype: np.dtype[np.generic]

    def __str__(self) -> str:
        shape = "(H, W)" if self.channels == 1 else f"(H, W, {self.channels})"
        return f"{shape} {self.dtype}"


#: The layout of each format that an ImageFrame can have.
LAYOUTS: Final[dict[ImageFormat, PixelLayout]] = {
    ImageFormat.SRGB: PixelLayout(3, np.dtype(np.uint8)),
    ImageFormat.SRGBA: PixelLayout(4, np.dtype(np.uint8)),
    ImageFormat.GRAY8: PixelLayout(1, np.dtype(np.uint8)),
    ImageFormat.GRAY16: PixelLayout(1, np.dtype(np.uint16)),
    ImageFormat.SRGB48: PixelLayout(3, np.dtype(np.uint16)),
    ImageFormat.SRGBA64: PixelLayout(4, np.dtype(np.uint16)),
    ImageFormat.VEC32F1: PixelLayout(1, np.dtype(np.float32)),
    ImageFormat.LAB8: PixelLayout(3, np.dtype(np.uint8)),
    ImageFormat.SBGRA: PixelLayout(4, np.dtype(np.uint8)),
    ImageFormat.VEC32F2: PixelLayout(2, np.dtype(np.float32)),
    ImageFormat.VEC32F4: PixelLayout(4, np.dtype(np.float32)),
}


def format_converter(kind: ImageFormat) -> str:
    """Return the name of the calculator that makes colours of 8 bits of a format, for messages of errors."""
    is_measured = LAYOUTS[kind].channels == 1 and kind is not ImageFormat.GRAY8
    return "ColorMapCalculator" if is_measured else "ColorConvertCalculator"
