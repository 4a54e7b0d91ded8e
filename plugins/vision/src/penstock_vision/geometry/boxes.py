"""Upright rectangles by their edges, and how much two of them overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock_vision.geometry.single_precision import ZERO, f32

if TYPE_CHECKING:
    from typing import Self, SupportsFloat

    from penstock_vision.geometry.single_precision import Float32


class Box(NamedTuple):
    """A rectangle by its edges; top is the smaller y. Touching is overlapping, with an area of 0."""

    left: Float32
    top: Float32
    right: Float32
    bottom: Float32

    @classmethod
    def of(cls, left: SupportsFloat, top: SupportsFloat, width: SupportsFloat, height: SupportsFloat) -> Self:
        """Return a box by a corner and its size, each rounded to 32 bits first."""
        x, y = f32(left), f32(top)
        return cls(x, y, x + f32(width), y + f32(height))

    def area(self) -> Float32:
        """Return width times height."""
        return (self.right - self.left) * (self.bottom - self.top)

    def overlap(self, other: Box) -> Float32 | None:
        """Return the area that both boxes cover, or None where they do not even touch."""
        left, right = max(self.left, other.left), min(self.right, other.right)
        top, bottom = max(self.top, other.top), min(self.bottom, other.bottom)
        if left > right or top > bottom:
            return None
        return (right - left) * (bottom - top)


def intersection_over_union(one: Box, other: Box) -> Float32:
    """Return 0 to 1: the area that both cover, over that which at least one covers."""
    both = one.overlap(other)
    if both is None:
        return ZERO
    either = one.area() + other.area() - both
    return both / either if either > 0 else ZERO
