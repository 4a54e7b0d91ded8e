"""Keypoints of a detection in pixels, and the rotation that turns the vector between two of them upright."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_vision.geometry.single_precision import TWO, direction, f32, normalized_angle, root

if TYPE_CHECKING:
    from typing import TypeAlias

    from penstock_formats import Detection
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

    Point: TypeAlias = tuple[Float32, Float32]


def keypoint_in_pixels(detection: Detection, index: int, size: ImageSize) -> Point:
    """Return x and y of a keypoint.

    Raises:
        InvalidArgumentError: the detection does not have it.
    """
    keypoints = detection.location_data.relative_keypoints
    if not 0 <= index < len(keypoints):
        raise InvalidArgumentError(
            f"a detection has {len(keypoints)} keypoints, but keypoint {index} is needed; connect detections "
            "of a model that finds it, or change the index in the options"
        )
    keypoint = keypoints[index]
    return f32(keypoint.x) * size.width, f32(keypoint.y) * size.height


def rotation_between(start: Point, end: Point, target: Float32) -> Float32:
    """Return the rotation in radians that gives the vector from start to end the target angle.

    Args:
        start: in pixels, y down.
        end: likewise.
        target: in radians, counter-clockwise from the positive x axis.
    """
    return normalized_angle(target - direction(end[0] - start[0], -(end[1] - start[1])))


def square_around(center: Point, edge: Point, size: ImageSize) -> tuple[Float32, Float32, Float32, Float32]:
    """Return x, y, width and height, in fractions of the image's size, of a square in pixels.

    Its half side is the distance of both points.
    """
    x, y = edge[0] - center[0], edge[1] - center[1]
    side = TWO * root(x * x + y * y)
    return center[0] / size.width, center[1] / size.height, side / size.width, side / size.height
