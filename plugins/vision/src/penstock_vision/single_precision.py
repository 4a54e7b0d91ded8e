"""Numbers of 32 bits: the reference computes in them, so each of its steps is rounded here as there.

Operations on two `numpy.float32` round by themselves. NumPy 1 makes 64 bits of a `float32` and a Python
number, so both operands are always `float32`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from typing import SupportsFloat, TypeAlias

    Float32: TypeAlias = np.float32

f32: Final = np.float32
ZERO: Final = f32(0)
HALF: Final = f32(0.5)
TWO: Final = f32(2)
#: The smallest normal number above 0: where the reference starts to look for some greatest values.
SMALLEST: Final = float(np.finfo(np.float32).tiny)
#: The greatest number, where it starts to look for least values.
GREATEST: Final = float(np.finfo(np.float32).max)
_TURN: Final = 2 * math.pi
_NAN: Final = f32(math.nan)


def normalized_angle(angle: SupportsFloat) -> Float32:
    """Return an angle in radians as the equal one from -pi to pi; NaN for NaN and infinities."""
    given = float(angle)
    # `// 1` is a floor that takes NaN
    return f32(given - _TURN * ((given + math.pi) / _TURN // 1.0))


def cosine(angle: Float32) -> Float32:
    """Return the cosine; NaN for infinities."""
    return f32(math.cos(angle)) if math.isfinite(angle) else _NAN


def sine(angle: Float32) -> Float32:
    """Return the sine; NaN for infinities."""
    return f32(math.sin(angle)) if math.isfinite(angle) else _NAN


def direction(x: Float32, y: Float32) -> Float32:
    """Return the angle of a vector in radians, counted from the x axis towards y."""
    return f32(math.atan2(y, x))


def root(number: SupportsFloat) -> Float32:
    """Return the square root of a number that is not negative."""
    return f32(math.sqrt(float(number)))
