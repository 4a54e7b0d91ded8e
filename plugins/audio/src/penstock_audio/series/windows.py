"""Windows that frames of sound are multiplied by before a Fourier transform.

All are periodic: the sample behind the last one would be the first one again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def hann(length: int) -> NDArray[np.float64]:
    """Return the window 0.5 - 0.5 cos(2 pi n / length)."""
    return 0.5 - 0.5 * np.cos(_angles(length))


def hamming(length: int) -> NDArray[np.float64]:
    """Return the window 0.54 - 0.46 cos(2 pi n / length)."""
    return 0.54 - 0.46 * np.cos(_angles(length))


def cosine(length: int) -> NDArray[np.float64]:
    """Return the window sin(pi n / length), the square root of the Hann window."""
    return np.sin(_angles(length) / 2)


def _angles(length: int) -> NDArray[np.float64]:
    return 2 * np.pi * np.arange(length) / length
