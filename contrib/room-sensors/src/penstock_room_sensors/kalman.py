"""Estimates one number from noisy readings of it.

The Kalman filter for a scalar that drifts like a random walk: between two moments its variance grows in
proportion to the time, and a reading moves the estimate the more, the less noisy it is. Source:
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
    """An estimate from all readings so far."""

    #: In the unit of the readings.
    value: float
    #: The variance of the value, in that unit squared; above 0, smaller is more exact.
    variance: float


class RandomWalkFilter:
    """Estimates a scalar. Not thread-safe.

    Args:
        drift_variance_per_s: how much the variance grows in a second; 0 or more.
        gate_sigmas: a reading is refused if it is further from the estimate than this many standard
            deviations of their expected difference; 0: no reading is refused.
    """

    def __init__(self, drift_variance_per_s: float = 0.0, gate_sigmas: float = 0.0) -> None:
        self._drift: Final = drift_variance_per_s
        self._gate: Final = gate_sigmas
        #: The state; None before the first reading.
        self.estimate: Estimate | None = None

    def wait(self, seconds: float) -> None:
        """Add the drift of `seconds`, 0 or more, to the variance."""
        if self.estimate is not None:
            grown = self.estimate.variance + self._drift * seconds
            self.estimate = Estimate(self.estimate.value, grown)

    def take(self, reading: float, noise_variance: float) -> bool:
        """Use a reading; if it is not finite or the gate refuses it, return False and change nothing.

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
        # An infinite variance means that nothing is known. A weighted sum cannot overflow, a difference can.
        gain = 1.0 if math.isinf(expected) else before.variance / expected
        self.estimate = Estimate((1.0 - gain) * before.value + gain * reading, gain * noise_variance)
        return True
