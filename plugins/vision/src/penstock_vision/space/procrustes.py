"""The rotation, scale and translation that bring points nearest to others: the weighted Procrustes problem.

Source: D. Akca, Generalized Procrustes analysis and its applications in photogrammetry, 2003, section 2.4.
It is computed in 64 bits, and the reference computes in 32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Below it the reference takes a number for 0.
_TINY: Final = 1e-9


def similarity(
    sources: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the 4 x 4 matrix that brings points nearest to others, without reflection.

    Args:
        sources: (3, n).
        targets: (3, n).
        weights: (n,), how much each pair counts; 0 or more.

    Raises:
        InvalidArgumentError: the points are all the same, or mirrored, so that there is none.
    """
    total = weights.sum()
    center = (sources * weights).sum(axis=1) / total
    centered = (sources - center[:, None]) * weights
    design = targets @ centered.T
    spread = (centered * sources).sum()
    if not np.linalg.norm(design) > _TINY or not spread > _TINY:
        raise InvalidArgumentError(
            "all landmarks of a face are at one place, so that no Procrustes fit gives its pose; gate such "
            "faces before"
        )
    u, _, v = np.linalg.svd(design)
    if np.linalg.det(u) * np.linalg.det(v) < 0:
        u[:, 2] *= -1
    rotation = u @ v
    scale = ((rotation @ centered) * targets).sum() / spread
    if not scale > _TINY:
        raise InvalidArgumentError(
            "the Procrustes problem has no scale above 0 that brings the canonical face to the landmarks of "
            "a face; look at the model, and at origin_point_location of the environment"
        )
    made = np.eye(4)
    made[:3, :3] = scale * rotation
    made[:3, 3] = ((targets - made[:3, :3] @ sources) * weights).sum(axis=1) / total
    return made
