"""Rectangles as drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedRect, Rect, RenderData
from penstock_vision.messages.rect_to_render_data_pb2 import RectToRenderDataCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_formats import RenderAnnotation

_INPUTS: Final = {
    "NORM_RECT": (NormalizedRect, "a rectangle in shares of the image's sides"),
    "RECT": (Rect, "a rectangle in pixels"),
    "NORM_RECTS": (list[NormalizedRect], "rectangles in shares of the image's sides"),
    "RECTS": (list[Rect], "rectangles in pixels"),
}


class RectToRenderDataCalculator(penstock.Calculator):
    """Make a drawing of rectangles: their outlines, filled rectangles, or ellipses inside of them.

    Inputs, exactly one: NORM_RECT (NormalizedRect), RECT (Rect), NORM_RECTS (list[NormalizedRect]), RECTS
    (list[Rect]). Output: RENDER_DATA (RenderData) for each packet; of an empty list a RenderData without
    annotations. A rectangle that is not turned and outside of the image has an empty shape. Timestamp
    offset 0.

    Options `RectToRenderDataCalculatorOptions`: `filled` (false), `oval` (false: a rectangle), `color`
    (black), `thickness` (1, pixels), `top_left_thickness` (pixels; none unless set): the radius of a circle
    that marks the top left corner.

    Raises when the graph is loaded: InvalidArgumentError unless exactly one input is connected. In `open`:
    the same for top_left_thickness with filled or oval.

    Source of the behaviour: MediaPipe `calculators/util/rect_to_render_data_calculator.cc`.

    Config::

        node {
          calculator: "RectToRenderDataCalculator"
          input_stream: "NORM_RECTS:hand_rects"
          output_stream: "RENDER_DATA:rects_to_draw"
          options {
            [penstock.RectToRenderDataCalculatorOptions.ext] {
              color { r: 255 g: 0 b: 0 }
              thickness: 4
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the one input.

        Raises:
            InvalidArgumentError: there is none, or more than one.
        """
        connected = [tag for tag in _INPUTS if tag in cc.inputs]
        if len(connected) != 1:
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: inputs with rects to render are {', '.join(connected) or 'none'}; "
                f"connect exactly one of {', '.join(_INPUTS)}"
            )
        cc.inputs[connected[0]].set(*_INPUTS[connected[0]])
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options.

        Raises:
            InvalidArgumentError: a corner is to be marked of a shape that is filled or an oval.
        """
        options = cc.options(RectToRenderDataCalculatorOptions)
        if options.HasField("top_left_thickness") and (options.filled or options.oval):
            shape = "filled" if options.filled else "oval"
            raise InvalidArgumentError(
                f"top_left_thickness is {options.top_left_thickness:g} and {shape} is true, but of a rect "
                "only the corner of an outline is marked; remove one of them from the options"
            )
        self._options = options
        self._tag = next(tag for tag in _INPUTS if tag in cc.inputs)

    def process(self, cc: CalculatorContext) -> None:
        """Make one drawing."""
        port = cc.inputs[self._tag]
        if port.is_empty():
            return
        rects = port.payload if self._tag.endswith("S") else (port.payload,)
        data = RenderData()
        for rect in rects:
            _place(self._shape(data), rect, is_normalized=self._tag.startswith("NORM"))
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    def _shape(self, data: RenderData) -> RenderAnnotation.Rectangle:
        """Add an annotation; return its rectangle, to be placed."""
        options = self._options
        color = options.color
        annotation = data.render_annotations.add(
            color={"r": color.r, "g": color.g, "b": color.b}, thickness=options.thickness
        )
        if options.oval:
            oval = annotation.filled_oval.oval if options.filled else annotation.oval
            rectangle = oval.rectangle
        else:
            rectangle = annotation.filled_rectangle.rectangle if options.filled else annotation.rectangle
        rectangle.SetInParent()
        if options.HasField("top_left_thickness"):
            rectangle.top_left_thickness = options.top_left_thickness
        return rectangle


def _place(
    rectangle: RenderAnnotation.Rectangle, rect: NormalizedRect | Rect, *, is_normalized: bool
) -> None:
    """Set the sides, left and top computed in 32 bits; none where it is outside of the image."""
    left = float(np.float32(rect.x_center) - np.float32(rect.width) / np.float32(2))
    top = float(np.float32(rect.y_center) - np.float32(rect.height) / np.float32(2))
    right, bottom = left + rect.width, top + rect.height
    if not rect.rotation and (right < 0 or bottom < 0 or (is_normalized and (left > 1 or top > 1))):
        return
    rectangle.normalized = is_normalized
    rectangle.left, rectangle.top = left, top
    rectangle.right, rectangle.bottom = right, bottom
    rectangle.rotation = rect.rotation
