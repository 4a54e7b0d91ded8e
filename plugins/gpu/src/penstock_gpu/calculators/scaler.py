"""Scaling, quarter turns and flips of images, in a shader."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import InvalidArgumentError
from penstock_formats import VideoHeader
from penstock_formats.api import ScaleMode, pass_header
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.image_inputs import image_at, size_of, video
from penstock_gpu.calculators.pixels import BORDER, colours, stored
from penstock_gpu.calculators.placement import Placement, checked_size, quarters_of
from penstock_gpu.calculators.rendering import DrawingCalculator, render
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.formats import GpuBufferFormat, image_format
from penstock_gpu.messages.scaler_pb2 import GlScalerCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.drawing.uniform_values import UniformValue

_SETTINGS: Final = ("OUTPUT_DIMENSIONS", "ROTATION")

#: `inside` is the position in the turned image: outside 0 to 1 the result is left free.
_VERTEX: Final = """\
in vec4 position;
in vec4 texture_coordinate;
uniform vec2 covered;
uniform mat2 turn;
out vec2 inside;
out vec2 sample_coordinate;

void main() {
  gl_Position = position;
  vec2 from_middle = (texture_coordinate.xy - 0.5) / covered;
  inside = from_middle + 0.5;
  sample_coordinate = turn * from_middle + 0.5;
}
"""
_FRAGMENT: Final = f"""\
in vec2 inside;
in vec2 sample_coordinate;
uniform sampler2D frame;

