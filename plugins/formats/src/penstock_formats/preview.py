"""Small previews of images for notebooks, as PNG.

Every format has a preview; `preview` says how numbers that are not colours are shown. OpenCV or Pillow
writes the PNG, whichever is installed; this package requires neither.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_formats.image_format import ImageFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The most pixels of the longer side of a preview: it keeps a notebook quick and small.
LONGEST: Final = 1024
_SIXTEEN_TO_EIGHT: Final = 257  # 65535 / 255
_GRAY_DIMENSIONS: Final = 2


def png(array: NDArray[Any], kind: ImageFormat) -> bytes | None:
    """Return an image as the bytes of a PNG file, at most 1024 pixels wide and high.

    Args:
        array: the pixels, in the layout of an ImageFrame of this format.
        kind: the format.

    Returns:
        None where neither OpenCV nor Pillow is installed.
    """
    picture = preview(array, kind)
    return _by_opencv(picture) if _has("cv2") else _by_pillow(picture) if _has("PIL.Image") else None


def preview(array: NDArray[Any], kind: ImageFormat, longest: int = LONGEST) -> NDArray[np.uint8]:
    """Return an image as (H, W) grey, (H, W, 3) RGB or (H, W, 4) RGBA uint8, at most `longest` a side.

    Larger images lose whole rows and columns; nothing is averaged. GRAY16 and VEC32F1 are grey, scaled from
    their least to their largest finite value; of GRAY16, 0 is black and no part of that range, since images
    of depth mean by it that nothing was measured. Colours of 16 bits are divided by 257. VEC32F2 is red and
    green, both on one scale from minus to plus the largest magnitude, so 0 is half bright. The first three
    numbers of VEC32F4 are red, green and blue, scaled from the least to the largest; the fourth is left out.
    Values that are not finite are black. The three numbers of LAB8 are shown as red, green and blue.
    """
    step = -(-max(array.shape[:2]) // longest)
    small = array[::step, ::step]
    if kind == ImageFormat.GRAY16:
        measured = np.where(small == 0, np.float32(np.nan), small.astype(np.float32))
        return _scaled(measured, *_range(measured))
    if small.dtype == np.uint16:
        return (small // _SIXTEEN_TO_EIGHT).astype(np.uint8)
    if kind == ImageFormat.VEC32F2:
        largest = np.abs(small[np.isfinite(small)]).max(initial=0.0)
        blue = np.zeros(small.shape[:2], np.uint8)
        return np.dstack([_scaled(small, -largest, largest), blue])
    if small.dtype == np.float32:
        shown = small[:, :, :3] if kind == ImageFormat.VEC32F4 else small
        return _scaled(shown, *_range(shown))
    if kind == ImageFormat.SBGRA:
        return np.ascontiguousarray(small[:, :, [2, 1, 0, 3]])
    return np.ascontiguousarray(small)


def _range(array: NDArray[np.float32]) -> tuple[float, float]:
    """Return the least and the largest finite value; infinity and minus infinity where there is none."""
    finite = array[np.isfinite(array)]
    return float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))


def _scaled(array: NDArray[np.float32], least: float, largest: float) -> NDArray[np.uint8]:
    """Return the numbers scaled from least..largest to 0..255; all 0 where the two are the same."""
    span = float(largest) - float(least)
    if not span > 0:  # only one value, or no finite value
        return np.zeros(array.shape, np.uint8)
    finite = np.isfinite(array)
    within = (np.where(finite, array, least).astype(np.float64) - least) * (255 / span)
    return np.where(finite, np.rint(within), 0).astype(np.uint8)


def _has(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


def _by_opencv(picture: NDArray[np.uint8]) -> bytes | None:
    cv2 = import_module("cv2")
    channels = 1 if picture.ndim == _GRAY_DIMENSIONS else picture.shape[2]
    turned = picture if channels == 1 else picture[:, :, [2, 1, 0, 3][:channels]]  # OpenCV writes BGR
    is_written, data = cv2.imencode(".png", np.ascontiguousarray(turned), [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return bytes(data) if is_written else None


def _by_pillow(picture: NDArray[np.uint8]) -> bytes:
    file = io.BytesIO()
    import_module("PIL.Image").fromarray(picture).save(file, "PNG", compress_level=1)
    return file.getvalue()
