"""Images and tables of numbers as small pictures, and pictures as JPEG and PNG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image as Pillow

from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_formats.api import preview

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Pixels of the longer side.
LONGEST: Final = 320
#: The most pixels of a row that are averaged to one.
_AVERAGED: Final = 16
#: A heat map of few rows and columns is drawn this large at least, with edges between its cells.
_SMALLEST: Final = 160
_QUALITY: Final = 82
_GREY: Final = 2
_ALPHA: Final = 4
_COLOURS: Final = 3
#: Colours of a heat map from the least number to the largest, red, green, blue: viridis of matplotlib
#: (released under CC0 by its authors), which grows lighter evenly, and is told apart by the colour blind.
_VIRIDIS: Final = np.array(
    [
        (68, 1, 84),
        (71, 44, 122),
        (59, 81, 139),
        (44, 113, 142),
        (33, 144, 141),
        (39, 173, 129),
        (92, 200, 99),
        (170, 220, 50),
        (253, 231, 37),
    ],
    float,
)
#: The colour of what is no number.
_NO_NUMBER: Final = (128, 128, 128)


def as_picture(payload: Any, longest: int = LONGEST) -> NDArray[np.uint8] | None:
    """Return an image as a small picture: (H, W) grey, (H, W, 3) RGB or (H, W, 4) RGBA uint8.

    Args:
        payload: an ImageFrame, an Image, an image on the GPU with `frame()`; or an array (H, W, 3) or
            (H, W, 4) uint8, one in a batch included.
        longest: the most pixels of a side.

    Returns:
        None for everything else.
    """
    if isinstance(payload, Image) or hasattr(type(payload), "read_view"):
        payload = payload.frame if isinstance(payload, Image) else payload.frame()
    if isinstance(payload, ImageFrame):
        return _smaller(payload.array, payload.format, longest)
    array = getattr(payload, "array", payload)
    if isinstance(array, np.ndarray) and array.dtype == np.uint8:
        while array.ndim > _COLOURS and array.shape[0] == 1:
            array = array[0]
        if array.ndim == _COLOURS and array.shape[2] in {_COLOURS, _ALPHA} and 0 not in array.shape:
            kind = ImageFormat.SRGB if array.shape[2] == _COLOURS else ImageFormat.SRGBA
            return _smaller(array, kind, longest)
    return None


def _smaller(array: NDArray[Any], kind: ImageFormat, longest: int) -> NDArray[np.uint8]:
    step = max(array.shape[:2]) // (longest * _AVERAGED) + 1
    array = array[::step, ::step]  # a view: of a very large image not every pixel is looked at
    factor = -(-max(array.shape[:2]) // longest)
    if factor == 1 or array.dtype != np.uint8 or kind == ImageFormat.SBGRA:
        return preview(array, kind, longest)  # which leaves out rows and columns
    # Columns are averaged. Of colours the rows between are left out, which is several times as quick; of
    # masks and edges at most half of them, so that thin lines stay.
    is_grey = array.ndim == _GREY
    step = factor if not is_grey else factor // 2 if factor % 2 == 0 else 1
    picture = Pillow.fromarray(np.ascontiguousarray(array[::step]))
    return np.asarray(picture.reduce((factor, factor // step)))


def heat_map(array: NDArray[Any]) -> tuple[NDArray[np.uint8], float, float]:
    """Return a table of numbers as a picture (H, W, 3) RGB, and its least and largest finite number.

    Rows and columns beyond 320 are left out evenly; a small table is drawn larger. What is not finite is
    grey.

    Args:
        array: (rows, columns) of numbers or truth values, at least 1 x 1.
    """
    step = -(-max(array.shape) // LONGEST)
    table = array[::step, ::step].astype(np.float64)
    finite = np.isfinite(table)
    least = float(table.min(where=finite, initial=np.inf)) if finite.any() else 0.0
    largest = float(table.max(where=finite, initial=-np.inf)) if finite.any() else 0.0
    span = largest - least
    share = np.where(finite, (table - least) / span if span > 0 else 0.0, 0.0) * (len(_VIRIDIS) - 1)
    colours = np.stack([np.interp(share, range(len(_VIRIDIS)), _VIRIDIS[:, i]) for i in range(3)], axis=-1)
    colours[~finite] = _NO_NUMBER
    picture = np.rint(colours).astype(np.uint8)
    larger = max(1, _SMALLEST // max(picture.shape[:2]))
    return picture.repeat(larger, axis=0).repeat(larger, axis=1), least, largest


def jpeg_or_png(picture: NDArray[np.uint8], *, exact: bool = False) -> tuple[str, bytes]:
    """Return media type and bytes of a picture: JPEG for colours, PNG for masks and with transparency.

    Args:
        picture: (H, W) grey, (H, W, 3) RGB or (H, W, 4) RGBA.
        exact: PNG in any case.
    """
    file = io.BytesIO()
    if picture.ndim == _COLOURS and picture.shape[2] == _COLOURS and not exact:
        Pillow.fromarray(picture).save(file, "JPEG", quality=_QUALITY)
        return "image/jpeg", file.getvalue()
    Pillow.fromarray(picture).save(file, "PNG", compress_level=1)
    return "image/png", file.getvalue()
