"""The options of a detector's input: how an image becomes the tensor that a model takes."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least
from penstock_detect.resizing import Interpolation, Resize

#: Element types of a model's input.
ELEMENT_TYPES: Final = ("float32", "float16", "uint8")
#: Channels of a model's input.
_CHANNELS: Final = (1, 3)


class Axes(Enum):
    """The order of the dimensions of a model's input."""

    #: Channels, rows, columns: what PyTorch exports.
    NCHW = 0
    #: Rows, columns, channels: what TensorFlow exports.
    NHWC = 1


def check_short_side(options: Any) -> None:
    """Accept `short_side` that goes with `resize`, `width` and `height`.

    Raises:
        InvalidArgumentError: it does not.
    """
    side, least = options.short_side, min(options.width, options.height)
    if side == 0 or options.resize == Resize.USUAL:  # checked again when it is known what is usual
        return
    if options.resize != Resize.CROP:
        raise InvalidArgumentError(
            f"detector input option short_side is {side}, but resize is {options.resize.name}, which takes "
            "no middle of an image; set resize to CROP, or leave short_side out"
        )
    if side < least:
        raise InvalidArgumentError(
            f"detector input option short_side is {side}, but must be {least} or more, the shorter side of "
            "the input, which is cut out of the resized image; or leave it out"
        )


def check_colours(options: Any) -> None:
    """Accept `channels`, `pad_value`, `scale`, `mean`, `std` and `element_type` that fit together.

    Raises:
        InvalidArgumentError: they do not.
    """
    if options.channels not in _CHANNELS:
        raise InvalidArgumentError(
            f"detector input option channels is {options.channels}, but must be 1 or 3"
        )
    if not 0 <= options.pad_value <= 255:  # noqa: PLR2004  # a byte
        raise InvalidArgumentError(
            f"detector input option pad_value is {options.pad_value}, but must be from 0 to 255"
        )
    for name in ("mean", "std"):
        values = getattr(options, name)
        if len(values) not in (0, 1, options.channels):
            raise InvalidArgumentError(
                f"detector input option {name} has {len(values)} numbers, but must have one for each of "
                f"{options.channels} channels, or one for all"
            )
        if not all(map(math.isfinite, values)) or (name == "std" and 0 in values):
            raise InvalidArgumentError(
                f"detector input option {name} is {values}, but must have finite numbers, and std none of 0"
            )
    if not math.isfinite(options.scale):
        raise InvalidArgumentError(f"detector input option scale is {options.scale}, but must be finite")
    if options.element_type not in ELEMENT_TYPES:
        raise InvalidArgumentError(
            f"detector input option element_type is {options.element_type!r}, but must be one of "
            f"{', '.join(ELEMENT_TYPES)}"
        )


@attrs.frozen(kw_only=True)
class DetectorInputCalculatorOptions:
    """What a model takes.

    Attributes:
        width: of the model's input, in pixels.
        height: of the model's input, in pixels.
        channels: 3 for colours, 1 for grey.
        resize: how an image becomes that size.
        interpolation: how its pixels are computed.
        short_side: with CROP: the shorter side of the resized image, whose middle is taken; 0: that of the
            input.
        pad_value: of the pixels beside the image, 0 to 255.
        axes: the order of the dimensions.
        bgr: the first channel is blue; else it is red.
        scale: what a pixel's values, 0 to 255, are multiplied with first.
        mean: what is then taken off, one for each channel in the model's order, or one for all.
        std: what the result is divided by, likewise.
        element_type: "float32", "float16" or "uint8"; the last one has the pixels' values as they are.
        gives_size: whether a second tensor follows, int64 1x2: width and height of the input.
    """

    width: int = 0
    height: int = 0
    channels: int = 3
    resize: Resize = Resize.LETTERBOX
    interpolation: Interpolation = Interpolation.USUAL
    short_side: int = 0
    pad_value: int = 114
    axes: Axes = Axes.NCHW
    bgr: bool = False
    scale: float = 1 / 255
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    element_type: str = "float32"
    gives_size: bool = False

    def __attrs_post_init__(self) -> None:
        check_least("width", self.width, 1)
        check_least("height", self.height, 1)
        check_least("short_side", self.short_side, 0)
        check_short_side(self)
        check_colours(self)
