"""Images of inputs in main memory, whatever form they come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_formats.api import format_converter

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame_of(payload: Any, stream: str, formats: Sequence[ImageFormat]) -> ImageFrame:
    """Return an image in main memory; of one on the GPU a copy.

    Args:
        payload: an ImageFrame, an Image, or an image on the GPU.
        stream: the name of the input, for the error.
        formats: those that the node takes.

    Raises:
        InvalidArgumentError: the image has another format.
    """
    if isinstance(payload, ImageFrame):
        frame = payload
    else:
        frame = (payload if isinstance(payload, Image) else Image(payload)).frame
    if frame.format not in formats:
        *others, last = (one.name for one in formats)
        raise InvalidArgumentError(
            f"stream {stream!r} has an image of format {frame.format.name}, but the input frames of "
            f"tensors may be {', '.join(others)} and {last}; convert it before, for example with a "
            f"{format_converter(frame.format)}"
        )
    return frame
