"""A box in space from the nine points of its image: its centre and its eight corners.

The corners are weighted sums of four control points: the box's centre, and the centres of its faces to the
right, to the top and to the front. So the projections of all corners are linear equations in the twelve
coordinates of the control points (EPnP: V. Lepetit, F. Moreno-Noguer, P. Fua, "EPnP: An Accurate O(n)
Solution to the PnP Problem", IJCV 2009), and the size of the box is free: its distance cannot be seen.

Corners are numbered from 1: after the centre, x the slowest, z the fastest, each from minus to plus. The
camera looks along the negative z axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How many points a box has, its centre included.
POINTS: Final = 9
#: For each corner on which side of the centre it is, along x, y, z.
_SIDES: Final = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
#: For each corner the weights of the control points; those of one corner have the sum 1.
_WEIGHTS: Final = np.column_stack([1 - _SIDES.sum(axis=1), _SIDES]).astype(np.float32)
#: For each axis the corners at the plus ends of its four edges, and those at the minus ends.
_EDGES: Final = tuple(
    (np.flatnonzero(_SIDES[:, axis] > 0) + 1, np.flatnonzero(_SIDES[:, axis] < 0) + 1) for axis in range(3)
)


class Camera(NamedTuple):
    """Focal lengths and principal point of a camera, in halves of the image's width and height."""

    focal_x: float
    focal_y: float
    center_x: float
    center_y: float


class BoxInSpace(NamedTuple):
    """A box before the camera."""

    #: 3x3; the directions of its axes are the columns.
    rotation: NDArray[np.float32]
    #: Where its centre is.
    translation: NDArray[np.float32]
    #: Its sides along its axes.
    scale: NDArray[np.float32]


def lift(points: NDArray[np.float32], camera: Camera) -> NDArray[np.float32]:
    """Return the nine points in space, of shape (9, 3), up to a common factor.

    Args:
        points: of shape (9, 2), in fractions of the image's size, y down; the centre is not used.
        camera: that took the image.
    """
    right = points[1:, 0] * np.float32(2) - np.float32(1)
    up = np.float32(1) - points[1:, 1] * np.float32(2)
    equations = np.zeros((2 * len(_WEIGHTS), 4, 3), np.float32)
    equations[0::2, :, 0] = np.float32(camera.focal_x) * _WEIGHTS
    equations[0::2, :, 2] = (np.float32(camera.center_x) + right)[:, np.newaxis] * _WEIGHTS
    equations[1::2, :, 1] = np.float32(camera.focal_y) * _WEIGHTS
    equations[1::2, :, 2] = (np.float32(camera.center_y) + up)[:, np.newaxis] * _WEIGHTS
    rows = equations.reshape(2 * len(_WEIGHTS), 12)
    # eigenvalues rise, so the first vector is the one that the equations nearly make zero
    controls = np.linalg.eigh(rows.T @ rows)[1][:, 0].reshape(4, 3).astype(np.float32)
    if controls[0, 2] > 0:
        controls = -controls
    return np.vstack([controls[:1], _WEIGHTS @ controls])


def fit_box(points: NDArray[np.float32]) -> BoxInSpace:
    """Return the box whose centre and corners are nearest to nine points, of shape (9, 3).

    The sides are the mean lengths of four edges each. The rotation is the best linear map, so it is a
    rotation only as far as the points are a box.
    """
    scale = np.array(
        [np.linalg.norm(points[plus] - points[minus], axis=1).mean() for plus, minus in _EDGES], np.float32
    )
    box = np.zeros((POINTS, 4), np.float32)
    box[1:, :3] = _SIDES * (scale / np.float32(2))
    box[:, 3] = 1
    solution = np.linalg.lstsq(box, points, rcond=None)[0].astype(np.float32)
    return BoxInSpace(solution[:3].T, solution[3], scale)
