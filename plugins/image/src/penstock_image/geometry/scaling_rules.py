"""How a frame is cropped to an aspect ratio, and scaled to a size: the rules of ScaleImageCalculator.

Pure functions; a `Scaling` is made for one size and format of frames. Frames are borrowed and never changed.

Source of the rules: MediaPipe `calculators/image/scale_image_calculator.cc` and `scale_image_utils.cc`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame, check_frame_size
from penstock_formats.api import format_converter
from penstock_image.geometry.linear_light import resized_in_linear_light
from penstock_image.messages.scale_image_pb2 import ScaleImageCalculatorOptions as Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

_METHODS: Final[dict[int, int]] = {
    Options.DEFAULT: cv2.INTER_CUBIC,
    Options.LINEAR: cv2.INTER_LINEAR,
    Options.CUBIC: cv2.INTER_CUBIC,
    Options.AREA: cv2.INTER_AREA,
    Options.LANCZOS: cv2.INTER_LANCZOS4,
}
_CONVERSIONS: Final[dict[tuple[ImageFormat, ImageFormat], int]] = {
    (ImageFormat.SRGB, ImageFormat.SRGBA): cv2.COLOR_RGB2RGBA,
    (ImageFormat.SRGBA, ImageFormat.SRGB): cv2.COLOR_RGBA2RGB,
}
FORMATS: Final = (ImageFormat.SRGB, ImageFormat.SRGBA)
#: Sides are multiples of it where proportions are kept.
_EVEN: Final = 2


@attrs.frozen
class Scaling:
    """What is done to frames of one size and format."""

    #: `rows`, `columns`: what is left after cropping.
    rows: slice
    columns: slice
    #: Whether that is less than the frame.
    is_cropped: bool
    #: `width`, `height`: of the result, in pixels.
    width: int
    height: int
    #: The format of the result.
    format: ImageFormat
    #: OpenCV's code for the format; None if it stays.
    conversion: int | None
    #: OpenCV's interpolation where the frame grows.
    method: int

    def apply(self, frame: ImageFrame) -> ImageFrame:
        """Return the cropped, converted and scaled frame; the frame itself where there is nothing to do.

        Raises:
            InvalidArgumentError: a frame with an alpha channel would grow.
        """
        image: NDArray[Any] = frame.array
        if self.is_cropped:
            image = image[self.rows, self.columns]
        if self.conversion is not None:
            image = cv2.cvtColor(image, self.conversion)
        height, width = image.shape[:2]
        if width == self.width and height == self.height:
            if self.conversion is not None:
                return ImageFrame(image, self.format)
            return ImageFrame(np.array(image, order="C"), self.format) if self.is_cropped else frame
        if width >= self.width and height >= self.height:
            image = cv2.resize(image, (self.width, self.height), interpolation=cv2.INTER_AREA)
        elif self.format is ImageFormat.SRGB:
            image = resized_in_linear_light(image, (self.width, self.height), self.method)
        else:
            raise InvalidArgumentError(
                f"scaling rules: a frame of {width}x{height} pixels in SRGBA would grow to "
                f"{self.width}x{self.height}, but only SRGB can; set output_format: SRGB or algorithm: "
                "DEFAULT_WITHOUT_UPSCALE, or use an ImageTransformationCalculator"
            )
        return ImageFrame(image, self.format)


def check(options: Options) -> None:
    """Refuse options that no frame can be scaled by.

    Raises:
        InvalidArgumentError: the message names the option.
    """
    for name in ("input_format", "output_format"):
        if options.HasField(name) and getattr(options, name) not in FORMATS:
            raise InvalidArgumentError(
                f"scaling rules: {name} is {ImageFormat(getattr(options, name)).name}, but must be SRGB or "
                "SRGBA; change the options"
            )
    if options.preserve_aspect_ratio:
        _check_multiple(options)
    ratio(options.min_aspect_ratio, "min_aspect_ratio")
    ratio(options.max_aspect_ratio, "max_aspect_ratio")


def scaling_of(options: Options, width: int, height: int, kind: ImageFormat) -> Scaling:
    """Return what is done to frames of this size and format, by options that passed `check`.

    Raises:
        InvalidArgumentError: the format is neither SRGB nor SRGBA, or nothing would be left of a side.
        ResourceExhaustedError: so large a frame would take too much memory.
    """
    wanted = ImageFormat(options.output_format) if options.HasField("output_format") else kind
    if kind not in FORMATS:
        raise InvalidArgumentError(
            f"the scaling rules take SRGB and SRGBA, but a frame has format {kind.name}; put a "
            f"{format_converter(kind)} before, or use an ImageTransformationCalculator"
        )
    columns, rows = cropped(
        width,
        height,
        ratio(options.min_aspect_ratio, "min_aspect_ratio"),
        ratio(options.max_aspect_ratio, "max_aspect_ratio"),
    )
    inner = (columns.stop - columns.start, rows.stop - rows.start)
    size: tuple[int, int] = scaled(*inner, options) if min(inner) > 0 else inner
    if options.algorithm == Options.DEFAULT_WITHOUT_UPSCALE and (size[0] > inner[0] or size[1] > inner[1]):
        size = inner
    if min(size) < 1:
        raise InvalidArgumentError(
            f"by the scaling rules a frame of {width}x{height} would become {size[0]}x{size[1]}, but must "
            "have a pixel left; change target_width, target_height, scale_to_multiple_of or the aspect ratios"
        )
    check_frame_size(*size, "the scaled frame")
    method = _METHODS.get(options.algorithm, cv2.INTER_CUBIC)
    is_cropped = inner != (width, height)
    return Scaling(rows, columns, is_cropped, *size, wanted, _CONVERSIONS.get((kind, wanted)), method)


def ratio(text: str, name: str) -> float:
    """Return the quotient of "width/height"; 0.0 where it limits nothing.

    Raises:
        InvalidArgumentError: it is not two numbers of 0 or more.
    """
    if not text:
        return 0.0
    try:
        width, height = map(float, text.split("/"))
    except ValueError:
        width = height = math.nan
    if not (width >= 0 and height >= 0):
        raise InvalidArgumentError(
            f'scaling: {name} is {text!r}, but must be two numbers such as "16/9", or "0/1" for none; change '
            "the options"
        )
    quotient = width / height if height else 0.0
    return quotient if math.isfinite(quotient) else 0.0


def cropped(width: int, height: int, least: float, most: float) -> tuple[slice, slice]:
    """Return the columns and rows that are left when a frame gets an aspect ratio from `least` to `most`.

    A side that is cut is rounded down to an even number, and cut alike at both ends. A limit of 0 is none.
    """
    left, top, wide, high = 0, 0, width, height
    if most > 0 and width / height > most:
        wide = int(height * most) // 2 * 2
        left = (width - wide) // 2
    elif least > 0 and width / height < least:
        high = int(width / least) // 2 * 2
        top = (height - high) // 2
    return slice(left, left + wide), slice(top, top + high)


def scaled(width: int, height: int, options: Options) -> tuple[int, int]:
    """Return (width, height) of the result for a frame that is cropped to this size; it may be 0.

    Raises:
        InvalidArgumentError: the frame is shrunk to an area, but sides are to be multiples of another number
            than 2.
    """
    wide, high = options.target_width, options.target_height
    keeps = options.preserve_aspect_ratio
    if 0 < options.target_max_area < width * height:
        _check_multiple(options)
        keeps, wide, high = True, -1, int(math.sqrt(options.target_max_area / (width / height)))
    if not keeps or (wide <= 0 and high <= 0):
        multiple = max(1, options.scale_to_multiple_of)
        wide, high = (wide if wide > 0 else width), (high if high > 0 else height)
        return wide - wide % multiple, high - high % multiple
    if wide > 0:
        tried = _even(wide), _even(int(wide / width * height))
        if high <= 0 or tried[1] <= high:
            return tried
    # A height that the width's proportions exceed has a width that fits.
    return _even(int(high / height * width)), _even(high)


def _check_multiple(options: Options) -> None:
    """Refuse sides that are not even where proportions are kept, since these are always even."""
    if options.scale_to_multiple_of != _EVEN:
        raise InvalidArgumentError(
            f"scale_to_multiple_of is {options.scale_to_multiple_of}, but must be 2 where proportions are "
            "kept; set preserve_aspect_ratio: false, and leave target_max_area out"
        )


def _even(side: int) -> int:
    return max(1, side // 2 * 2)
