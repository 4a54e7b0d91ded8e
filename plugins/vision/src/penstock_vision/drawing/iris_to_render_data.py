"""IrisToRenderDataCalculator: irises as a drawing, with how far away they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock_formats import NormalizedLandmarkList, RenderData
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import TWO, f32
from penstock_vision.messages.iris_to_render_data_pb2 import IrisToRenderDataCalculatorOptions
from penstock_vision.ports import input_or_none
from penstock_vision.space.iris import Iris

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_formats import Color
    from penstock_vision.geometry.image_size import ImageSize

#: Center, top, bottom, left, right of the left iris and of the right one.
_IRISES: Final = ((0, 2, 4, 3, 1), (5, 7, 9, 6, 8))
_DEPTHS: Final = {"LEFT_IRIS_DEPTH_MM": "Left", "RIGHT_IRIS_DEPTH_MM": "Right"}
#: Height of a line of text by that of its letters.
_LINE: Final = f32(1.5)
_TEXT: Final[dict[str, Any]] = {"thickness": 5, "color": {"r": 255, "g": 0, "b": 0}}
_MM_OF_CM: Final = f32(10)


class IrisToRenderDataCalculator(penstock.Calculator):
    """Makes a drawing of the irises of a face: an oval around each, its points, and lines of text.

    Inputs IRIS (NormalizedLandmarkList of 10: centre, right, top, left, bottom of the left iris, then those
    of the right), IMAGE_SIZE (tuple of width and height in pixels), LEFT_IRIS_DEPTH_MM and
    RIGHT_IRIS_DEPTH_MM (float, optional: how far away the eyes are). Output RENDER_DATA (RenderData) at each
    timestamp of IRIS: for each iris an oval with scene_tag OVAL and five points, then a line `Left : :53 cm`
    for each depth that is not infinite. Timestamp offset 0.

    Options `IrisToRenderDataCalculatorOptions`: `oval_color`, `landmark_color` (black), `oval_thickness`,
    `landmark_thickness` (1, pixels), `font_height_px` (50), `font_face` (0), `horizontal_offset_px`,
    `vertical_offset_px` (0), `location` (TOP_LEFT; BOTTOM_LEFT).

    Raises in `process`: InvalidArgumentError for another number of landmarks, and for no size of the image.

    Source of the behaviour: MediaPipe `graphs/iris_tracking/calculators/iris_to_render_data_calculator.cc`;
    computed in 32 bits.

    Config::

        node {
          calculator: "IrisToRenderDataCalculator"
          input_stream: "IRIS:irises"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "RENDER_DATA:irises_to_draw"
          options {
            [penstock.IrisToRenderDataCalculatorOptions.ext] { oval_color { b: 255 } oval_thickness: 4 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare irises in, a drawing out."""
        cc.inputs["IRIS"].set(NormalizedLandmarkList, "10 landmarks of both irises")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        for tag in _DEPTHS:
            cc.inputs[tag].set(float, "how far away it is, in millimetres").optional()
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        options = cc.options(IrisToRenderDataCalculatorOptions)
        self._options = options
        self._oval = _style(options.oval_color, options.oval_thickness)
        self._point = _style(options.landmark_color, options.landmark_thickness)

    def process(self, cc: CalculatorContext) -> None:
        """Make one drawing."""
        port = cc.inputs["IRIS"]
        if port.is_empty():
            return
        size, data = image_size(cc.inputs["IMAGE_SIZE"]), RenderData()
        for indices in _IRISES:
            self._draw(Iris.of(port, indices), size, data)
        depths = [(name, input_or_none(cc.inputs, tag)) for tag, name in _DEPTHS.items()]
        lines = [_line(name, depth) for name, depth in depths if _is_known(depth)]
        self._write(lines, size, data)
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    def _draw(self, iris: Iris, size: ImageSize, data: RenderData) -> None:
        radius = iris.diameter(size) / TWO
        x, y = f32(iris.center.x), f32(iris.center.y)
        across, down = radius / size.width, radius / size.height
        sides = data.render_annotations.add(scene_tag="OVAL", **self._oval).oval.rectangle
        sides.top, sides.bottom = float(y - down), float(y + down)
        sides.left, sides.right = float(x - across), float(x + across)
        sides.normalized = True
        for point in iris:
            data.render_annotations.add(point={"x": point.x, "y": point.y, "normalized": True}, **self._point)

    def _write(self, lines: list[str], size: ImageSize, data: RenderData) -> None:
        options = self._options
        height = math.ceil(f32(options.font_height_px) * _LINE)
        baseline = options.vertical_offset_px
        if options.location == IrisToRenderDataCalculatorOptions.TOP_LEFT:
            baseline += height
        else:
            baseline += int(size.height) - height * len(lines)
        for i, line in enumerate(lines):
            data.render_annotations.add(
                text={
                    "display_text": line,
                    "font_height": options.font_height_px,
                    "left": options.horizontal_offset_px,
                    "baseline": baseline + i * height,
                    "font_face": options.font_face,
                },
                **_TEXT,
            )


def _style(color: Color, thickness: float) -> dict[str, Any]:
    return {"color": {"r": color.r, "g": color.g, "b": color.b}, "thickness": thickness}


def _is_known(depth: Input | None) -> bool:
    return depth is not None and not depth.is_empty() and not math.isinf(depth.payload)


def _line(name: str, depth: Input | None) -> str:
    """Return a line of text, in whole centimetres; halves are rounded away from 0."""
    centimetres = float(f32(0 if depth is None else depth.payload) / _MM_OF_CM)
    if not math.isnan(centimetres):
        centimetres = math.copysign(math.floor(abs(centimetres) + 0.5), centimetres)
    return f"{name} : :{centimetres:g} cm"
