"""The arc tangent of two float32 numbers as the C library computes it.

glibc's `atan2f` does not always round as a double that is rounded afterwards does, and the reference calls
it. Where there is no such library the rounded double is taken: it differs in the last bit at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

_Function: TypeAlias = Callable[[float, float], float]
_LIBRARY: Final = "libm.so.6"


def _found() -> _Function:
    try:
        import ctypes  # a Python without libffi lacks it

        function = ctypes.CDLL(_LIBRARY).atan2f
    except (ImportError, OSError, AttributeError):
        return math.atan2
    function.restype = ctypes.c_float
    function.argtypes = (ctypes.c_float, ctypes.c_float)
    return function


_ATAN2: Final = _found()


def atan2f(y: float, x: float) -> float:
    """Return the angle of the point (x, y) in radians, from -pi to pi; round it to float32."""
    return _ATAN2(y, x)
