"""Frames of libav as arrays of the format that is asked for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.log import get_logger, place
from penstock_formats import ImageFormat
from penstock_formats.api import LAYOUTS

if TYPE_CHECKING:
    import av
    from numpy.typing import NDArray

_LOG: Final = get_logger("video")
_QUARTER: Final = 90
#: Format → libav's name of it; numbers of 16 bits have their low byte first.
_NAMES: Final = {
    ImageFormat.GRAY8: "gray",
    ImageFormat.GRAY16: "gray16le",
    ImageFormat.SRGB: "rgb24",
    ImageFormat.SRGBA: "rgba",
    ImageFormat.SRGB48: "rgb48le",
    ImageFormat.SRGBA64: "rgba64le",
}
#: Format of 16 bits → the one of 8 bits.
_NARROW: Final = {
    ImageFormat.GRAY16: ImageFormat.GRAY8,
    ImageFormat.SRGB48: ImageFormat.SRGB,
    ImageFormat.SRGBA64: ImageFormat.SRGBA,
}
_NARROWEST: Final = 8
#: One step of 8 bits in steps of 16 bits: 255 and 65535 are both white.
_STEP: Final = np.uint16(257)


class FrameFormat:
    """Makes arrays of frames, all of one format, and logs once what it converts.

    Args:
        wanted: the format; None for the one that is nearest to the first frame.
        what: what is read, for the log.
        node: name of the node that reads it.
    """

    def __init__(self, wanted: ImageFormat | None, what: str, node: str | None = None) -> None:
        #: The format of the arrays; None before the first frame, where it depends on that.
        self.kind = wanted
        self._what: Final = what
        self._node: Final = node
        self._told: set[str] = set()

    def picture(self, frame: av.VideoFrame) -> NDArray[Any]:
        """Return a frame's pixels, rotated as its file says.

        The array is (H, W) or (H, W, channels) as its `ImageFormat` says, and a view of libav's memory where
        nothing else was needed; its rows may be padded.
        """
        kind = self.kind = self.kind or nearest(frame)
        if frame.format.name not in self._told:
            self._tell(frame, kind)
        return rotated(array_of(frame, kind), frame)

    def _tell(self, frame: av.VideoFrame, kind: ImageFormat) -> None:
        """Log what becomes of frames of another format; a warning where depth would lose half of its bits."""
        self._told.add(frame.format.name)
        own = nearest(frame)
        if frame.format.name == _NAMES[kind]:
            return
        level = logging.WARNING if own is ImageFormat.GRAY16 and kind in _NARROW.values() else logging.INFO
        cure = "; format: GRAY16 keeps them" if level == logging.WARNING else ""
        _LOG.log(
            level, "%s: frames are %s, and become %s%s", self._what, frame.format.name, kind.name, cure,
            extra=place(self._node),
        )  # fmt: skip


def nearest(frame: av.VideoFrame) -> ImageFormat:
    """Return the format that loses least: grey stays grey, alpha stays, 9 bits or more become 16."""
    form = frame.format
    if form.has_palette:
        return ImageFormat.SRGBA
    components = form.components
    has_alpha = any(one.is_alpha for one in components)
    is_gray = len(components) - has_alpha == 1
    is_wide = max((one.bits for one in components), default=_NARROWEST) > _NARROWEST
    if has_alpha:
        return ImageFormat.SRGBA64 if is_wide else ImageFormat.SRGBA
    if is_gray:
        return ImageFormat.GRAY16 if is_wide else ImageFormat.GRAY8
    return ImageFormat.SRGB48 if is_wide else ImageFormat.SRGB


def rotated(pixels: NDArray[Any], frame: av.VideoFrame) -> NDArray[Any]:
    """Return the pixels of a frame, rotated as its file says."""
    quarters = round(frame.rotation / _QUARTER) % 4
    return np.ascontiguousarray(np.rot90(pixels, quarters)) if quarters else pixels


def array_of(frame: av.VideoFrame, kind: ImageFormat) -> NDArray[Any]:
    """Return the pixels of a frame in a format, not rotated; a view of libav's memory where they have it."""
    is_wide = kind in _NARROW
    if is_wide and max(one.bits for one in frame.format.components) <= _NARROWEST:
        return _array(frame, _NARROW[kind]).astype(np.uint16) * _STEP  # libav makes 65280 of white
    return _array(frame, kind)


def _array(frame: av.VideoFrame, kind: ImageFormat) -> NDArray[Any]:
    """Return a frame, converted by libav unless it has the format already."""
    made = frame.reformat(format=_NAMES[kind], threads=1)  # other nodes use the other cores
    plane: Any = made.planes[0]  # not in all versions typed as a buffer
    channels, dtype = LAYOUTS[kind]
    rows = np.frombuffer(plane, dtype.newbyteorder("<")).reshape(plane.height, -1)
    pixels = rows[:, : plane.width * channels]
    return pixels.reshape(plane.height, plane.width, channels) if channels > 1 else pixels
