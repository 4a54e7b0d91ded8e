"""The position of an image in a result of another size: scaled, turned by quarters, mirrored.

A position is (x, y) from 0 to 1, y downwards. The shader and NumPy use the same numbers.

Source of the rules: MediaPipe `gpu/gl_scaler_calculator.cc` and `gpu/gl_quad_renderer.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import check_frame_size
from penstock_formats.api import ScaleMode
from penstock_gpu.calculators.pixels import BORDER, sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUARTER: Final = 90
_QUARTERS: Final = 4
#: Sides of a scaled image are multiples of this.
_ALIGNMENT: Final = 4
#: Proportions that differ by less count as equal.
_ALIKE: Final = 1e-5


@attrs.frozen
class Placement:
    """How each image is transformed: scaled, then turned, then flipped."""

    #: `width`, `height`: of the result in pixels; used if both are above 0.
    width: int = 0
    height: int = 0
    #: Factor for both sides if no size is given; the sides are rounded to multiples of 4. 0 keeps them.
    scale: float = 0.0
    #: Counterclockwise quarter turns: 0, 1, 2 or 3.
    quarters: int = 0
    #: Swaps left and right, after the turn.
    flip_horizontal: bool = False
    #: Swaps top and bottom, after the turn.
    flip_vertical: bool = False
    #: Number of a ScaleMode: STRETCH, FIT or FILL_AND_CROP.
    mode: int = ScaleMode.STRETCH
    #: Take the nearest pixel; else linear.
    nearest: bool = False

    @property
    def fits(self) -> bool:
        """Whether the image may leave a part of the result free."""
        return self.mode == ScaleMode.FIT

    def size_of(self, width: int, height: int) -> tuple[int, int]:
        """Return (width, height) of the result for an image of this size.

        Raises:
            ResourceExhaustedError: the scaled image would take too much memory.
        """
        if self.width > 0 and self.height > 0:
            return self.width, self.height
        if self.scale > 0:
            check_frame_size(width * self.scale, height * self.scale, f"output_scale {self.scale:g}")
            width, height = _aligned(width * self.scale), _aligned(height * self.scale)
        return (height, width) if self.quarters % 2 else (width, height)

    def padding(self, width: int, height: int) -> tuple[float, float]:
        """Return the parts that FIT leaves free: at top and at bottom, at left and at right."""
        if not self.fits:
            return 0.0, 0.0
        covered_x, covered_y = self.covered(width, height)
        ends, sides = (1 - covered_y) / 2, (1 - covered_x) / 2
        return (ends if ends > _ALIKE else 0.0), (sides if sides > _ALIKE else 0.0)

    def covered(self, width: int, height: int) -> tuple[float, float]:
        """Return the parts of the result that the turned image spans; above 1 it is cropped."""
        if self.mode == ScaleMode.STRETCH:
            return 1.0, 1.0
        result_width, result_height = self.size_of(width, height)
        if self.quarters % 2:
            width, height = height, width
        across, down = width / result_width, height / result_height
        limit = max(across, down) if self.fits else min(across, down)
        return across / limit, down / limit

    def turn(self) -> NDArray[np.float64]:
        """Return the 2x2 matrix from positions in the result to those in the image, around the middles."""
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        flips = np.diag([-1.0 if self.flip_horizontal else 1.0, -1.0 if self.flip_vertical else 1.0])
        found: NDArray[np.float64] = np.linalg.matrix_power(quarter, self.quarters) @ flips
        return found

    def keeps_pixels(self, width: int, height: int) -> bool:
        """Return whether each pixel of the result equals one of the image, with any interpolation."""
        if self.nearest:
            return True
        result = self.size_of(width, height)
        turned = (height, width) if self.quarters % 2 else (width, height)
        covered = self.covered(width, height)
        return all(
            abs(part * whole - side) < BORDER and (whole - side) % 2 == 0
            for part, whole, side in zip(covered, result, turned, strict=True)
        )

    def apply(self, image: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the result for an image, (H, W, channels); 0 where the image does not cover it."""
        height, width = image.shape[:2]
        result, covered = self.size_of(width, height), self.covered(width, height)
        across, down = (_places(count, part) for count, part in zip(result, covered, strict=True))
        turn = self.turn()
        given: list[NDArray[Any]] = [across, down]
        by = [0, 1] if self.quarters % 2 == 0 else [1, 0]
        columns, rows = (turn[axis, by[axis]] * (given[by[axis]] - 0.5) + 0.5 for axis in (0, 1))
        found = sampled(image, columns, rows, nearest=self.keeps_pixels(width, height))
        if self.quarters % 2:
            found = found.transpose(1, 0, 2)
        if self.fits:
            found = found * (_inside(down)[:, None, None] & _inside(across)[None, :, None])
        return found


def quarters_of(degrees: int) -> int:
    """Return `degrees` as counterclockwise quarter turns: 0 to 3.

    Raises:
        InvalidArgumentError: `degrees` is not a multiple of 90.
    """
    if degrees % _QUARTER:
        raise InvalidArgumentError(
            f"rotation of the placement is {degrees} degrees, but must be a multiple of {_QUARTER}; use "
            "another calculator for other angles"
        )
    return degrees // _QUARTER % _QUARTERS


def checked_size(size: object) -> tuple[int, int]:
    """Return (width, height) as ints.

    Raises:
        InvalidArgumentError: `size` is not two whole numbers of 0 or more.
        ResourceExhaustedError: so large an image would take too much memory.
    """
    sides = tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(sides) != 2 or not all(type(side) is int and side >= 0 for side in sides):  # noqa: PLR2004
        raise InvalidArgumentError(
            f"output dimensions of the placement are {size!r}, but must be (width, height) in whole pixels, "
            "0 for the image's own"
        )
    check_frame_size(*sides, "output dimensions")
    return sides


def _aligned(side: float) -> int:
    """Return the multiple of 4 nearest to a side, at least 4."""
    return max((int(side) + _ALIGNMENT // 2) // _ALIGNMENT, 1) * _ALIGNMENT


def _places(count: int, covered: float) -> NDArray[np.float64]:
    """Return the middle of each of `count` pixels as a position in an image that covers a part of them."""
    return (((np.arange(count) + 0.5) / count - 0.5) / covered) + 0.5


def _inside(places: NDArray[np.float64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (places >= -_ALIKE) & (places < 1 - _ALIKE)
    return found
