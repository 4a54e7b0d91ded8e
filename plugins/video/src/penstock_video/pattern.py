"""A moving test pattern made by arithmetic: the same pixels in every run, on every machine.

Colour bars and a grey ramp move left by two pixels a frame, and a white disc bounces over them. The
lowest sixteenth shows the frame's number as 16 black or white cells, highest bit first, which
`pattern_index` can still read after encoding and decoding.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import av
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, VideoHeader, check_frame_size
from penstock_video.pixel_formats import FrameFormat
from penstock_video.source import RATES, microseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions

_BARS: Final = np.array(
    [
        (255, 255, 255),
        (255, 255, 0),
        (0, 255, 255),
        (0, 255, 0),
        (255, 0, 255),
        (255, 0, 0),
        (0, 0, 255),
        (0, 0, 0),
    ],
    np.uint8,
)
_BITS: Final = 16
_SPEED: Final = 2
#: NTSC rates such as 29.97 are n/1001; this denominator allows them.
_LARGEST_DENOMINATOR: Final = 1001


class PatternSource:
    """The test pattern as a source. It opens no file and no device.

    Args:
        pattern: size, rate and number of frames.
        format: of the frames; None: SRGB, as the pattern is drawn.

    Raises:
        InvalidArgumentError: a side is below 16, the rate is not from 0.01 to 1000000, or the number of
            frames is negative.
        ResourceExhaustedError: the frames would take too much memory.
    """

    def __init__(
        self,
        pattern: VideoDecoderCalculatorOptions.TestPattern,
        format: ImageFormat | None = None,  # noqa: A002  # as of ImageFrame
    ) -> None:
        self._format = FrameFormat(format or ImageFormat.SRGB, "test pattern")
        lowest, highest = RATES
        has_rate = lowest <= pattern.fps <= highest
        if pattern.width < _BITS or pattern.height < _BITS or not has_rate or pattern.frames < 0:
            raise InvalidArgumentError(
                f"test pattern of {pattern.width}x{pattern.height} at {pattern.fps:g} frames per second, "
                f"{pattern.frames} frames: sides must be 16 or more, the rate from {lowest:g} to "
                f"{highest:.0f}, the number 0 or more"
            )
        check_frame_size(pattern.width, pattern.height, "test pattern")
        self._width, self._height, self._frames = pattern.width, pattern.height, pattern.frames
        self._period = 1 / Fraction(pattern.fps).limit_denominator(_LARGEST_DENOMINATOR)
        self._index = 0
        self._band = max(1, self._height // _BITS)
        self._background = _background(self._width, self._height)
        self._disc = _disc(max(2, min(self._width, self._height) // 8))

    @property
    def header(self) -> VideoHeader:
        """The pattern's size and rate; duration 0 where it has no end."""
        rate = float(1 / self._period)
        return VideoHeader(
            self._format.kind or ImageFormat.SRGB, self._width, self._height, rate, self._frames / rate
        )

    def read(self) -> tuple[int, NDArray[Any]] | None:
        """Return the next frame, in new memory, or None after the last."""
        if self._frames and self._index >= self._frames:
            return None
        index = self._index
        self._index += 1
        return microseconds(index, self._period), self._formatted(self._frame(index))

    @staticmethod
    def take_dropped() -> dict[str, int]:
        """Return that nothing was dropped."""
        return {}

    def close(self) -> None:
        """Do nothing: there is no file or device to release."""

    def _formatted(self, pixels: NDArray[Any]) -> NDArray[Any]:
        if self._format.kind is ImageFormat.SRGB:
            return pixels
        return self._format.picture(av.VideoFrame.from_ndarray(pixels, format="rgb24"))

    def _frame(self, index: int) -> NDArray[Any]:
        start = index * _SPEED % self._width
        frame = self._background[:, start : start + self._width].copy()
        side = self._disc.shape[0]
        left = _bounce(index * 3, self._width - side)
        top = _bounce(index * 2, self._height - self._band - side)
        frame[top : top + side, left : left + side][self._disc] = 255
        edges = np.arange(_BITS + 1) * self._width // _BITS
        for bit in range(_BITS):
            value = 255 if index >> (_BITS - 1 - bit) & 1 else 0
            frame[-self._band :, edges[bit] : edges[bit + 1]] = value
        return frame


def pattern_index(frame: NDArray[Any]) -> int:
    """Return the frame's number, modulo 65536, read from the lowest rows of a frame of the pattern.

    Args:
        frame: (H, W, 3) or (H, W) uint8, sides 16 or more. Borrowed.
    """
    height, width = frame.shape[:2]
    row = frame[height - (max(1, height // _BITS) + 1) // 2].reshape(width, -1).mean(axis=1)
    edges = np.arange(_BITS + 1) * width // _BITS
    middles = (edges[:-1] + edges[1:]) // 2
    return sum(1 << (_BITS - 1 - bit) for bit, middle in enumerate(middles) if row[middle] > 127)  # noqa: PLR2004


def _background(width: int, height: int) -> NDArray[np.uint8]:
    """Return (height, 2 * width, 3): the same image twice side by side, so that a shifted cut wraps."""
    columns = np.arange(width)
    frame = np.empty((height, width, 3), np.uint8)
    frame[:] = _BARS[columns * len(_BARS) // width]
    frame[height // 2 :] = (columns * 256 // width).astype(np.uint8)[:, None]
    return np.concatenate([frame, frame], axis=1)


def _disc(side: int) -> NDArray[np.bool_]:
    """Return a mask of (side, side): True inside a disc of that diameter."""
    offsets = 2 * np.arange(side) - side + 1
    return np.asarray(offsets[:, None] ** 2 + offsets[None, :] ** 2 <= side * side)


def _bounce(way: int, room: int) -> int:
    """Return the position after `way` pixels of moving to and fro over `room` pixels."""
    room = max(room, 1)
    place = way % (2 * room)
    return min(place, 2 * room - place)
