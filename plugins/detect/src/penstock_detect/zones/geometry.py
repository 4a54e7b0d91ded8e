"""Points, segments and polygons: which side, whether a path crosses, inside or outside, how far.

Answers are exact: where rounding could change a sign, it is computed with fractions. A point on a line counts
as left of it, in every function alike, so that a path that is cut at such a point crosses as often as before.
"""

from __future__ import annotations

from fractions import Fraction
from math import hypot
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Above this part of its terms the sign of a 2 x 2 determinant is certain (Shewchuk's bound for orientation).
_CERTAIN: Final = 3.4e-16
#: Below it products may have lost digits.
_TINY: Final = 1e-280

Point = tuple[float, float]


def side(start: Point, end: Point, point: Point) -> int:
    """Return 1 for a point right of the line, seen from start to end in an image; -1 for left, 0 on it."""
    first = (end[0] - start[0]) * (point[1] - start[1])
    second = (end[1] - start[1]) * (point[0] - start[0])
    found = first - second
    terms = abs(first) + abs(second)
    if abs(found) <= _CERTAIN * terms or terms < _TINY:
        ax, ay, bx, by, px, py = map(Fraction, (*start, *end, *point))
        exact = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
        return (exact > 0) - (exact < 0)
    return 1 if found > 0 else -1


def crossing(start: Point, end: Point, before: Point, after: Point) -> int:
    """Return whether a straight move crosses a segment: 1 from left to right, -1 from right to left, 0 not.

    A move through an end of the segment crosses it; a move that passes outside of the ends does not.
    """
    is_right = side(start, end, after) > 0
    if (side(start, end, before) > 0) == is_right:
        return 0
    if side(before, after, start) * side(before, after, end) > 0:
        return 0
    return 1 if is_right else -1


def is_inside(polygon: Sequence[Point], point: Point) -> bool:
    """Return whether a point is in a polygon, by the even-odd rule; of two with one edge, it is in one."""
    inside = False
    start = polygon[-1]
    for end in polygon:
        if (start[1] > point[1]) != (end[1] > point[1]):
            upper, lower = (start, end) if start[1] < end[1] else (end, start)
            inside ^= side(upper, lower, point) > 0
        start = end
    return inside


def distance(start: Point, end: Point, point: Point) -> float:
    """Return how far a point is from a segment."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    from_x, from_y = point[0] - start[0], point[1] - start[1]
    square = along_x * along_x + along_y * along_y
    part = min(max((from_x * along_x + from_y * along_y) / square, 0.0), 1.0) if square else 0.0
    return hypot(from_x - part * along_x, from_y - part * along_y)


def distance_to_edge(polygon: Sequence[Point], point: Point) -> float:
    """Return how far a point is from the nearest edge of a polygon."""
    edges = zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    return min(distance(start, end, point) for start, end in edges)