void main() {{
#if EXACT
  ivec2 size = textureSize(frame, 0);
  ivec2 place = ivec2(floor(sample_coordinate * vec2(size) + {BORDER}));
  vec4 color = texelFetch(frame, clamp(place, ivec2(0), size - 1), 0);
#else
  vec4 color = texture(frame, sample_coordinate);
#endif
#if FITS
  bool is_free = any(lessThan(inside, vec2(-1e-5))) || any(greaterThanEqual(inside, vec2(1.0 - 1e-5)));
  color = is_free ? vec4(0.0) : color;
#endif
#if ALPHA_ONLY
  color = color.aaaa;
#endif
  gl_FragColor = color;
}}
"""


class GlScalerCalculator(DrawingCalculator):
    """Scale each image, turn it by quarters, and flip it, in this order.

    Inputs:
        VIDEO, or an untagged one: GpuBuffer of any format with a texture.
        OUTPUT_DIMENSIONS (optional): (width, height) in pixels. If it is connected, an image at a timestamp
            without it gives no output.
        ROTATION (optional): int, counterclockwise degrees, a multiple of 90; the latest value counts.
    Input side packets: OUTPUT_DIMENSIONS and ROTATION, of the same types, and OPTIONS, a
        GlScalerCalculatorOptions or a CalculatorOptions with that extension, merged into the options;
        all optional. A stream takes precedence over a side packet, and that over the options.
    Outputs:
        VIDEO, or an untagged one: GpuBuffer, BGRA32, or with `use_input_format_for_output` the format of the
            input.
        TOP_BOTTOM_PADDING, LEFT_RIGHT_PADDING (optional): float, 0 to 0.5: the part of the height and of the
            width that FIT leaves free at each of the two sides; 0 in other modes.

    Options `GlScalerCalculatorOptions`: `output_width` and `output_height` in pixels (used if both are
    given); else `output_scale`, with sides rounded to multiples of 4, at least 4; else the image keeps its
    size. `rotation` (0) in counterclockwise degrees, `flip_horizontal`, `flip_vertical` (after the turn).
    `scale_mode`: STRETCH (default); FIT keeps the proportions and leaves the rest 0, transparent black;
    FILL_AND_CROP keeps them and crops the image. `use_nearest_neighbor_interpolation`: the default is linear,
    between the four pixels around a position, also if the image shrinks. `use_input_format_for_output`.

    A stream header is forwarded; a VideoHeader with the resulting size and format. Timestamp
    offset 0. `GlContextOptions` choose the context. If the service is off, it works in NumPy.

    Without interpolation (turns, flips, `use_nearest_neighbor_interpolation`, a padding of whole pixels)
    values are exact. Else the driver's linear interpolation counts: with 8 bits of weight, it is within 2 of
    255 of the exact value.

    Raises: InvalidArgumentError for a rotation that is not a multiple of 90, an invalid size or scale, a
    format that has no texture; GlError if GL fails, for example for a size above its limit.

    Source of the behaviour: MediaPipe `gpu/gl_scaler_calculator.cc`. There a negative rotation has no effect;
    here -90 is 270.

    Config::

        node {
          calculator: "GlScalerCalculator"
          input_stream: "VIDEO:image"
          output_stream: "VIDEO:scaled"
          output_stream: "TOP_BOTTOM_PADDING:ends"
          output_stream: "LEFT_RIGHT_PADDING:sides"
          node_options {
            [type.googleapis.com/penstock.GlScalerCalculatorOptions] {
              output_width: 256
              output_height: 256
              scale_mode: FIT
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports that are connected."""
        cc.inputs[video(cc.inputs)].set(GpuBuffer, "images")
        cc.outputs[video(cc.outputs)].set(GpuBuffer, "scaled images")
        cc.outputs["TOP_BOTTOM_PADDING"].set(float, "part that is free at top and bottom each").optional()
        cc.outputs["LEFT_RIGHT_PADDING"].set(float, "part that is free at left and right each").optional()
        sides = cc.input_side_packets
        for ports in (cc.inputs, sides):
            ports["OUTPUT_DIMENSIONS"].set_one_of(
                tuple, list, description="(width, height) in pixels"
            ).optional()
            ports["ROTATION"].set(int, "degrees against the clock, a multiple of 90").optional()
        options = (GlScalerCalculatorOptions, CalculatorOptions)
        sides["OPTIONS"].set_one_of(*options, description="goes before the options").optional()
        cc.set_timestamp_offset(0)
        GlCalculatorHelper.update_contract(cc)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read options and side packets; forward the stream header."""
        sides = cc.input_side_packets
        options = cc.options(GlScalerCalculatorOptions)
        if "OPTIONS" in sides:
            merged: Any = sides["OPTIONS"].payload
            extension: Any = GlScalerCalculatorOptions.ext
            options.MergeFrom(
                merged.Extensions[extension] if isinstance(merged, CalculatorOptions) else merged
            )
        placement = _changed(
            _from_options(options), {tag: sides[tag].payload for tag in _SETTINGS if tag in sides}
        )
        self._placement = placement
        self._keeps_format = options.use_input_format_for_output
        self._streams = [tag for tag in _SETTINGS if tag in cc.inputs]
        self._source, self._target = video(cc.inputs), video(cc.outputs)
        self._pass_header(cc)
        super().open(cc)

    def process(self, cc: CalculatorContext) -> None:
        """Scale one image."""
        if self._streams:
            given = {tag: cc.inputs[tag].payload for tag in self._streams if not cc.inputs[tag].is_empty()}
            self._placement = _changed(self._placement, given)
            if "OUTPUT_DIMENSIONS" in self._streams and "OUTPUT_DIMENSIONS" not in given:
                return
        if cc.inputs[self._source].is_empty():
            return
        image = image_at(cc.inputs[self._source])
        if self.helper.uses_gl:
            made = self.helper.run_in_gl_context(lambda: self._drawn(image))
        else:
            made = self._computed(image)
        at = cc.input_timestamp
        cc.outputs[self._target].add(made, at)
        padding = self._placement.padding(*size_of(image))
        for tag, part in zip(("TOP_BOTTOM_PADDING", "LEFT_RIGHT_PADDING"), padding, strict=True):
            if tag in cc.outputs:
                cc.outputs[tag].add(part, at)

    def _drawn(self, image: GpuBuffer) -> GpuBuffer:
        placement, size, kind = self._placement, size_of(image), self._kind(image)
        defines = {
            "EXACT": int(placement.keeps_pixels(*size)),
            "FITS": int(placement.fits),
            "ALPHA_ONLY": int(kind == GpuBufferFormat.ONE_COMPONENT8_ALPHA),
        }
        program = self.program(_FRAGMENT, _VERTEX, defines)
        uniforms: dict[str, UniformValue] = {"covered": placement.covered(*size), "turn": placement.turn()}
        return render(self.helper, program, {"frame": image}, *placement.size_of(*size), kind, uniforms)

    def _computed(self, image: GpuBuffer) -> GpuBuffer:
        kind = self._kind(image)
        made = self._placement.apply(colours(image.array(), image.format))
        if kind == GpuBufferFormat.ONE_COMPONENT8_ALPHA:
            made = np.repeat(made[..., 3:], 4, axis=2)
        return GpuBuffer.of_array(stored(made, kind), kind)

    def _kind(self, image: GpuBuffer) -> GpuBufferFormat:
        return image.format if self._keeps_format else GpuBufferFormat.BGRA32

    def _pass_header(self, cc: CalculatorContext) -> None:
        """Forward the stream header, without a size if streams may change it."""
        source, target = cc.inputs[self._source], cc.outputs[self._target]
        header, changes = source.header.payload, {}
        if isinstance(header, VideoHeader):
            known = header.width > 0 and header.height > 0 and not self._streams
            changes["width"], changes["height"] = (
                self._placement.size_of(header.width, header.height) if known else (0, 0)
            )
            if not self._keeps_format:
                changes["format"] = image_format(GpuBufferFormat.BGRA32)
        pass_header(source, target, **changes)


def _from_options(options: GlScalerCalculatorOptions) -> Placement:
    scale = options.output_scale if options.HasField("output_scale") else 0.0
    if options.HasField("output_scale") and not 0 < scale < math.inf:
        raise InvalidArgumentError(
            f"output_scale of the scaler is {scale:g}, but must be above 0 and finite; change it in the "
            "options"
        )
    width, height = checked_size((options.output_width, options.output_height))
    mode = options.scale_mode
    return Placement(
        width,
        height,
        scale=scale,
        quarters=quarters_of(options.rotation),
        flip_horizontal=options.flip_horizontal,
        flip_vertical=options.flip_vertical,
        mode=ScaleMode.STRETCH if mode == ScaleMode.DEFAULT else mode,
        nearest=options.use_nearest_neighbor_interpolation,
    )


def _changed(placement: Placement, given: dict[str, Any]) -> Placement:
    """Return `placement` with the values of side packets or streams, by tag."""
    if "OUTPUT_DIMENSIONS" in given:
        width, height = checked_size(given["OUTPUT_DIMENSIONS"])
        placement = attrs.evolve(placement, width=width, height=height)
    if "ROTATION" in given:
        placement = attrs.evolve(placement, quarters=quarters_of(given["ROTATION"]))
    return placement
