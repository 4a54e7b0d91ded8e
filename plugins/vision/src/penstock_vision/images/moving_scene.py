"""What moves before a still background that is learned meanwhile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import cv2
import numpy as np

from penstock_vision.images.camera_alignment import CameraAlignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What OpenCV's model says of a pixel that is no shadow.
_MOVES: Final = 255
#: Noise and texture that are smaller than this do not count, in pixels.
_BLUR: Final = (5, 5)
_SPECK: Final = np.ones((3, 3), np.uint8)
#: Gaps in an object that are smaller than this are closed, in pixels.
_GAP: Final = np.ones((11, 11), np.uint8)
#: A colour belongs to the background when its weight exceeds 1 less the model's share of 0.9. A weight grows
#: from 0 by a share of its distance to 1, the learning rate, in each frame: this is the logarithm of what is
#: left then.
_ABSORBED: Final = math.log(0.9)
#: The background is learned again when the camera sees less of it.
_LEAST_SEEN: Final = 0.5


class Region(NamedTuple):
    """Something that moves, in pixels: the box around it, and how many of them it covers."""

    left: int
    top: int
    width: int
    height: int
    area: float


class MovingScene:
    """A model of the background, in the place that it had in its first frame.

    Args:
        threshold: how far a colour may be from those of the background: the square of the distance in
            standard deviations.
        absorb_after_s: a thing that stops is part of the background after about so many seconds.
    """

    def __init__(self, threshold: float, absorb_after_s: float) -> None:
        self._threshold: Final = threshold
        self._absorb_after_s: Final = absorb_after_s
        self._camera: CameraAlignment | None = None
        self._size = (0, 0)

    def regions(self, image: NDArray[np.uint8], elapsed_s: float) -> list[Region]:
        """Return what moves in the next frame, the largest first; none in the first frame of a scene.

        A scene begins with the first frame, and where the size changes or the camera sees another place.

        Args:
            image: (H, W, 3) uint8 in any order of colours, or (H, W). Not kept, not changed.
            elapsed_s: the time since the frame before, so that what is learned does not depend on how many
                frames come.
        """
        gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if image.ndim > 2 else image, np.uint8)  # noqa: PLR2004  # colours
        size = (image.shape[1], image.shape[0])
        matrix = self._camera.find(gray) if self._camera is not None and size == self._size else None
        smooth = cv2.GaussianBlur(image, _BLUR, 0)
        if matrix is None:
            return self._begin(gray, smooth, size)
        back = cv2.WARP_INVERSE_MAP
        seen = cv2.warpAffine(
            np.full(gray.shape, 255, np.uint8), matrix, size, flags=back | cv2.INTER_NEAREST
        )
        if (seen > 0).mean() < _LEAST_SEEN:
            return self._begin(gray, smooth, size)
        placed = cv2.warpAffine(
            smooth, matrix, size, flags=back | cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        rate = -math.expm1(_ABSORBED * elapsed_s / self._absorb_after_s)
        moves = (self._model.apply(placed, None, rate) == _MOVES) & (seen > 0)
        mask = cv2.warpAffine(_whole(moves), matrix, size, flags=cv2.INTER_NEAREST)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        return sorted(map(_region, contours), key=lambda region: (-region.area, region))

    def _begin(
        self, gray: NDArray[np.uint8], smooth: cv2.typing.MatLike, size: tuple[int, int]
    ) -> list[Region]:
        self._size = size
        self._camera = CameraAlignment(gray)
        self._model = cv2.createBackgroundSubtractorMOG2(varThreshold=self._threshold, detectShadows=True)
        self._model.apply(smooth, None, 1.0)
        return []


def _whole(moves: NDArray[np.bool_]) -> cv2.typing.MatLike:
    """Return a mask of objects without holes, and without specks."""
    mask = cv2.morphologyEx(moves.astype(np.uint8), cv2.MORPH_OPEN, _SPECK)
    return cv2.morphologyEx(mask, cv2.MORPH_CLOSE, _GAP)


def _region(contour: cv2.typing.MatLike) -> Region:
    left, top, width, height = cv2.boundingRect(contour)
    return Region(left, top, width, height, cv2.contourArea(contour))
