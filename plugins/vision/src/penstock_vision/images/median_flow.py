"""Where a box of one frame is in the next one, by the optical flow of points inside of it.

Source of the method: Z. Kalal, K. Mikolajczyk, J. Matas, "Forward-Backward Error: Automatic Detection of
Tracking Failures", ICPR 2010. Its points are a grid; here they are corners, as a grid on an even surface
does not see it move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POINTS: Final = 60
_QUALITY: Final = 0.05
#: Pixels between two points, and by how much a point that is followed there and back may miss itself.
_APART: Final = 3.0
_MISS: Final = 1.0
#: With fewer points a box is lost.
_LEAST_POINTS: Final = 4
_WINDOW: Final = (15, 15)
_LEVELS: Final = 3
#: The images are looked at up to half a box around the box, scaled to at most so many pixels.
_AROUND: Final = 0.5
_MOST_PX: Final = 240.0
#: A box grows or shrinks by no more from one frame to the next.
_GROWTH: Final = 1.1


class Moved(NamedTuple):
    """A box in pixels, and the share of the points inside of it that could be followed, 0 to 1."""

    left: float
    top: float
    width: float
    height: float
    share: float


def median_flow(
    before: NDArray[np.uint8], now: NDArray[np.uint8], box: tuple[float, float, float, float]
) -> Moved | None:
    """Return where a box has moved to, or None where it is lost.

    Args:
        before: the frame in which the box is, (H, W, 3) or (H, W) uint8. Not changed, not kept.
        now: the next frame, of the same shape.
        box: left, top, width, height in pixels in `before`; it may reach over the borders.
    """
    left, top, width, height = box
    high, wide = before.shape[:2]
    x0, x1 = max(0, int(left - _AROUND * width)), min(wide, int(left + (1 + _AROUND) * width) + 1)
    y0, y1 = max(0, int(top - _AROUND * height)), min(high, int(top + (1 + _AROUND) * height) + 1)
    if min(x1 - x0, y1 - y0) < _WINDOW[0]:
        return None
    scale = min(1.0, _MOST_PX / max(x1 - x0, y1 - y0))
    first, second = (_gray(image[y0:y1, x0:x1], scale) for image in (before, now))
    # what a box is around mostly fills the ellipse inside of it; its corners show what is behind
    inside = np.zeros(first.shape, np.uint8)
    middle = ((left + width / 2 - x0) * scale, (top + height / 2 - y0) * scale)
    cv2.ellipse(inside, (middle, (width * scale, height * scale), 0.0), 255, -1)
    points: Any = cv2.goodFeaturesToTrack(first, _POINTS, _QUALITY, _APART, mask=inside)
    if points is None or len(points) < _LEAST_POINTS:
        return None
    there, is_followed = _followed(first, second, points)
    if is_followed.sum() < _LEAST_POINTS:
        return None
    start, end = points[is_followed, 0], there[is_followed, 0]
    shift = np.median(end - start, axis=0) / scale
    growth = _growth(start, end)
    return Moved(
        left + float(shift[0]) - width * (growth - 1) / 2,
        top + float(shift[1]) - height * (growth - 1) / 2,
        width * growth,
        height * growth,
        float(is_followed.mean()),
    )


def _gray(image: NDArray[np.uint8], scale: float) -> NDArray[np.uint8]:
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if image.ndim > 2 else np.ascontiguousarray(image)  # noqa: PLR2004  # colours
    if scale < 1:
        gray = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(gray, np.uint8)


def _followed(
    first: NDArray[np.uint8], second: NDArray[np.uint8], points: Any
) -> tuple[Any, NDArray[np.bool_]]:
    """Return where points went, (N, 1, 2), and which of them come back when they are followed back."""
    there, found, _ = _flow(first, second, points)
    back, found_back, _ = _flow(second, first, there)
    misses = np.linalg.norm(back - points, axis=2)[:, 0]
    return there, (found[:, 0] > 0) & (found_back[:, 0] > 0) & (misses < _MISS)


def _flow(first: NDArray[np.uint8], second: NDArray[np.uint8], points: Any) -> Any:
    return cv2.calcOpticalFlowPyrLK(
        first, second, points, np.empty_like(points), winSize=_WINDOW, maxLevel=_LEVELS
    )


def _growth(start: NDArray[np.float32], end: NDArray[np.float32]) -> float:
    """Return by which factor points have moved apart: the median over their pairs."""
    i, j = np.triu_indices(len(start), 1)
    before = np.linalg.norm(start[i] - start[j], axis=1)
    after = np.linalg.norm(end[i] - end[j], axis=1)
    return float(np.clip(np.median(after / np.maximum(before, 1e-6)), 1 / _GROWTH, _GROWTH))
