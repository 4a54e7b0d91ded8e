"""Where a camera that moves a little has its first picture in later frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Points that are found again. More make it slower, and hardly more exact.
_POINTS: Final = 400
_QUALITY: Final = 0.002
#: Pixels between two points.
_APART: Final = 6.0
#: With fewer points a picture has too little texture to be found again.
_LEAST_POINTS: Final = 12
#: Pixels by which a point of the still scene may be off.
_TOLERANCE: Final = 1.0
#: The picture is lost if a smaller share of the points agrees. Things that move cover the others.
_LEAST_SHARE: Final = 0.2
#: Of RANSAC. With OpenCV's 2000 and 0.99 the picture of a real scene jumps by a pixel now and then.
_TRIALS: Final = 5000
_CONFIDENCE: Final = 0.9999
_WINDOW: Final = (15, 15)
_LEVELS: Final = 2


class CameraAlignment:
    """Finds the picture of one frame in later ones: how it is shifted, turned and scaled there.

    Most of the picture must be still, and the camera must go on seeing it. Each frame is compared with the
    first one, so that errors do not add up.

    Source of the method: B. Lucas, T. Kanade, "An Iterative Image Registration Technique", IJCAI 1981, and
    RANSAC, both as in OpenCV.

    Args:
        gray: (H, W) uint8, the first frame. Kept, not changed. Later ones have its size.
    """

    def __init__(self, gray: NDArray[np.uint8]) -> None:
        self._first: Final = gray
        found: Any = cv2.goodFeaturesToTrack(gray, _POINTS, _QUALITY, _APART)
        self._points: Final[Any] = None if found is None or len(found) < _LEAST_POINTS else found
        self._matrix: NDArray[np.float64] = np.eye(2, 3)

    def find(self, gray: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """Return where the first frame is in this one: (2, 3), from its pixels to those of this one.

        None where it cannot be found: the camera sees something else. A first frame without texture is taken
        to stay where it is.
        """
        if self._points is None:
            return self._matrix
        guess = cv2.transform(self._points, self._matrix).astype(np.float32)
        there, found, _ = cv2.calcOpticalFlowPyrLK(
            self._first,
            gray,
            self._points,
            guess,
            winSize=_WINDOW,
            maxLevel=_LEVELS,
            flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
        )
        is_found = found[:, 0] > 0
        least = max(_LEAST_POINTS, _LEAST_SHARE * len(self._points))
        if is_found.sum() < least:
            return None
        result: Any = cv2.estimateAffinePartial2D(
            self._points[is_found],
            there[is_found],
            ransacReprojThreshold=_TOLERANCE,
            maxIters=_TRIALS,
            confidence=_CONFIDENCE,
        )
        matrix, agrees = result
        if matrix is None or agrees.sum() < least:
            return None
        self._matrix = np.asarray(matrix, np.float64)
        return self._matrix
