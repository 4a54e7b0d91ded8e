"""Edges of a grey image by the Sobel filter, in a shader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_gpu.calculators.pixels import colours, stored
from penstock_gpu.calculators.rendering import OneShaderCalculator
from penstock_gpu.formats import GpuBufferFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FRAGMENT: Final = """\
uniform sampler2D frame;

float at(int right, int down) {
  ivec2 place = ivec2(gl_FragCoord.xy) + ivec2(right, down);
  return texelFetch(frame, clamp(place, ivec2(0), textureSize(frame, 0) - 1), 0).r;
}

void main() {
  float top_left = at(-1, -1), top_right = at(1, -1), bottom_left = at(-1, 1), bottom_right = at(1, 1);
  float across = top_right + 2.0 * at(1, 0) + bottom_right - top_left - 2.0 * at(-1, 0) - bottom_left;
  float down = bottom_left + 2.0 * at(0, 1) + bottom_right - top_left - 2.0 * at(0, -1) - top_right;
  gl_FragColor = vec4(vec3(length(vec2(across, down))), 1.0);
}
"""


class SobelEdgesCalculator(OneShaderCalculator):
    """Compute the strength of the edges in each image: the length of its Sobel gradient.

    Input: VIDEO, or a single untagged one (GpuBuffer; only its red channel is read, so it should be grey,
    such as the output of LuminanceCalculator). Output: VIDEO or untagged (GpuBuffer, BGRA32, of the same
    size: red, green and blue are the length, at most 255, alpha is 255). Beyond the border the outermost
    pixels are repeated. A stream header is forwarded. Timestamp offset 0.

    No options of its own; `GlContextOptions` choose the context. If the service is off, it works in
    NumPy. Against the exact value, rounded, both ways are off by at most 1 of 255.

    Raises in `process`: InvalidArgumentError for a format that has no texture; GlError if GL fails.

    Source of the behaviour: MediaPipe `calculators/image/sobel_edges_calculator.cc`.

    Config::

        node {
          calculator: "SobelEdgesCalculator"
          input_stream: "VIDEO:gray"
          output_stream: "VIDEO:edges"
        }
    """

    fragment = _FRAGMENT

    def cpu_render(self, src: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the edges, computed without GL."""
        red = np.pad(colours(src)[..., 0], 1, mode="edge")
        right, left = _smoothed(red[:, 2:]), _smoothed(red[:, :-2])
        below, above = _smoothed(red[2:].T), _smoothed(red[:-2].T)
        length = np.hypot(right - left, (below - above).T)
        image = np.ones((*length.shape, 4), np.float32)
        image[..., :3] = length[..., None]
        found: NDArray[np.uint8] = stored(image, GpuBufferFormat.BGRA32)
        return found


def _smoothed(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return twice each pixel plus those above and below it: (H + 2, W) gives (H, W)."""
    return columns[:-2] + 2 * columns[1:-1] + columns[2:]
