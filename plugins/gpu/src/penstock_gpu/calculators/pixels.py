"""Images in NumPy, by the rules of textures: for calculators that run without GL.

An image is (H, W, 4) float32: red, green, blue, alpha, 0 to 1 for formats of bytes, any range for formats of
floats. Missing channels read as in a shader: green and blue 0, alpha 1, and the one channel of gray as red,
green and blue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_gpu.formats import format_of_array, gl_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_gpu.formats import GpuBufferFormat

_BYTE_MAX: Final = 255
_COLOURS: Final = 4
#: GL_ONE, and the first number of GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA.
_ONE: Final = 1
_FIRST: Final = 0x1903


def colours(array: NDArray[Any], kind: GpuBufferFormat | None = None) -> NDArray[np.float32]:
    """Return an image as a shader reads it from a texture.

    Args:
        array: (H, W) or (H, W, channels), of a format that a GpuBuffer has. It is not changed.
        kind: its format; None for the usual one of shape and element type.

    Returns:
        (H, W, 4) float32, new memory.
    """
    layout = gl_layout(format_of_array(array, kind))
    channels = array[:, :, None] if array.ndim == 2 else array  # noqa: PLR2004  # (H, W)
    found = np.zeros((*array.shape[:2], _COLOURS), np.float32)
    found[..., 3] = 1
    if layout.swizzle is None:
        found[..., : layout.channels] = _scaled(channels)
        return found
    read = _scaled(channels)
    for channel, source in enumerate(layout.swizzle):
        found[..., channel] = read[..., source - _FIRST] if source >= _FIRST else source == _ONE
    return found


def stored(image: NDArray[np.float32], kind: GpuBufferFormat) -> NDArray[Any]:
    """Return the values that a texture of a format stores when a shader writes an image to it.

    Bytes are rounded to the nearest; values outside 0 to 1 are clamped.

    Args:
        image: (H, W, 4) float32. It is not changed.
        kind: the format.

    Returns:
        (H, W) or (H, W, channels) of that format, C-contiguous.
    """
    layout = gl_layout(kind)
    kept = image[..., : layout.channels]
    if layout.dtype == np.uint8:
        scaled = np.clip(kept, 0, 1) * np.float32(_BYTE_MAX) + np.float32(0.5)
        kept = scaled.astype(np.uint8)
    else:
        kept = kept.astype(layout.dtype)
    return np.ascontiguousarray(kept[..., 0] if layout.channels == 1 else kept)


def sampled(
    image: NDArray[np.float32], columns: NDArray[np.float64], rows: NDArray[np.float64], *, nearest: bool
) -> NDArray[np.float32]:
    """Return an image sampled on a grid, as a texture whose edges are clamped.

    Args:
        image: (H, W, channels) float32.
        columns: positions from left to right, 0 at the left edge, 1 at the right one.
        rows: positions from top to bottom.
        nearest: take the pixel at a position; else the linear mean of the four around it.

    Returns:
        (len(rows), len(columns), channels) float32.
    """
    height, width = image.shape[:2]
    if nearest:
        found: NDArray[np.float32] = image[texels(rows, height)][:, texels(columns, width)]
        return found
    return _between(_between(image, rows, 0), columns, 1)


def texels(places: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the texels, of `count`, at positions of 0 to 1; a border belongs to the texel after it."""
    return np.clip(np.floor(places * count + BORDER), 0, count - 1).astype(np.intp)


#: How near to a border, in texels, a position counts as on it: more than the error of floats, here and in a
#: shader.
BORDER: Final = 1 / 1024


def _between(image: NDArray[np.float32], places: NDArray[np.float64], axis: int) -> NDArray[np.float32]:
    """Return an image interpolated along one axis."""
    count = image.shape[axis]
    at = places * count - 0.5
    below = np.floor(at)
    shape = [1, 1, 1]
    shape[axis] = len(places)
    weight = (at - below).astype(np.float32).reshape(shape)
    low = image.take(np.clip(below, 0, count - 1).astype(np.intp), axis)
    high = image.take(np.clip(below + 1, 0, count - 1).astype(np.intp), axis)
    found: NDArray[np.float32] = low + (high - low) * weight
    return found


def _scaled(channels: NDArray[Any]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = channels.astype(np.float32)
    if channels.dtype == np.uint8:
        found /= np.float32(_BYTE_MAX)
    return found
