"""How an image becomes the size of a model's input: where it is in there, and how its pixels are computed."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Resize(Enum):
    """How an image becomes the size of a model's input."""

    #: With its aspect ratio, in the middle; the rest has `pad_value`.
    LETTERBOX = 0
    #: With its aspect ratio, in the upper left corner.
    LETTERBOX_TOP_LEFT = 1
    #: Without its aspect ratio.
    STRETCH = 2
    #: With its aspect ratio, and so large that the input is full; what stands over on two sides is cut off.
    CROP = 3
    #: STRETCH for transformers that Ultralytics exported; CROP for its classifiers, or STRETCH where their
    #: input is no square; else LETTERBOX.
    USUAL = 4


class Interpolation(Enum):
    """How the pixels of a resized image are computed."""

    #: ANTIALIAS with CROP, else LINEAR.
    USUAL = 0
    #: Of the four pixels around a place: OpenCV's INTER_LINEAR, what most detectors are trained with.
    LINEAR = 1
    #: Of all pixels that become one: Pillow's BILINEAR, what torchvision resizes with, and classifiers of
    #: Ultralytics.
    ANTIALIAS = 2
    #: Likewise, weighed by a cubic curve: Pillow's BICUBIC, what most classifiers of timm are trained with.
    ANTIALIAS_CUBIC = 3


_FILTERS: Final = {
    Interpolation.ANTIALIAS: Image.Resampling.BILINEAR,
    Interpolation.ANTIALIAS_CUBIC: Image.Resampling.BICUBIC,
}
#: An image that would be resized to more than so many times what is kept of it is cut before.
_MOST_CUT: Final = 32


class Place(NamedTuple):
    """Where an image is in a tensor, in pixels of the tensor."""

    left: int
    top: int
    right: int
    bottom: int
    #: Left, top, right and bottom of the tensor that is beside the image, in fractions of the tensor;
    #: negative where the image goes beyond the tensor.
    padding: tuple[float, float, float, float]
    #: Left, top, right and bottom of the part of the image that is resized, in its pixels.
    part: tuple[int, int, int, int]
    #: Columns and rows of the resized part.
    scaled: tuple[int, int]
    #: Columns and rows of it that are left out before the first one that stands in the tensor.
    start: tuple[int, int] = (0, 0)


def place_of(  # noqa: PLR0913, PLR0917  # two sizes
    resize: Resize, width: int, height: int, into_width: int, into_height: int, short_side: int = 0
) -> Place:
    """Return where an image of a size is in a tensor of another one, all in pixels, 1 or more.

    Args:
        resize: how it becomes that size.
        width: of the image.
        height: of the image.
        into_width: of the tensor.
        into_height: of the tensor.
        short_side: with CROP: of the resized image, whose middle is taken; 0: as the tensor has it.
    """
    whole = (0, 0, width, height)
    size = (into_width, into_height)
    if resize == Resize.STRETCH:
        return Place(0, 0, *size, (0.0, 0.0, 0.0, 0.0), whole, size)
    if resize == Resize.CROP:
        return _cropped((width, height), size, short_side)
    ratio = min(into_width / width, into_height / height)
    columns, rows = max(round(width * ratio), 1), max(round(height * ratio), 1)
    is_centred = resize != Resize.LETTERBOX_TOP_LEFT
    left = (into_width - columns) // 2 if is_centred else 0
    top = (into_height - rows) // 2 if is_centred else 0
    right, bottom = left + columns, top + rows
    padding = (
        left / into_width, top / into_height, (into_width - right) / into_width,
        (into_height - bottom) / into_height,
    )  # fmt: skip
    return Place(left, top, right, bottom, padding, whole, (columns, rows))


def _cropped(of: tuple[int, int], into: tuple[int, int], short_side: int) -> Place:
    """Return the place of the middle of an image, which fills the tensor.

    The numbers are rounded as torchvision's Resize and CenterCrop do.
    """
    short_side = short_side or min(into)
    frame = [side * short_side // min(into) for side in into]
    part = _part(of, frame)
    left, top, right, bottom = part
    width, height = right - left, bottom - top
    if frame[0] * height >= frame[1] * width:
        scaled = (frame[0], int(frame[0] * height / width))
    else:
        scaled = (int(frame[1] * width / height), frame[1])
    start = [round((scaled[i] - into[i]) / 2) for i in range(2)]
    factors = [scaled[i] / (part[i + 2] - part[i]) for i in range(2)]
    before = [(start[i] + part[i] * factors[i]) / into[i] for i in range(2)]
    after = [(of[i] - part[i]) * factors[i] / into[i] - start[i] / into[i] - 1 for i in range(2)]
    padding = (-before[0], -before[1], -after[0], -after[1])
    return Place(0, 0, *into, padding, part, scaled, (start[0], start[1]))


def _part(of: tuple[int, int], frame: list[int]) -> tuple[int, int, int, int]:
    """Return the part of an image that is resized: its middle, if it is very long."""
    (width, height), (across, down) = of, frame
    columns, rows = max(round(height * across / down), 1), max(round(width * down / across), 1)
    if max(width / columns, height / rows) <= _MOST_CUT:
        return (0, 0, width, height)
    columns, rows = min(width, columns), min(height, rows)
    left, top = (width - columns) // 2, (height - rows) // 2
    return (left, top, left + columns, top + rows)


def resized(
    pixels: NDArray[np.uint8],
    place: Place,
    size: tuple[int, int],
    interpolation: Interpolation,
    fill: tuple[int, ...],
) -> NDArray[np.uint8]:
    """Return an image in the size of a model's input.

    Args:
        pixels: (H, W, channels) or (H, W), of the image that `place` is for; it may be returned as it is.
        place: where the image is in the input.
        size: width and height of the input.
        interpolation: how pixels are computed: one that `usual_interpolation` returns.
        fill: the pixel beside the image.
    """
    made: Any = pixels
    left, top, right, bottom = place.part
    if (right - left, bottom - top) != (made.shape[1], made.shape[0]):
        made = made[top:bottom, left:right]
    if place.scaled != (right - left, bottom - top):
        made = _scaled(made, place.scaled, interpolation)
    inner = (place.right - place.left, place.bottom - place.top)
    if place.scaled != inner:
        left, top = place.start
        made = made[top : top + inner[1], left : left + inner[0]]
    if inner != size:
        edges = (place.top, size[1] - place.bottom, place.left, size[0] - place.right)
        made = cv2.copyMakeBorder(made, *edges, cv2.BORDER_CONSTANT, value=fill)
    found: NDArray[np.uint8] = made
    return found


def usual_interpolation(interpolation: Interpolation, resize: Resize) -> Interpolation:
    """Return an interpolation, and for USUAL the one that goes with `resize`."""
    if interpolation != Interpolation.USUAL:
        return interpolation
    return Interpolation.ANTIALIAS if resize == Resize.CROP else Interpolation.LINEAR


def _scaled(pixels: Any, size: tuple[int, int], interpolation: Interpolation) -> Any:
    if interpolation == Interpolation.LINEAR:
        return cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR)
    return np.asarray(Image.fromarray(pixels).resize(size, _FILTERS[interpolation]))
