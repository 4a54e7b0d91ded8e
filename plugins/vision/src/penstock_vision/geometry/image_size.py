"""The size of an image, as streams carry it: a tuple of width and height in pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import InvalidArgumentError
from penstock_vision.geometry.single_precision import f32

if TYPE_CHECKING:
    from penstock import Input
    from penstock_vision.geometry.single_precision import Float32


class ImageSize(NamedTuple):
    """Width and height of an image in pixels, as the numbers that coordinates are multiplied with."""

    width: Float32
    height: Float32


def image_size(port: Input, *, may_be_empty: bool = False) -> ImageSize:
    """Return the size that an input holds.

    Args:
        port: the input.
        may_be_empty: whether 0 is a width or a height too.

    Raises:
        InvalidArgumentError: it is not two numbers above 0.
    """
    size = port.payload
    try:
        width, height = size
        is_size = min(width, height) >= 0 if may_be_empty else min(width, height) > 0
    except (TypeError, ValueError):
        is_size = False
    if not is_size:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {size!r}, but an image's size is (width, height), both "
            f"{'0 or more' if may_be_empty else 'above 0'}; "
            "connect the SIZE of an ImagePropertiesCalculator"
        )
    return ImageSize(f32(width), f32(height))
