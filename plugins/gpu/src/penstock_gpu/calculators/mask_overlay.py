"""Mixing of two images by a mask, in a shader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from penstock.errors import PenstockError, StatusCode
from penstock_formats.api import pass_header
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.image_inputs import image_at, size_of
from penstock_gpu.calculators.pixels import colours, sampled, stored
from penstock_gpu.calculators.rendering import DrawingCalculator, render
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.formats import GpuBufferFormat
from penstock_gpu.messages.mask_overlay_pb2 import MaskOverlayCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.drawing.uniform_values import UniformValue

_MASKS: Final = ("MASK", "CONST_MASK")

_FRAGMENT: Final = """\
uniform sampler2D frame;
uniform sampler2D other;
uniform sampler2D mask;
uniform float share;

void main() {
  ivec2 place = ivec2(gl_FragCoord.xy);
#if OTHER_FITS
  vec4 above = texelFetch(other, place, 0);
#else
  vec4 above = texture(other, sample_coordinate);
#endif
#if !MASKED
  float weight = share;
#elif MASK_FITS
  float weight = texelFetch(mask, place, 0).MASK_CHANNEL;
#else
  float weight = texture(mask, sample_coordinate).MASK_CHANNEL;
#endif
  gl_FragColor = mix(texelFetch(frame, place, 0), above, weight);
}
"""


class MaskOverlayCalculator(DrawingCalculator):
    """Mix two images by a mask: where it is 0 the first shows, where it is 1 the second.

    Inputs: VIDEO:0 and VIDEO:1 (GpuBuffer of any format with a texture); and either MASK (GpuBuffer) or
    CONST_MASK (float, for all pixels; values outside 0 to 1 extrapolate). Output:
    OUTPUT (GpuBuffer, BGRA32, of the size of VIDEO:0; all four channels are mixed). At a timestamp without a
    mask VIDEO:1 is forwarded unchanged; a mask without both images gives no output. VIDEO:1 and MASK may have
    other sizes: they are stretched linearly to the size of VIDEO:0. The stream header of VIDEO:0 is
    forwarded. Timestamp offset 0.

    Options `MaskOverlayCalculatorOptions`: `mask_channel`, RED (default) or ALPHA, as a shader reads the
    format of MASK. `GlContextOptions` choose the context. If the service is off, it works in NumPy.
    Against the exact value, rounded, both ways are off by at most 1 of 255, and GL by at most 3 if an image
    is stretched.

    Raises when the graph is loaded: PenstockError with the code NOT_FOUND if neither MASK nor CONST_MASK is
    connected, and with INVALID_ARGUMENT if both are. In `process`: InvalidArgumentError for a format that has
    no texture; GlError if GL fails.

    Source of the behaviour: MediaPipe `calculators/image/mask_overlay_calculator.cc`.

    Config::

        node {
          calculator: "MaskOverlayCalculator"
          input_stream: "VIDEO:0:background"
          input_stream: "VIDEO:1:person"
          input_stream: "MASK:mask"
          output_stream: "OUTPUT:mixed"
          node_options {
            [type.googleapis.com/penstock.MaskOverlayCalculatorOptions] { mask_channel: RED }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two images and a mask in, one image out.

        Raises:
            PenstockError: no mask is connected (NOT_FOUND), or both are (INVALID_ARGUMENT).
        """
        cc.inputs["VIDEO", 0].set(GpuBuffer, "where the mask is 0")
        cc.inputs["VIDEO", 1].set(GpuBuffer, "where the mask is 1")
        connected = [tag for tag in _MASKS if tag in cc.inputs]
        if len(connected) != 1:
            raise PenstockError(
                f"node {cc.node_name!r}: {' and '.join(connected) or 'no mask'} is connected; connect either "
                "MASK or CONST_MASK",
                code=StatusCode.INVALID_ARGUMENT if connected else StatusCode.NOT_FOUND,
            )
        cc.inputs["MASK"].set(GpuBuffer, "shares of VIDEO:1; or CONST_MASK").optional()
        cc.inputs["CONST_MASK"].set(float, "share of VIDEO:1, 0 to 1; or MASK").optional()
        cc.outputs["OUTPUT"].set(GpuBuffer, "the mix")
        cc.set_timestamp_offset(0)
        GlCalculatorHelper.update_contract(cc)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options; forward the stream header of VIDEO:0."""
        self._mask = next(tag for tag in _MASKS if tag in cc.inputs)
        options = cc.options(MaskOverlayCalculatorOptions)
        self._channel = 3 if options.mask_channel == MaskOverlayCalculatorOptions.ALPHA else 0
        pass_header(cc.inputs["VIDEO", 0], cc.outputs["OUTPUT"])
        super().open(cc)

    def process(self, cc: CalculatorContext) -> None:
        """Mix two images."""
        first, second, mask = cc.inputs["VIDEO", 0], cc.inputs["VIDEO", 1], cc.inputs[self._mask]
        if second.is_empty() or (first.is_empty() and not mask.is_empty()):
            return
        if mask.is_empty():
            cc.outputs["OUTPUT"].add_packet(second.packet)
            return
        weight = image_at(mask) if self._mask == "MASK" else float(mask.payload)
        frame, other = image_at(first), image_at(second)
        if self.helper.uses_gl:
            made = self.helper.run_in_gl_context(lambda: self._drawn(frame, other, weight))
        else:
            made = self._computed(frame, other, weight)
        cc.outputs["OUTPUT"].add(made, cc.input_timestamp)

    def _drawn(self, frame: GpuBuffer, other: GpuBuffer, weight: GpuBuffer | float) -> GpuBuffer:
        inputs = {"frame": frame, "other": other}
        uniforms: dict[str, UniformValue] = {}
        size = size_of(frame)
        defines = {"OTHER_FITS": int(size_of(other) == size), "MASKED": 0}
        if isinstance(weight, GpuBuffer):
            inputs["mask"] = weight
            defines.update(MASKED=1, MASK_FITS=int(size_of(weight) == size))
        else:
            uniforms["share"] = weight
        program = self.program(_FRAGMENT, defines={**defines, "MASK_CHANNEL": "ra"[self._channel // 3]})
        return render(self.helper, program, inputs, *size, GpuBufferFormat.BGRA32, uniforms)

    def _computed(self, frame: GpuBuffer, other: GpuBuffer, weight: GpuBuffer | float) -> GpuBuffer:
        below, above = colours(frame.array(), frame.format), _stretched(other, *size_of(frame))
        share: NDArray[np.float32] | np.float32
        if isinstance(weight, GpuBuffer):
            share = _stretched(weight, *size_of(frame))[..., self._channel, None]
        else:
            share = np.float32(weight)
        made = below + (above - below) * share
        return GpuBuffer.of_array(stored(made, GpuBufferFormat.BGRA32), GpuBufferFormat.BGRA32)


def _stretched(image: GpuBuffer, width: int, height: int) -> NDArray[np.float32]:
    """Return an image as a shader reads it, stretched to another size."""
    found = colours(image.array(), image.format)
    if size_of(image) == (width, height):
        return found
    columns, rows = ((np.arange(count) + 0.5) / count for count in (width, height))
    return sampled(found, columns, rows, nearest=False)
