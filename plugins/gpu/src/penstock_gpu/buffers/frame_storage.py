"""The storage of a GpuBuffer in main memory: one NumPy array, given as an array or as an ImageFrame.

The invariant: what was read before never changes. A frame or an array that a reader got keeps its pixels; a
later writer gets new memory with a copy of the pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_formats.api import ArrayPayload
from penstock_gpu.buffers.storage import Storage, register_converter, register_storage, view_name
from penstock_gpu.formats import (
    format_of_array,
    has_image_frame,
    image_format,
    of_image_format,
    pixel_layout,
    shape_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_gpu.formats import GpuBufferFormat


class PixelArray(ArrayPayload):
    """A read-only array for export to other libraries, also in formats that no ImageFrame has.

    Args:
        array: borrowed.
    """

    __slots__ = ()

    def __init__(self, array: NDArray[Any]) -> None:
        self._hold(array, copy=False)


class FrameStorage(Storage):
    """Pixels in main memory. Gives `numpy.ndarray` to read and write, and `ImageFrame` to read.

    A view to read is read-only, and the same object each time. A view to write is a writable array, (H, W) or
    (H, W, channels), C-contiguous, with the current pixels; it may be written to until the buffer is read
    next, or forwarded.

    Args:
        array: the pixels, of the shape and type that the format has. Borrowed.
        format: what they mean.
        is_own: whether nothing else refers to the array, so that it may be written to.
    """

    __slots__ = ("_array", "_frame", "_is_own", "_pixels", "format")

    def __init__(self, array: NDArray[Any], format: GpuBufferFormat, *, is_own: bool = False) -> None:  # noqa: A002  # the word that everyone expects
        self._array = array
        self._is_own = is_own
        self._pixels: PixelArray | None = None
        self._frame: ImageFrame | None = None
        self.format = format

    @classmethod
    def of_frame(cls, frame: ImageFrame) -> FrameStorage:
        """Return the storage of a frame. It is not copied, and read views are that frame.

        Raises:
            InvalidArgumentError: no buffer has the frame's format; says which to convert it to.
        """
        made = cls(frame.array, of_image_format(frame.format))
        made._frame = frame  # of this class
        return made

    @classmethod
    def of_array(cls, array: NDArray[Any], format: int | None = None, *, copy: bool = False) -> FrameStorage:  # noqa: A002  # as above
        """Return the storage of an array's pixels; see `GpuBuffer.of_array`.

        Raises:
            InvalidArgumentError: shape or element type do not fit the format, or no format has them.
        """
        if array.ndim == 3 and array.shape[2] == 1:  # noqa: PLR2004  # (H, W, 1) is taken as (H, W)
            array = array[:, :, 0]
        kind = format_of_array(array, format)
        return cls(array.copy() if copy else array, kind, is_own=copy)

    @classmethod
    def make(cls, width: int, height: int, format: GpuBufferFormat) -> FrameStorage:  # noqa: A002  # as above
        """Return a storage of that size, all 0.

        Raises:
            InvalidArgumentError: no array has the format; says which do.
        """
        shape = shape_of(width, height, format)
        return cls(np.zeros(shape, pixel_layout(format).dtype), format, is_own=True)

    @property
    def pixels(self) -> NDArray[Any]:
        """The pixels, for copying; the caller neither writes to the array nor forwards it."""
        return self._array

    @property
    def width(self) -> int:
        """Columns."""
        return int(self._array.shape[1])

    @property
    def height(self) -> int:
        """Rows."""
        return int(self._array.shape[0])

    @property
    def is_lasting(self) -> bool:
        """True."""
        return True

    def provides(self, view: type, *, for_writing: bool) -> bool:
        """Return whether `view` is `numpy.ndarray`, or `ImageFrame` to read, if frames have the format."""
        return view is np.ndarray or (view is ImageFrame and not for_writing and has_image_frame(self.format))

    def read_view(self, view: type[Any], **arguments: Any) -> Any:
        """Return the pixels, read-only: the same array or frame each time."""
        if arguments:
            _expect_none(view, arguments)
        self._is_own = False
        if view is ImageFrame:
            return self._as_frame()
        if self._pixels is None:
            self._pixels = PixelArray(self._array)
        return self._pixels.array

    def write_view(self, view: type[Any], **arguments: Any) -> NDArray[Any]:
        """Return the pixels to write to, in memory that no reader has."""
        _expect_none(view, arguments)
        if not self._is_own or not self._array.flags.c_contiguous:
            self._array = self._array.copy(order="C")
            self._is_own = True
            self._frame = self._pixels = None
        return self._array

    def _as_frame(self) -> ImageFrame:
        if self._frame is None:
            self._frame = ImageFrame(self._array, image_format(self.format))
        return self._frame


def _expect_none(view: type, arguments: dict[str, Any]) -> None:
    if arguments:
        raise InvalidArgumentError(
            f"a frame's view {view_name(view)} takes no argument {next(iter(arguments))!r}; leave it out"
        )


def expect_image_frame(kind: GpuBufferFormat) -> None:
    """Refuse a format that no ImageFrame has.

    Raises:
        InvalidArgumentError: no ImageFrame has it; says what to ask for.
    """
    if not has_image_frame(kind):
        raise InvalidArgumentError(
            f"no stored frame is an ImageFrame of GPU buffer format {kind.name}; "
            "ask for read_view(numpy.ndarray), or draw to a buffer of BGRA32 or RGBA_FLOAT128"
        )


def _refuse_image_frame(storage: FrameStorage) -> FrameStorage:
    """Raise why this storage gives no ImageFrame; called only if it gives none."""
    expect_image_frame(storage.format)
    return storage


register_storage(np.ndarray, FrameStorage.make)
register_converter(ImageFrame, FrameStorage, _refuse_image_frame)
