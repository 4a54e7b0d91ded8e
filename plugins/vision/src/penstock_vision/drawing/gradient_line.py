"""A line whose colour changes from its start to its end: a row of squares, as the reference draws it.

Source of the behaviour: MediaPipe `util/annotation_renderer.cc`, and OpenCV's `LineIterator` of
connectivity 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Sides of squares up to this many pixels are written by NumPy in one go; larger ones one by one.
_WIDEST_AT_ONCE: Final = 64


def draw_gradient_line(  # noqa: PLR0913, PLR0917  # what a line is
    image: NDArray[Any],
    start: tuple[int, int],
    end: tuple[int, int],
    color1: tuple[float, ...],
    color2: tuple[float, ...],
    thickness: int,
) -> None:
    """Draw a line of squares of side `thickness`, whose top left corners are the line's pixels.

    Args:
        image: (H, W, channels) of uint8, written to.
        start: x and y.
        end: x and y.
        color1: of the start, one number for each channel.
        color2: of the end; the last pixel is one step short of it.
        thickness: 1 or more, in pixels.
    """
    height, width = image.shape[:2]
    if not (
        0 <= start[0] < width and 0 <= start[1] < height and 0 <= end[0] < width and 0 <= end[1] < height
    ):
        is_inside, first, last = cv2.clipLine((0, 0, width, height), start, end)
        if not is_inside:
            return
        start, end = (int(first[0]), int(first[1])), (int(last[0]), int(last[1]))
    xs, ys = _pixels(start, end)
    count = len(xs)
    share = (np.arange(count) / count)[:, None]
    mixed = np.asarray(color1) * (1.0 - share) + np.asarray(color2) * share
    colors = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    if thickness > _WIDEST_AT_ONCE:
        for x, y, color in zip(xs.tolist(), ys.tolist(), mixed.tolist(), strict=True):
            cv2.rectangle(image, (x, y, thickness, thickness), color, -1, cv2.LINE_4)
        return
    if thickness > 1:
        xs, ys, order = _squares(xs, ys, thickness)
        colors = colors[order]
        if int(xs.max()) >= width or int(ys.max()) >= height:
            is_in = (xs < width) & (ys < height)
            xs, ys, colors = xs[is_in], ys[is_in], colors[is_in]
    image[ys, xs] = colors


def _pixels(start: tuple[int, int], end: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return x and y of the pixels from start to end, each beside the one before it."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    right, down = (1 if dx >= 0 else -1), (1 if dy >= 0 else -1)
    dx, dy = abs(dx), abs(dy)
    is_steep = dy > dx
    far, near = (dy, dx) if is_steep else (dx, dy)
    # after `m` steps along the longer side, ceil(m * near / far) were made along the shorter one
    m = np.arange(far, dtype=np.int64)
    is_far = np.zeros(far + near, np.bool_)
    if far:
        is_far[m - (-m * near // far)] = True
    along = np.zeros(far + near + 1, np.int64)
    np.cumsum(is_far, out=along[1:])
    across = np.arange(far + near + 1) - along
    if is_steep:
        return start[0] + right * across, start[1] + down * along
    return start[0] + right * along, start[1] + down * across


def _squares(
    xs: NDArray[np.int64], ys: NDArray[np.int64], side: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Return x, y and the number of the square of each pixel, in the order of the squares.

    Of each square only the strip is there that the next one does not cover, and all of the last one.
    """
    span = np.arange(side)
    step_x, step_y = np.diff(xs), np.diff(ys)
    strip_x = np.where(step_x[:, None] == 0, span, np.where(step_x > 0, 0, side - 1)[:, None])
    strip_y = np.where(step_y[:, None] == 0, span, np.where(step_y > 0, 0, side - 1)[:, None])
    last_x, last_y = np.tile(span, side), span.repeat(side)
    numbers = np.arange(len(xs))
    return (
        np.concatenate(((xs[:-1, None] + strip_x).ravel(), xs[-1] + last_x)),
        np.concatenate(((ys[:-1, None] + strip_y).ravel(), ys[-1] + last_y)),
        np.concatenate((numbers[:-1].repeat(side), numbers[-1:].repeat(side * side))),
    )
