"""RectProjectionCalculator: a rectangle in a rectangle as one in the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedRect
from penstock_vision.geometry.single_precision import HALF, cosine, f32, sine

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class RectProjectionCalculator(penstock.Calculator):
    """Converts a rectangle whose numbers are fractions of another rectangle into fractions of the image.

    Inputs NORM_RECT (NormalizedRect) and NORM_REFERENCE_RECT (NormalizedRect: the one that it lies in);
    output NORM_RECT (NormalizedRect, without an id). The centre turns with the reference, sizes are
    multiplied, rotations added. Without a rectangle nothing is sent. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for a rectangle without a reference.

    Source of the behaviour: MediaPipe `calculators/util/rect_projection_calculator.cc`; computed in 32 bits.
    As there, the centre turns in fractions, not in pixels: exact where the reference is a square.

    Config::

        node {
          calculator: "RectProjectionCalculator"
          input_stream: "NORM_RECT:eye_in_face"
          input_stream: "NORM_REFERENCE_RECT:face"
          output_stream: "NORM_RECT:eye"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two rectangles in, one out."""
        cc.inputs["NORM_RECT"].set(NormalizedRect, "in fractions of the reference")
        cc.inputs["NORM_REFERENCE_RECT"].set(NormalizedRect, "the reference, in fractions of the image")
        cc.outputs["NORM_RECT"].set(NormalizedRect, "in fractions of the image")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Convert one rectangle."""
        port, other = cc.inputs["NORM_RECT"], cc.inputs["NORM_REFERENCE_RECT"]
        if port.is_empty():
            return
        if other.is_empty():
            raise InvalidArgumentError(
                f"input {other.name!r} has no packet at timestamp {cc.stamp}, but {port.name!r} has a rect "
                "to project; send the reference with it"
            )
        rect, reference = port.payload, other.payload
        x, y = f32(rect.x_center) - HALF, f32(rect.y_center) - HALF
        angle = f32(reference.rotation)
        across, down = cosine(angle) * x - sine(angle) * y, sine(angle) * x + cosine(angle) * y
        width, height = f32(reference.width), f32(reference.height)
        made = NormalizedRect(
            x_center=float(across * width + f32(reference.x_center)),
            y_center=float(down * height + f32(reference.y_center)),
            width=float(f32(rect.width) * width),
            height=float(f32(rect.height) * height),
            rotation=float(f32(rect.rotation) + angle),
        )
        cc.outputs["NORM_RECT"].add(made, cc.stamp)
