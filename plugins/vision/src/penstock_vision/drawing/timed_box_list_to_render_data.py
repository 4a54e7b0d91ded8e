"""TimedBoxListToRenderDataCalculator: timed boxes as drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock_formats import RenderData, TimedBoxProtoList
from penstock_vision.geometry.single_precision import f32
from penstock_vision.messages.timed_box_list_to_render_data_pb2 import (
    TimedBoxListToRenderDataCalculatorOptions,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_formats import RenderAnnotation, TimedBoxProto

#: Where the label is in its box, in fractions of the box: its left end, its baseline, its height.
_TEXT_LEFT: Final = f32(0.2)
_TEXT_BASELINE: Final = f32(0.6)
_TEXT_HEIGHT: Final = f32(0.1)
_ONE: Final = f32(1)


class TimedBoxListToRenderDataCalculator(penstock.Calculator):
    """Makes a drawing of timed boxes: a rectangle, or the lines of a quadrilateral, and the label in it.

    Input BOX_LIST (TimedBoxProtoList); output RENDER_DATA (RenderData, in fractions of the image's sides) for
    each packet. A box with corners (`quad`, an even number of coordinates) is drawn by them, another by its
    edges and its rotation. A label begins a fifth of the box from its left edge, its baseline is three fifths
    below its top. Timestamp offset 0.

    Options `TimedBoxListToRenderDataCalculatorOptions`: `box_color` (black), `thickness` (1, pixels).

    Source of the behaviour: MediaPipe `calculators/util/timed_box_list_to_render_data_calculator.cc`;
    computed in 32 bits.

    Config::

        node {
          calculator: "TimedBoxListToRenderDataCalculator"
          input_stream: "BOX_LIST:boxes"
          output_stream: "RENDER_DATA:boxes_to_draw"
          options {
            [penstock.TimedBoxListToRenderDataCalculatorOptions.ext] { box_color { g: 255 } thickness: 4 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare boxes in, a drawing out."""
        cc.inputs["BOX_LIST"].set(TimedBoxProtoList, "boxes")
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        options = cc.options(TimedBoxListToRenderDataCalculatorOptions)
        color = options.box_color
        self._style: dict[str, Any] = {
            "color": {"r": color.r, "g": color.g, "b": color.b},
            "thickness": options.thickness,
        }

    def process(self, cc: CalculatorContext) -> None:
        """Make one drawing."""
        port = cc.inputs["BOX_LIST"]
        if port.is_empty():
            return
        data = RenderData()
        for box in port.payload.box:
            self._draw(box, data)
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    def _draw(self, box: TimedBoxProto, data: RenderData) -> None:
        corners = box.quad.vertices
        if corners and len(corners) % 2 == 0:
            points = list(zip(corners[::2], corners[1::2], strict=True))
            for start, end in zip(points, points[1:] + points[:1], strict=True):
                line = self._annotation(data).line
                line.normalized = True
                line.x_start, line.y_start = start
                line.x_end, line.y_end = end
        else:
            rectangle = self._annotation(data).rectangle
            rectangle.normalized = True
            rectangle.left, rectangle.right = box.left, box.right
            rectangle.top, rectangle.bottom = box.top, box.bottom
            rectangle.rotation = box.rotation
        if box.HasField("label"):
            self._write(box, data)

    def _write(self, box: TimedBoxProto, data: RenderData) -> None:
        """Add the label of a box."""
        left, top, right, bottom = map(f32, (box.left, box.top, box.right, box.bottom))
        text = self._annotation(data).text
        text.display_text = box.label
        text.normalized = True
        text.left = float((_ONE - _TEXT_LEFT) * left + _TEXT_LEFT * right)
        text.baseline = float(_TEXT_BASELINE * bottom + (_ONE - _TEXT_BASELINE) * top)
        text.font_height = float(min(bottom - top, right - left) * _TEXT_HEIGHT)

    def _annotation(self, data: RenderData) -> RenderAnnotation:
        return data.render_annotations.add(**self._style)
