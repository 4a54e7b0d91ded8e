"""A low pass for many numbers at once, each filtered alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_vision.geometry.single_precision import Float32


class LowPass:
    """Moves from the number before towards a new one, by a part of the distance."""

    __slots__ = ("raw", "smooth")

    def __init__(self) -> None:
        #: The newest numbers as they came; None before the first.
        self.raw: NDArray[np.float32] | None = None
        #: What `apply` returned last.
        self.smooth: NDArray[np.float32] | None = None

    def apply(self, values: NDArray[np.float32], alpha: Float32 | NDArray[np.float32]) -> NDArray[np.float32]:
        """Return smooth numbers; the first ones are returned as they are.

        Args:
            values: the new numbers.
            alpha: the weight of a new number, 0 to 1: one for all, or one for each.
        """
        smooth = values
        if self.smooth is not None:
            # as in the reference one product has 32 bits, the other one 64
            kept = (1.0 - np.asarray(alpha, np.float64)) * self.smooth
            smooth = (np.asarray(alpha * values, np.float64) + kept).astype(np.float32)
        self.raw, self.smooth = values, smooth
        return smooth
