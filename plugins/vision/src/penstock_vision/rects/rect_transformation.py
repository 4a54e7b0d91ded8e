"""RectTransformationCalculator: moves, squares and scales rectangles."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedRect, Rect
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import cosine, f32, normalized_angle, sine
from penstock_vision.messages.rect_transformation_pb2 import RectTransformationCalculatorOptions
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

_TYPES: Final = {
    "NORM_RECT": NormalizedRect,
    "NORM_RECTS": list[NormalizedRect],
    "RECT": Rect,
    "RECTS": list[Rect],
}
_LEAST_INT: Final = -(2**31)


class RectTransformationCalculator(penstock.Calculator):
    """Moves rectangles along their own sides, makes squares of them, and scales them, in this order.

    Input, exactly one: NORM_RECT or RECT, NORM_RECTS or RECTS (lists). NORM_RECT and NORM_RECTS need
    IMAGE_SIZE (tuple of width and height in pixels), since sides are compared and turned in pixels. Output
    0: the same type, with the rectangle's other fields unchanged. Timestamp offset 0; a timestamp at which
    an input is empty gives no packet.

    Options `RectTransformationCalculatorOptions`: `shift_x` and `shift_y` (0), in lengths of the rotated
    sides; `square_long` or `square_short` (false): both sides become the longer or the shorter one,
    in pixels; `scale_x` and `scale_y` (1), factors; `rotation` in radians or `rotation_degrees`, added to the
    rectangle's rotation. **As in the reference that sum only gives the direction of the shift: the rectangle
    that is sent has its old rotation.**

    Numbers of RECT are truncated to integers.

    Raises in the contract: InvalidArgumentError for no input or several. In `open`: the same for both
    rotations or both squares. In `process`: the same for a size that is none, and for a RECT beyond 32
    bits.

    Source of the behaviour: MediaPipe `calculators/util/rect_transformation_calculator.cc`.

    Config::

        node {
          calculator: "RectTransformationCalculator"
          input_stream: "NORM_RECT:palm_rect"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "hand_rect"
          options {
            [penstock.RectTransformationCalculatorOptions.ext] {
              scale_x: 2.6
              scale_y: 2.6
              shift_y: -0.5
              square_long: true
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one input, and an output of the same type.

        Raises:
            InvalidArgumentError: there is no input of rectangles, or there are several.
        """
        tag = only_one(cc.inputs, tuple(_TYPES), "input")
        cc.inputs[tag].set(_TYPES[tag], "rectangles to change")
        cc.outputs[0].set(_TYPES[tag], "the changed ones")
        size = cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        if tag.startswith("RECT"):
            size.optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options.

        Raises:
            InvalidArgumentError: both rotations are set, or both squares.
        """
        options = cc.options(RectTransformationCalculatorOptions)
        for one, other in (("rotation", "rotation_degrees"), ("square_long", "square_short")):
            if options.HasField(one) and options.HasField(other):
                raise InvalidArgumentError(
                    f"{one} and {other} are both set, but a rect can have only one; remove one from the "
                    "options"
                )
        self._tag = next(tag for tag in _TYPES if tag in cc.inputs)
        self._shift = f32(options.shift_x), f32(options.shift_y)
        self._scale = f32(options.scale_x), f32(options.scale_y)
        self._square = max if options.square_long else min if options.square_short else None
        self._radians = f32(options.rotation) if options.HasField("rotation") else None
        degrees = math.pi * options.rotation_degrees / 180.0
        self._degrees = degrees if options.HasField("rotation_degrees") else None

    def process(self, cc: CalculatorContext) -> None:
        """Change the rectangles of one packet."""
        port = cc.inputs[self._tag]
        if port.is_empty():
            return
        given = port.payload
        if self._tag.startswith("RECT"):
            change: Callable[[Any], Any] = self._in_pixels
        elif cc.inputs["IMAGE_SIZE"].is_empty():
            return
        else:
            change = partial(self._normalized, size=image_size(cc.inputs["IMAGE_SIZE"]))
        made = [change(one) for one in given] if self._tag.endswith("S") else change(given)
        cc.outputs[0].add(made, cc.stamp)

    def _normalized(self, rect: NormalizedRect, size: ImageSize) -> NormalizedRect:
        width, height = f32(rect.width), f32(rect.height)
        rotation = self._direction(f32(rect.rotation))
        along, across = width * self._shift[0], height * self._shift[1]
        if rotation:
            cos, sin = cosine(rotation), sine(rotation)
            # the order of the factors decides the last bit
            along = size.width * width * self._shift[0]
            across = size.height * height * self._shift[1]
            along, across = (
                (along * cos - across * sin) / size.width,
                (along * sin + across * cos) / size.height,
            )
        x, y = f32(rect.x_center) + along, f32(rect.y_center) + across
        if self._square is not None:
            side = self._square(width * size.width, height * size.height)
            width, height = side / size.width, side / size.height
        made = NormalizedRect()
        made.CopyFrom(rect)
        made.x_center, made.y_center = float(x), float(y)
        made.width, made.height = float(width * self._scale[0]), float(height * self._scale[1])
        return made

    def _in_pixels(self, rect: Rect) -> Rect:
        width, height = f32(rect.width), f32(rect.height)
        rotation = self._direction(f32(rect.rotation))
        along, across = width * self._shift[0], height * self._shift[1]
        if rotation:
            cos, sin = cosine(rotation), sine(rotation)
            along, across = along * cos - across * sin, along * sin + across * cos
        x, y = f32(rect.x_center) + along, f32(rect.y_center) + across
        if self._square is not None:
            width = height = self._square(width, height)
        made = Rect()
        made.CopyFrom(rect)
        made.x_center, made.y_center = _truncated(x), _truncated(y)
        made.width, made.height = _truncated(width * self._scale[0]), _truncated(height * self._scale[1])
        return made

    def _direction(self, rotation: Float32) -> Float32:
        """Return the angle of the shift for a rectangle's rotation, both in radians."""
        if self._radians is not None:
            return normalized_angle(rotation + self._radians)
        if self._degrees is not None:
            return normalized_angle(f32(float(rotation) + self._degrees))
        return rotation


def _truncated(number: Float32) -> int:
    """Return the integer part."""
    if not _LEAST_INT <= number < -_LEAST_INT:
        raise InvalidArgumentError(
            f"a number of a changed RECT is {number:g}, but a RECT has integers of 32 bits; use smaller "
            "scales and shifts, or NORM_RECT"
        )
    return int(number)
