"""Numbers of 32 bits: the reference computes in them, so each of its steps is rounded here as there.

Operations on two `numpy.float32` round by themselves. NumPy 1 makes 64 bits of a `float32` and a Python
number, so both operands are always `float32`.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
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


def _of_c(name: str, instead: Callable[..., float], arguments: int) -> Callable[..., float]:
    """Return a function of the C library for 32 bits, which the reference calls; else that for 64 bits.

    The C library's results for 32 bits are not always the ones nearest to the right number.
    """
    try:
        found = getattr(ctypes.PyDLL(None), name)
    except (OSError, AttributeError, TypeError):  # a system on which the process does not show it
        return instead
    found.restype = ctypes.c_float
    found.argtypes = [ctypes.c_float] * arguments
    return found  # type: ignore[no-any-return]  # ctypes has no types


_COSINE: Final = _of_c("cosf", math.cos, 1)
_SINE: Final = _of_c("sinf", math.sin, 1)
_DIRECTION: Final = _of_c("atan2f", math.atan2, 2)


def normalized_angle(angle: SupportsFloat) -> Float32:
    """Return an angle in radians as the equal one from -pi to pi; NaN for NaN and infinities."""
    given = float(angle)
    # `// 1` is a floor that takes NaN
    return f32(given - _TURN * ((given + math.pi) / _TURN // 1.0))


def cosine(angle: Float32) -> Float32:
    """Return the cosine; NaN for infinities."""
    return f32(_COSINE(angle)) if math.isfinite(angle) else _NAN


def sine(angle: Float32) -> Float32:
    """Return the sine; NaN for infinities."""
    return f32(_SINE(angle)) if math.isfinite(angle) else _NAN


def direction(x: Float32, y: Float32) -> Float32:
    """Return the angle of a vector in radians, counted from the x axis towards y."""
    return f32(_DIRECTION(y, x))


def root(number: SupportsFloat) -> Float32:
    """Return the square root of a number that is not negative."""
    return f32(math.sqrt(float(number)))
