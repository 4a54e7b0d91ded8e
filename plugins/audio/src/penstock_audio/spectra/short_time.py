"""The short-time Fourier transform of a series that comes in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Windows that are multiplied and transformed together: a long packet has very many.
_AT_ONCE: Final = 256


class ShortTimeTransform:
    """Takes samples, and returns the spectrum of each window that is complete.

    Args:
        channels: rows of what is taken.
        window: what samples are multiplied by; its element type is the type of the computation, float64 or
            float32 (NumPy before 2.0 transforms in float64 in any case).
        step: samples from window to window, at most the length of the window.
        size: points of the transform, at least the length of the window; zeros fill it up.
    """

    def __init__(self, channels: int, window: NDArray[Any], step: int, size: int) -> None:
        self._window: Final = window
        self._step: Final = step
        self._size: Final = size
        self._empty: Final = np.zeros((channels, 0), window.dtype)
        self._waiting = self._empty

    def reset(self) -> None:
        """Drop the samples that do not fill a window."""
        self._waiting = self._empty

    def take(self, samples: NDArray[np.float32]) -> NDArray[Any]:
        """Take samples, (channels, n), and return spectra, (channels, windows, size / 2 + 1), complex.

        A value is the sum of x[n] exp(+2 pi i k n / size): the reference's sign, the conjugate of NumPy's.
        """
        waiting = np.concatenate([self._waiting, samples.astype(self._window.dtype)], axis=1)
        length = len(self._window)
        count = max((waiting.shape[1] - length) // self._step + 1, 0)
        if not count:
            self._waiting = waiting
            return np.zeros((waiting.shape[0], 0, self._size // 2 + 1), np.complex128)
        frames = sliding_window_view(waiting, length, axis=1)[:, :: self._step][:, :count]
        parts = [
            np.fft.rfft(frames[:, at : at + _AT_ONCE] * self._window, self._size, axis=2)
            for at in range(0, count, _AT_ONCE)
        ]
        self._waiting = waiting[:, count * self._step :].copy()
        return np.conj(np.concatenate(parts, axis=1))
