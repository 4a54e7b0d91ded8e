"""Conversion of colours to their brightness, in a shader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_gpu.calculators.pixels import colours, stored
from penstock_gpu.calculators.rendering import OneShaderCalculator
from penstock_gpu.formats import GpuBufferFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Weights of red, green and blue. Source: MediaPipe `calculators/image/luminance_calculator.cc`; they are
#: those of ITU-R BT.709, rounded.
WEIGHTS: Final = (0.2125, 0.7154, 0.0721)
_COLOUR_DIMENSIONS: Final = 3

_FRAGMENT: Final = f"""\
uniform sampler2D frame;

void main() {{
  vec4 color = texelFetch(frame, ivec2(gl_FragCoord.xy), 0);
  gl_FragColor = vec4(vec3(dot(color.rgb, vec3{WEIGHTS})), color.a);
}}
"""


class LuminanceCalculator(OneShaderCalculator):
    """Make each image grey by its brightness.

    Input: VIDEO, or a single untagged one (GpuBuffer of any format with a texture). Output: VIDEO or
    untagged (GpuBuffer, BGRA32, of the same size: red, green and blue are 0.2125 R + 0.7154 G +
    0.0721 B, alpha is unchanged; 1 if the input has none). A stream header is forwarded. Timestamp
    offset 0.

    No options of its own; `GlContextOptions` choose the context. If the service is off, it works in
    NumPy. Against the exact value, rounded, both ways are off by at most 1 of 255.

    Raises in `process`: InvalidArgumentError for a format that has no texture; GlError if GL fails.

    Source of the weights: MediaPipe `calculators/image/luminance_calculator.cc`.

    Config::

        node {
          calculator: "LuminanceCalculator"
          input_stream: "VIDEO:frame"
          output_stream: "VIDEO:gray"
        }
    """

    fragment = _FRAGMENT

    def cpu_render(self, src: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the grey image, computed without GL."""
        if src.dtype == np.uint8 and src.ndim == _COLOUR_DIMENSIONS and src.shape[2] >= len(WEIGHTS):
            return _of_bytes(src)
        image = colours(src)
        image[..., :3] = (image[..., :3] @ np.asarray(WEIGHTS, np.float32))[..., None]
        found: NDArray[np.uint8] = stored(image, GpuBufferFormat.BGRA32)
        return found


def _of_bytes(src: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the grey image of (H, W, 3) or (H, W, 4) bytes: the usual case, several times faster."""
    value = np.full(src.shape[:2], 0.5, np.float32)  # rounds, since the conversion to bytes truncates
    for channel, weight in enumerate(WEIGHTS):
        value += np.multiply(src[..., channel], np.float32(weight), dtype=np.float32)
    found = np.full((*src.shape[:2], 4), 255, np.uint8)
    found[..., :3] = value.astype(np.uint8)[..., None]
    if src.shape[2] > len(WEIGHTS):
        found[..., 3] = src[..., 3]
    return found
