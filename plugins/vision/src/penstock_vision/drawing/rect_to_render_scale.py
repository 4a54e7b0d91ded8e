"""RectToRenderScaleCalculator: how large drawings are to be beside the thing that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import NormalizedRect
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import f32
from penstock_vision.messages.rect_to_render_scale_pb2 import RectToRenderScaleCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class RectToRenderScaleCalculator(penstock.Calculator):
    """Sends the longer side of a rectangle in pixels, times a number: the RENDER_SCALE of drawings.

    Inputs NORM_RECT (NormalizedRect) and IMAGE_SIZE (tuple of width and height in pixels); output
    RENDER_SCALE (float). Where IMAGE_SIZE has a packet and NORM_RECT has none, the scale is `multiplier`.
    Timestamp offset 0.

    Options `RectToRenderScaleCalculatorOptions`: `multiplier` (0.01), `process_timestamp_bounds` (false:
    only at timestamps with packets; true: whenever timestamps are settled, once for several).

    Raises in `process`: InvalidArgumentError if a rectangle has no size of an image beside it.

    Source of the behaviour: MediaPipe `calculators/util/rect_to_render_scale_calculator.cc`.

    Config::

        node {
          calculator: "RectToRenderScaleCalculator"
          input_stream: "NORM_RECT:pose_rect"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "RENDER_SCALE:render_scale"
          options { [penstock.RectToRenderScaleCalculatorOptions.ext] { multiplier: 0.0012 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a rectangle and a size in, a number out."""
        cc.inputs["NORM_RECT"].set(NormalizedRect, "the place of what is drawn")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        cc.outputs["RENDER_SCALE"].set(float, "factor of the thickness of drawings")
        options = cc.options(RectToRenderScaleCalculatorOptions)
        cc.set_process_timestamp_bounds(options.process_timestamp_bounds)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Take the factor."""
        self._multiplier = f32(cc.options(RectToRenderScaleCalculatorOptions).multiplier)

    def process(self, cc: CalculatorContext) -> None:
        """Measure one rectangle."""
        scale, port = self._multiplier, cc.inputs["NORM_RECT"]
        if not port.is_empty():
            size, rect = image_size(cc.inputs["IMAGE_SIZE"]), port.payload
            scale = max(f32(rect.width) * size.width, f32(rect.height) * size.height) * self._multiplier
        cc.outputs["RENDER_SCALE"].add(float(scale), cc.stamp)
