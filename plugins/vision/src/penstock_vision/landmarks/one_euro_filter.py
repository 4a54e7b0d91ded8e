"""The 1 euro filter: a low pass whose cutoff frequency grows with the speed.

Source: G. Casiez, N. Roussel, D. Vogel, "1€ Filter: A Simple Speed-based Low-pass Filter for Noisy Input in
Interactive Systems", CHI 2012; which numbers have 32 bits is as in MediaPipe
`util/filtering/one_euro_filter.cc`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock_vision.geometry.single_precision import f32
from penstock_vision.landmarks.low_pass import LowPass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_vision.geometry.single_precision import Float32


class OneEuroFilter:
    """Filters many numbers, each alone.

    A step that starts at time 0 keeps the frequency that was there.

    Args:
        frequency: values in a second, until times tell.
        min_cutoff: in Hz, at rest.
        beta: how much the cutoff grows with the speed.
        derivate_cutoff: in Hz, of the speed.
    """

    def __init__(self, frequency: float, min_cutoff: float, beta: float, derivate_cutoff: float) -> None:
        self._frequency = frequency
        self._min_cutoff = min_cutoff
        self._beta = beta
        self._derivate_cutoff = derivate_cutoff
        self._values = LowPass()
        self._speeds = LowPass()
        self._last_time = -1

    def apply(self, time: int, value_scale: Float32, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return smooth numbers.

        Args:
            time: in nanoseconds; numbers of a time before that of the last call, or before 0, stay.
            value_scale: factor of the speed.
            values: the new numbers.
        """
        last_time, last = self._last_time, self._values.raw
        if last_time >= time:
            return values
        if last_time > 0:
            self._frequency = 1.0 / ((time - last_time) * 1e-9)
        self._last_time = time
        speed = np.zeros(values.shape, np.float32)
        if last is not None:
            moved = values.astype(np.float64) - last
            speed = (moved * float(value_scale) * self._frequency).astype(np.float32)
        speed = self._speeds.apply(speed, f32(self._alpha(self._derivate_cutoff)))
        cutoff = self._min_cutoff + self._beta * np.abs(speed.astype(np.float64))
        return self._values.apply(values, self._alpha(cutoff).astype(np.float32))

    def _alpha(self, cutoff: Any) -> Any:
        """Return the weight of a new number, one or an array as the cutoff in Hz is."""
        time_constant = 1.0 / (2 * math.pi * cutoff)
        return 1.0 / (1.0 + time_constant / (1.0 / self._frequency))
