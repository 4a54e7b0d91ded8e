"""One image in main memory: a read-only NumPy view and the format of its pixels.

Decoders and image calculators make frames; any number of nodes may read one at once. The
invariant: shape and element type are those of the format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats.array_payload import ArrayPayload
from penstock_formats.image_format import LAYOUTS, ImageFormat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Layout → the format of an array whose maker names no format: the first with that layout.
_USUAL: Final[dict[tuple[int, np.dtype[np.generic]], ImageFormat]] = {
    layout: kind for kind, layout in reversed(LAYOUTS.items())
}
#: The same by what an array has: its shape after rows and columns, and its element type.
_USUAL_OF: Final[dict[tuple[tuple[int, ...], np.dtype[np.generic]], ImageFormat]] = {
    (() if channels == 1 else (channels,), dtype): kind for (channels, dtype), kind in _USUAL.items()
}
_GRAY_DIMENSIONS: Final = 2
_COLOR_DIMENSIONS: Final = 3


@final
class ImageFrame(ArrayPayload):
    """An image that does not change once it is in a packet.

    Row 0 is at the top, column 0 at the left. The colours of SRGB are red, green, blue in this order: an
    image of `cv2.imread` is blue first, and must be converted. `array` cannot be written to: draw on a copy.
    Two frames are equal when they are the same object. Frames pickle, as a copy.

    Args:
        data: (H, W, channels), or (H, W) for one channel ((H, W, 1) is taken as that), at least
            1 x 1, with the element type of `format`; strides are free. Borrowed, not copied: the
            frame keeps the memory alive and shows later writes to it, so the maker stops writing
            once the frame is in a packet. The caller's array object stays writable.
        format: what the pixels mean; None takes the usual one for shape and element type: SRGB,
            SRGBA, GRAY8, GRAY16, SRGB48, SRGBA64, VEC32F1, VEC32F2, VEC32F4.
        copy: take a copy of `data` instead; the maker may go on writing.

    Raises:
        InvalidArgumentError: shape or element type do not fit the format, or no frame can have the
            format. Nothing is kept.
    """

    __slots__ = ("_format",)

    def __init__(
        self,
        data: ArrayLike,
        format: ImageFormat | int | None = None,  # noqa: A002  # the word that everyone expects
        *,
        copy: bool = False,
    ) -> None:
        # Most frames are made just after a call of OpenCV has emptied the processor's caches, when each
        # further function costs a microsecond. So an array of a usual format is checked here, by one look-up.
        array = data if data.__class__ is np.ndarray else np.asarray(data)
        usual = _USUAL_OF.get((array.shape[2:], array.dtype))
        if usual is None or (format is not None and format is not usual) or array.ndim < 2 or not array.size:  # noqa: PLR2004
            if array.ndim == _COLOR_DIMENSIONS and array.shape[2] == 1:
                array = array[:, :, 0]
            usual = _checked_format(array, format)
        self._format = usual
        self._hold(array, copy=copy)

    @property
    def format(self) -> ImageFormat:
        """What the pixels mean."""
        return self._format

    @property
    def width(self) -> int:
        """Columns."""
        return int(self._array.shape[1])

    @property
    def height(self) -> int:
        """Rows."""
        return int(self._array.shape[0])

    def _repr_png_(self) -> bytes | None:
        """Return what a notebook shows: a PNG of at most 1024 pixels a side; see `preview.preview`.

        Never raises. Returns None where neither OpenCV nor Pillow is installed; the notebook then
        shows the plain repr.
        """
        from penstock_formats.preview import png  # for notebooks only

        try:
            return png(self._array, self._format)
        except Exception:  # noqa: BLE001  # a display must not fail
            return None

    def __reduce__(self) -> tuple[Any, ...]:
        return ImageFrame, (np.ascontiguousarray(self._array), int(self._format))

    def __repr__(self) -> str:
        array = getattr(self, "_array", None)
        if array is None:  # the constructor raised, and a traceback shows the object
            return "<ImageFrame unfinished>"
        return f"<ImageFrame {self._format.name} {array.shape[1]}x{array.shape[0]}>"


def _checked_format(array: NDArray[Any], wanted: ImageFormat | int | None) -> ImageFormat:
    """Return the format of `array`, which is the wanted one or the usual one."""
    layout = _layout(array)
    usual = _USUAL.get(layout)
    if usual is not None and (wanted is None or wanted is usual):
        return usual
    if wanted is None:
        raise InvalidArgumentError(
            f"an array of {_what_is(array)} is no image frame: {_what_fits()}; convert it, or pass one of "
            "these"
        )
    try:
        kind = wanted if type(wanted) is ImageFormat else ImageFormat(wanted)
        expected = LAYOUTS[kind]
    except (ValueError, KeyError):
        raise InvalidArgumentError(
            f"an image frame cannot have the format {wanted!r}; "
            f"use one of {', '.join(known.name for known in LAYOUTS)}"
        ) from None
    if layout != expected:
        raise InvalidArgumentError(
            f"an array of {_what_is(array)} is no {kind.name} image, which is {expected}; "
            "convert it, or name the format that it has"
        )
    return kind


def _layout(array: NDArray[Any]) -> tuple[int, np.dtype[np.generic]]:
    """Return channels and element type of an image: what equals a `PixelLayout`.

    An array that cannot be an image has 0 channels, like no layout.
    """
    shape = array.shape
    if len(shape) not in (_GRAY_DIMENSIONS, _COLOR_DIMENSIONS) or array.size == 0:
        return 0, array.dtype
    return 1 if len(shape) == _GRAY_DIMENSIONS else shape[2], array.dtype


def _what_is(array: NDArray[Any]) -> str:
    """Return shape and element type as text."""
    return f"{array.shape} {array.dtype}"


def _what_fits() -> str:
    """Return the usual layouts as text."""
    return ", ".join(f"{kind.name} is {layout}" for layout, kind in reversed(_USUAL.items()))
