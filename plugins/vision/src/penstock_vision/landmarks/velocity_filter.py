"""A low pass that follows fast numbers faster: the speed over the last values decides."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import numpy as np

from penstock_vision.geometry.single_precision import ZERO, f32
from penstock_vision.landmarks.low_pass import LowPass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_vision.geometry.single_precision import Float32

_ONE: Final = f32(1)
#: Nanoseconds of one change at 30 values in a second.
_USUAL: Final = 1_000_000_000 // 30


class VelocityFilter:
    """Filters many numbers, each alone, with speeds relative to the size of an object.

    The window of changes is full from the start: its first elements are no distance in no time.

    Args:
        window_size: how many changes count.
        velocity_scale: factor of the speed.
    """

    def __init__(self, window_size: int, velocity_scale: float) -> None:
        self._velocity_scale = f32(velocity_scale)
        #: Distances and nanoseconds, the newest first.
        self._window: deque[tuple[Float32 | NDArray[np.float32], int]] = deque(
            [(ZERO, 0)] * window_size, maxlen=window_size
        )
        self._low_pass = LowPass()
        self._last_time = -1
        self._last_scale = ZERO

    def apply(self, time: int, value_scale: Float32, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return smooth numbers.

        Args:
            time: in nanoseconds; numbers of a time before that of the last call, or before 0, stay.
            value_scale: factor of all distances.
            values: the new numbers.
        """
        if self._last_time >= time:
            return values
        last = self._low_pass.raw
        alpha: Float32 | NDArray[np.float32] = _ONE
        if last is not None:
            distance = values * value_scale - last * self._last_scale
            duration = time - self._last_time
            far, long = distance, duration
            longest = (1 + len(self._window)) * _USUAL
            for part, took in self._window:
                if long + took > longest:
                    break
                far = far + part  # a new array: `distance` stays in the window
                long += took
            velocity = (far / np.float64(long * 1e-9)).astype(np.float32)
            alpha = _ONE - _ONE / (_ONE + self._velocity_scale * np.abs(velocity))
            self._window.appendleft((distance, duration))
        self._last_scale = value_scale
        self._last_time = time
        return self._low_pass.apply(values, alpha)
