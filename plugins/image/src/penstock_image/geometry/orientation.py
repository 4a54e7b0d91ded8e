"""Scaling, quarter turns and flips of an array of pixels, and the resulting sizes.

Pure functions of arrays (H, W) or (H, W, channels) in any element type that OpenCV scales (uint8,
uint16, float32). Inputs are borrowed and never changed; a result is new memory, or the input
itself where there is nothing to do.

Source of the rules: MediaPipe `calculators/image/image_transformation_calculator.cc`. With a quarter
turn or half turn and an explicit size, the reference's CPU path turns the scaled image about a point
beside its middle, and loses a column and row or whole sides; its GPU path gives the whole image, and
this module does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats.api import ScaleMode

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUARTER: Final = 90
#: Looked up once: a constant of a protobuf enum costs as much as a call.
_STRETCH: Final[int] = ScaleMode.STRETCH
_FIT: Final[int] = ScaleMode.FIT
_TURNS: Final = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_CLOCKWISE}


@attrs.frozen
class Transformation:
    """How each image is transformed: scaled, then turned, then flipped."""

    #: `width`, `height`: of the result in pixels, after the turn; where either is 0, the image keeps its own
    #: size.
    width: int = 0
    height: int = 0
    #: Counterclockwise turn: 0, 90, 180 or 270.
    degrees: int = 0
    #: Left and right change places, after the turn.
    flip_horizontally: bool = False
    #: Top and bottom change places, after the turn.
    flip_vertically: bool = False
    #: Number of a ScaleMode: STRETCH, FIT or FILL_AND_CROP.
    mode: int = ScaleMode.STRETCH
    #: Take the nearest pixel when scaling; else linear, or the area's mean when shrinking.
    nearest: bool = False
    #: (red, green, blue) around an image that FIT scales; None repeats its outermost pixels.
    padding: tuple[int, int, int] | None = (0, 0, 0)

    @property
    def scales(self) -> bool:
        """Whether a size is requested."""
        return self.width > 0 and self.height > 0

    @property
    def turns_a_quarter(self) -> bool:
        """Whether width and height change places."""
        return self.degrees % (2 * _QUARTER) != 0

    def apply(self, image: NDArray[Any]) -> NDArray[Any]:
        """Return the transformed image."""
        if self.width and self.height:  # `scales`, without the call
            image = self._scaled(image)
        if self.degrees:
            image = cv2.rotate(image, _TURNS[self.degrees])
        if self.flip_horizontally or self.flip_vertically:
            both = self.flip_horizontally and self.flip_vertically
            image = cv2.flip(image, -1 if both else int(self.flip_horizontally))
        return image

    def size_of(self, width: int, height: int) -> tuple[int, int]:
        """Return (width, height) of the result of `apply` for an image of this size."""
        if self.turns_a_quarter:
            width, height = height, width
        if not self.scales:
            return width, height
        if self.mode == ScaleMode.FILL_AND_CROP:
            return _fitted(width, height, self.width, self.height)
        return self.width, self.height

    def letterbox(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Return (left, top, right, bottom): the part of the result that FIT fills at each side."""
        if not self.scales or self.mode != ScaleMode.FIT:
            return 0.0, 0.0, 0.0, 0.0
        if self.turns_a_quarter:
            width, height = height, width
        image, result = width / height, self.width / self.height
        sides = max(0.0, (1 - image / result) / 2)
        ends = max(0.0, (1 - result / image) / 2)
        return sides, ends, sides, ends

    def _scaled(self, image: NDArray[Any]) -> NDArray[Any]:
        """Return the image in the requested size, before the turn."""
        height, width = image.shape[:2]
        asked = (self.height, self.width) if self.turns_a_quarter else (self.width, self.height)
        inner = asked if self.mode == _STRETCH else _fitted(width, height, *asked)
        if inner != (width, height):
            narrower, lower = inner[0] < width, inner[1] < height
            shrinks = (narrower and lower) if self.mode == _STRETCH else (narrower or lower)
            linear = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
            method = cv2.INTER_NEAREST if self.nearest else linear
            image = cv2.resize(image, inner, interpolation=method)
        if self.mode == _FIT and inner != asked:
            image = self._padded(image, asked[0] - inner[0], asked[1] - inner[1])
        return image

    def _padded(self, image: NDArray[Any], across: int, down: int) -> NDArray[Any]:
        """Return the image in the middle of one that is `across` pixels wider and `down` pixels higher."""
        left, top = across // 2, down // 2
        kind = cv2.BORDER_REPLICATE if self.padding is None else cv2.BORDER_CONSTANT
        filled = cv2.copyMakeBorder(
            image, top, down - top, left, across - left, kind, value=(*(self.padding or (0, 0, 0)), 0)
        )
        return np.asarray(filled)


def quarter_turns(degrees: int) -> int:
    """Return 0, 90, 180 or 270 for any multiple of 90.

    Raises:
        InvalidArgumentError: `degrees` is not a multiple of 90.
    """
    if degrees % _QUARTER:
        raise InvalidArgumentError(
            f"the orientation is turned by {degrees} degrees, but must be a multiple of 90 (counterclockwise)"
        )
    return degrees % (4 * _QUARTER)


def _fitted(width: int, height: int, most_width: int, most_height: int) -> tuple[int, int]:
    """Return the largest size of the same proportions inside another, each side at least 1.

    It computes in single precision and rounds half up, as the reference does: sizes agree to the pixel.
    """
    scale = min(np.float32(most_width) / np.float32(width), np.float32(most_height) / np.float32(height))
    return tuple(
        max(1, int(np.floor(np.float32(side) * scale + np.float32(0.5)))) for side in (width, height)
    )  # type: ignore[return-value]  # two sides
