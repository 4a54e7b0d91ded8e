"""Which box of one list is which of another: overlaps, and the pairs with the largest sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def overlaps(some: Numbers, others: Numbers) -> Numbers:
    """Return the intersection divided by the union of each pair of boxes, (n, m); 0 where that is 0 / 0.

    Args:
        some: (n, 4): left, top, right, bottom.
        others: (m, 4): likewise.
    """
    low = np.maximum(some[:, None, :2], others[None, :, :2])
    high = np.minimum(some[:, None, 2:], others[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=2)
    areas = [np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0), axis=1) for boxes in (some, others)]
    union = areas[0][:, None] + areas[1][None, :] - shared
    found: Numbers = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return found


def pairs(worth: Numbers, allowed: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the pairs with the largest sum of worth.

    No row and no column is in two pairs. As many allowed pairs are made as add to the sum; the same
    arguments give the same pairs.

    Args:
        worth: (n, m): above 0 where a pair is allowed.
        allowed: (n, m): which pairs may be made.
    """
    wanted = np.where(allowed, worth, 0.0)
    has_any = np.flatnonzero(allowed.any(axis=1)), np.flatnonzero(allowed.any(axis=0))
    rows, columns = linear_sum_assignment(wanted[np.ix_(*has_any)], maximize=True)
    rows, columns = has_any[0][rows], has_any[1][columns]
    is_allowed = allowed[rows, columns]
    return rows[is_allowed], columns[is_allowed]
