"""Images to draw on, and the headers of their streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame, VideoHeader
from penstock_formats.api import format_converter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext


def drawable(image: ImageFrame | Image, port: str) -> tuple[NDArray[Any], ImageFormat]:
    """Return a copy of an image to draw on, with 3 or 4 channels, and its format: SRGB for GRAY8.

    Raises:
        InvalidArgumentError: the image has another format than SRGB, SRGBA and GRAY8; names the port.
    """
    pixels, image_format = image.array, image.format
    if image_format is ImageFormat.GRAY8:
        return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_GRAY2RGB)), ImageFormat.SRGB
    if image_format not in (ImageFormat.SRGB, ImageFormat.SRGBA):
        raise InvalidArgumentError(
            f"input {port!r} holds {image!r}, but SRGB, SRGBA and GRAY8 are drawable; put a "
            f"{format_converter(image_format)} before"
        )
    return np.array(pixels, order="C"), image_format


def pass_drawn_header(cc: CalculatorContext, tag: str) -> None:
    """Give the output the input's stream header, with the format of the output."""
    packet = cc.inputs[tag].header
    if packet.is_empty():
        return
    header = packet.payload
    if isinstance(header, VideoHeader) and header.format is ImageFormat.GRAY8:
        packet = type(packet)(attrs.evolve(header, format=ImageFormat.SRGB))
    cc.outputs[tag].set_header(packet)
