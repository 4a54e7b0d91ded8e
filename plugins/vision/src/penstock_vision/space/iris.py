"""The irises among the landmarks of both eyes, and how large one is in an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import InvalidArgumentError
from penstock_vision.geometry.single_precision import TWO, f32, root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock_formats import NormalizedLandmark
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

#: Of both irises: five of the left one, five of the right one.
LANDMARKS = 10


class Iris(NamedTuple):
    """The points of an iris, in fractions of the image's size."""

    center: NormalizedLandmark
    top: NormalizedLandmark
    bottom: NormalizedLandmark
    left: NormalizedLandmark
    right: NormalizedLandmark

    @classmethod
    def of(cls, port: Input, indices: Sequence[int]) -> Iris:
        """Return an iris, given the places of its points among the landmarks of an input.

        Raises:
            InvalidArgumentError: there are not ten landmarks, or a place is outside.
        """
        points = port.payload.landmark
        if len(points) != LANDMARKS:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(points)} landmarks, but must hold {LANDMARKS}, five of each "
                "iris; connect those of the iris model"
            )
        for i in indices:
            if not 0 <= i < LANDMARKS:
                raise InvalidArgumentError(
                    f"an index of an iris is {i}, but must be 0 to {LANDMARKS - 1}; change it in the options"
                )
        return cls(*(points[i] for i in indices))

    def diameter(self, size: ImageSize) -> Float32:
        """Return the mean of height and width, in pixels."""
        upright = distance(self.top, self.bottom, size)
        level = distance(self.left, self.right, size)
        return (level + upright) / TWO


def distance(one: NormalizedLandmark, other: NormalizedLandmark, size: ImageSize) -> Float32:
    """Return how far two points are from each other, in pixels."""
    x = f32(one.x) * size.width - f32(other.x) * size.width
    y = f32(one.y) * size.height - f32(other.y) * size.height
    return root(x * x + y * y)
