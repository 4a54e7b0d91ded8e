"""One number that nobody knows exactly, followed through noisy readings of it.

The Kalman filter for a scalar that drifts like a random walk: between two moments its variance grows in
proportion to the time, and a reading pulls it towards itself by as much as it can be trusted. Source:
R. E. Kalman, "A New Approach to Linear Filtering and Prediction Problems", 1960, in the form of G. Welch
and G. Bishop, "An Introduction to the Kalman Filter", TR 95-041, with A = H = 1 and B = 0. The gate is the
test of the normalized innovation: Y. Bar-Shalom and T. Fortmann, "Tracking and Data Association", 1988.
"""

from __future__ import annotations

import math
from typing import Final

import attrs


@attrs.frozen
class Estimate:
    """What readings say together.

    Attributes:
        value: in the unit of the readings.
        variance: how far to trust it, in that unit squared; above 0, and the smaller the better.
    """

    value: float
    variance: float


class RandomWalkFilter:
    """Follows a scalar. Not thread-safe.

    Args:
        drift_variance_per_s: what a second adds to the variance; 0 or more.
        gate_sigmas: readings that are further from the estimate than so many standard deviations of what
            is expected there are refused; 0: none is.

    Attributes:
        estimate: the state; None before the first reading.
    """

    def __init__(self, drift_variance_per_s: float = 0.0, gate_sigmas: float = 0.0) -> None:
        self._drift: Final = drift_variance_per_s
        self._gate: Final = gate_sigmas
        self.estimate: Estimate | None = None

    def wait(self, seconds: float) -> None:
        """Let time pass; `seconds` is 0 or more."""
        if self.estimate is not None:
            grown = self.estimate.variance + self._drift * seconds
            self.estimate = Estimate(self.estimate.value, grown)

    def take(self, reading: float, noise_variance: float) -> bool:
        """Use a reading; return False, and change nothing, where it is not finite or the gate refuses it.

        Args:
            reading: of the scalar, now.
            noise_variance: of the reading; above 0.
        """
        if not math.isfinite(reading):
            return False
        before = self.estimate
        if before is None:
            self.estimate = Estimate(float(reading), float(noise_variance))
            return True
        innovation = reading - before.value
        expected = before.variance + noise_variance
        if self._gate and innovation * innovation > self._gate * self._gate * expected:
            return False
        # After an endless time nothing is known any more. A sum of shares cannot overflow, a difference can.
        gain = 1.0 if math.isinf(expected) else before.variance / expected
        self.estimate = Estimate((1.0 - gain) * before.value + gain * reading, gain * noise_variance)
        return True
