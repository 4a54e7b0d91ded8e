"""`Image`, `ImageFrame` and `ImageFormat`, as programs for MediaPipe's framework know them."""

from __future__ import annotations

import enum
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

import penstock_formats
from penstock.errors import FailedPreconditionError
from penstock_mediapipe.python_errors import behind

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIMENSIONS: Final = (2, 3)
#: Bytes; source: kDefaultAlignmentBoundary in mediapipe/framework/formats/image_frame.h.
_ROW_ALIGNMENT: Final = 16


class ImageFormat(enum.IntEnum):
    """What the pixels of an image are; the numbers are MediaPipe's."""

    SRGB = 1
    SRGBA = 2
    GRAY8 = 3
    GRAY16 = 4
    SRGB48 = 7
    SRGBA64 = 8
    VEC32F1 = 9
    SBGRA = 11
    VEC32F2 = 12


#: Channels and element type of each format.
_LAYOUTS: Final = {
    ImageFormat.SRGB: (3, np.uint8),
    ImageFormat.SRGBA: (4, np.uint8),
    ImageFormat.SBGRA: (4, np.uint8),
    ImageFormat.GRAY8: (1, np.uint8),
    ImageFormat.GRAY16: (1, np.uint16),
    ImageFormat.SRGB48: (3, np.uint16),
    ImageFormat.SRGBA64: (4, np.uint16),
    ImageFormat.VEC32F1: (1, np.float32),
    ImageFormat.VEC32F2: (2, np.float32),
}


class _Pixels:
    """What both kinds of image share.

    Args:
        image_format: of the pixels.
        data: an array of (rows, columns, channels), or (rows, columns) for one channel.
        copy: whether the array is copied; a shared one must not change any more.

    Raises:
        RuntimeError: the array does not fit the format.
    """

    _frame: penstock_formats.ImageFrame
    #: Whether the pixels are in an array of the program.
    _is_shared = False

    def __init__(self, image_format: ImageFormat, data: Any, *, copy: bool = True) -> None:
        array = np.asarray(data)
        channels, kind = _LAYOUTS[ImageFormat(image_format)]
        found = 1 if array.ndim == min(_DIMENSIONS) else array.shape[-1]
        if array.ndim not in _DIMENSIONS or found != channels or array.dtype != kind:
            name = ImageFormat(image_format).name
            raise FailedPreconditionError(
                f"an array of {array.dtype} and shape {array.shape} is no MediaPipe {name} image, which has "
                f"{channels} channels of {np.dtype(kind)}; convert it, or name the format that it has"
            )
        self._frame = penstock_formats.ImageFrame(
            array, penstock_formats.ImageFormat(int(image_format)), copy=copy
        )
        self._is_shared = not copy

    @classmethod
    def _over(cls, frame: penstock_formats.ImageFrame) -> Self:
        made = cls.__new__(cls)
        made._frame = frame  # noqa: SLF001  # of this class
        return made

    @property
    def width(self) -> int:
        """Columns."""
        return self._frame.width

    @property
    def height(self) -> int:
        """Rows."""
        return self._frame.height

    @property
    def channels(self) -> int:
        """Numbers for each pixel."""
        return _LAYOUTS[self.image_format][0]

    @property
    def image_format(self) -> ImageFormat:
        """What the pixels are."""
        return ImageFormat(int(self._frame.format))

    def numpy_view(self) -> NDArray[Any]:
        """Return the pixels, not copied, read-only: (rows, columns, channels), or (rows, columns) for one.

        Of a contiguous image, the array keeps the image alive, as in MediaPipe.
        """
        return np.asarray(_Pixels._View(self)) if self.is_contiguous() else self._frame.array

    class _View:
        """Lends NumPy the pixels of an image that lives as long as the array."""

        def __init__(self, image: _Pixels) -> None:
            self._image: Final = image
            self.__array_interface__ = image._frame.array.__array_interface__

    def is_empty(self) -> bool:
        """Return whether there are no pixels: never."""
        return False

    def is_contiguous(self) -> bool:
        """Return whether MediaPipe would store the rows without a gap.

        It lets each row begin at a multiple of 16 bytes, except in an image that shares an array. Here a row
        always follows the one before, so that a view is never a copy.
        """
        return self._is_shared or self._frame.array.strides[0] % _ROW_ALIGNMENT == 0

    def is_aligned(self, alignment_boundary: int) -> bool:
        """Return whether every row begins at a multiple of so many bytes."""
        array = self._frame.array
        address = int(array.__array_interface__["data"][0])
        return math.gcd(address, array.strides[0]) % alignment_boundary == 0

    def __getitem__(self, key: object) -> Any:
        """Return one number: [row, column] for one channel, else [row, column, channel].

        Raises:
            IndexError: it is not inside of the image, or has another number of indices.
        """
        array = self._frame.array
        place = key if isinstance(key, tuple) else (key,)
        if len(place) != array.ndim:
            ours = f"{len(place)} indices, but this image needs {array.ndim}"
            raise IndexError(behind("index dimension mismatch", ours))
        return array[place].item()


class ImageFrame(_Pixels):
    """An image in main memory, which never changes."""

    @classmethod
    def of(cls, core: penstock_formats.ImageFrame) -> Self:
        """Return the image for one of Penstock's."""
        return cls._over(core)

    @property
    def core(self) -> penstock_formats.ImageFrame:
        """The same image as Penstock has it."""
        return self._frame

    @property
    def byte_depth(self) -> int:
        """Bytes of one number."""
        return self._frame.array.dtype.itemsize


class Image(_Pixels):
    """An image, which never changes."""

    #: Channels in a file → what the pixels become.
    _OF_FILE: ClassVar = {1: ImageFormat.GRAY8, 3: ImageFormat.SRGB, 4: ImageFormat.SRGBA}

    @classmethod
    def of(cls, core: penstock_formats.Image) -> Self:
        """Return the image for one of Penstock's."""
        return cls._over(core.frame)

    @property
    def core(self) -> penstock_formats.Image:
        """The same image as Penstock has it."""
        return penstock_formats.Image(self._frame)

    @property
    def step(self) -> int:
        """Bytes from one row to the next."""
        return int(self._frame.array.strides[0])

    def uses_gpu(self) -> bool:
        """Return whether the pixels are on the GPU: never."""
        return False

    @classmethod
    def create_from_file(cls, file_name: str) -> Self:
        """Read an image file; of numbers of 16 bits, the upper 8 are taken.

        Raises:
            RuntimeError: there is no such file, or it is no image of 8 or 16 bits.
        """
        import cv2  # for those who read files

        array = cv2.imread(str(file_name), cv2.IMREAD_UNCHANGED)
        if array is None:
            why = "unknown image type" if Path(file_name).is_file() else "can't fopen"
            words = f"Image decoding failed ({why}): {file_name}"
            raise FailedPreconditionError(behind(words, "it cannot be read as an image; is it there?"))
        if array.dtype == np.uint16:
            array = (array // 256).astype(np.uint8)
        channels = 1 if array.ndim == min(_DIMENSIONS) else array.shape[2]
        if channels != 1:
            code = cv2.COLOR_BGR2RGB if channels == 3 else cv2.COLOR_BGRA2RGBA  # noqa: PLR2004  # without alpha
            array = cv2.cvtColor(array, code)
        return cls(image_format=cls._OF_FILE[channels], data=array)
