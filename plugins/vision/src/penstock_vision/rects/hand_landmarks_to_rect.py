"""HandLandmarksToRectCalculator: makes a rectangle that contains a hand, upright with the hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList, NormalizedRect
from penstock_vision.detections.keypoints import rotation_between
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import (
    GREATEST,
    SMALLEST,
    TWO,
    cosine,
    f32,
    normalized_angle,
    sine,
)
from penstock_vision.landmarks.landmark_table import LandmarkTable

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

_ALL: Final = 21
#: Of all landmarks, those that are used: no finger tips, and of the fingers two joints each.
_USED: Final = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18]
#: Among those that are used: the wrist, and a joint of the index, the middle and the ring finger.
_JOINTS: Final = [0, 4, 6, 8]
_UPRIGHT: Final = f32(math.pi * 0.5)


class HandLandmarksToRectCalculator(penstock.Calculator):
    """Makes a rectangle around the landmarks of a hand, rotated so that the hand is upright in it.

    Inputs: NORM_LANDMARKS (NormalizedLandmarkList), the 21 landmarks of a hand, or of these only the 12
    with the indices 0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18, which are all that counts; IMAGE_SIZE (tuple
    of width and height in pixels). Output NORM_RECT (NormalizedRect). Timestamp offset 0; no landmarks give
    no packet.

    The rotation, in radians and clockwise, turns the vector from the wrist to the middle of three finger
    joints upright. The rectangle contains the landmarks as tightly as one with that rotation can. As in the
    reference, the right and the lower edge of the landmarks are found by a search that starts just above 0,
    so landmarks that are all left of or above the image give a larger rectangle.

    Raises in `process`: InvalidArgumentError for landmarks without IMAGE_SIZE, for a size that is none, and
    for fewer than 9 landmarks.

    Source of the behaviour: MediaPipe
    `modules/hand_landmark/calculators/hand_landmarks_to_rect_calculator.cc`.

    Config::

        node {
          calculator: "HandLandmarksToRectCalculator"
          input_stream: "NORM_LANDMARKS:hand_landmarks"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_RECT:hand_rect"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks and size in, a rectangle out."""
        cc.inputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "the 21 landmarks of a hand")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        cc.outputs["NORM_RECT"].set(NormalizedRect, "where the hand is, and how it is rotated")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make the rectangle of one hand."""
        port = cc.inputs["NORM_LANDMARKS"]
        if port.is_empty():
            return
        points = LandmarkTable.of(port.payload).values[:, :2]
        if len(points) == _ALL:
            points = points[_USED]
        elif len(points) <= _JOINTS[-1]:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(points)} landmarks, but a hand has {_ALL}; connect the "
                "landmarks of a hand model"
            )
        cc.outputs["NORM_RECT"].add(_rect(points, image_size(cc.inputs["IMAGE_SIZE"])), cc.stamp)


def _rect(points: NDArray[float32], size: ImageSize) -> NormalizedRect:
    rotation = _rotation(points, size)
    middle, _ = _middle_and_sides(points)
    back = normalized_angle(-rotation)
    cos, sin = cosine(back), sine(back)
    around = (points - middle) * np.array(size, np.float32)
    turned = around * cos + around[:, ::-1] * np.array((-sin, sin), np.float32)
    (x, y), (width, height) = _middle_and_sides(turned)
    cos, sin = cosine(rotation), sine(rotation)
    center_x = x * cos - y * sin + size.width * middle[0]
    center_y = x * sin + y * cos + size.height * middle[1]
    return NormalizedRect(
        x_center=float(center_x / size.width),
        y_center=float(center_y / size.height),
        width=float(width / size.width),
        height=float(height / size.height),
        rotation=float(rotation),
    )


def _rotation(points: NDArray[float32], size: ImageSize) -> Float32:
    (x, y), (index_x, index_y), (middle_x, middle_y), (ring_x, ring_y) = points[_JOINTS]
    return rotation_between(
        (x * size.width, y * size.height),
        (
            ((index_x + ring_x) / TWO + middle_x) / TWO * size.width,
            ((index_y + ring_y) / TWO + middle_y) / TWO * size.height,
        ),
        _UPRIGHT,
    )


def _middle_and_sides(points: NDArray[float32]) -> tuple[NDArray[float32], NDArray[float32]]:
    """Return x and y of the middle, and width and height, of the upright box around points.

    The search of its right and lower edge starts just above 0; what is no number is left out.
    """
    low = np.fmin.reduce(points, axis=0, initial=GREATEST)
    high = np.fmax.reduce(points, axis=0, initial=SMALLEST)
    return (high + low) / TWO, high - low
