"""The matrix that maps a rotated region of an image to the image, both in fractions of their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_vision.geometry.single_precision import HALF, ZERO, cosine, f32, sine

if TYPE_CHECKING:
    from penstock_formats import NormalizedRect
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32


def region_matrix(
    region: NormalizedRect, size: ImageSize, *, ignores_rotation: bool = False
) -> list[Float32]:
    """Return 4x4 numbers, row after row; z is scaled as x is.

    Args:
        region: in fractions of the image's size.
        size: of the image.
        ignores_rotation: take the region as not rotated.
    """
    width, height = f32(region.width) * size.width, f32(region.height) * size.height
    x, y = f32(region.x_center) * size.width, f32(region.y_center) * size.height
    rotation = ZERO if ignores_rotation else f32(region.rotation)
    cos, sin = cosine(rotation), sine(rotation)
    one = f32(1)
    across, down = one / size.width, one / size.height
    return [
        width * cos * across,
        -height * sin * across,
        ZERO,
        (-HALF * width * cos + HALF * height * sin + x) * across,
        width * sin * down,
        height * cos * down,
        ZERO,
        (-HALF * height * cos - HALF * width * sin + y) * down,
        ZERO,
        ZERO,
        width * across,
        *(ZERO, ZERO, ZERO, ZERO, one),
    ]
