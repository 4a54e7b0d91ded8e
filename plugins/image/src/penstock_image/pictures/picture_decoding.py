"""Files of pictures as pixels, by OpenCV: in their own format, upright; and other formats of the pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat
from penstock_image.pictures.exif import orientation_of, upright

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BYTE: Final = np.dtype(np.uint8)
_WORD: Final = np.dtype(np.uint16)
#: Channels and type of decoded pixels → the format, and OpenCV's conversion from its own order of colours.
FORMATS: Final[dict[tuple[int, np.dtype[Any]], tuple[ImageFormat, int | None]]] = {
    (1, _BYTE): (ImageFormat.GRAY8, None),
    (1, _WORD): (ImageFormat.GRAY16, None),
    (3, _BYTE): (ImageFormat.SRGB, cv2.COLOR_BGR2RGB),
    (3, _WORD): (ImageFormat.SRGB48, cv2.COLOR_BGR2RGB),
    (4, _BYTE): (ImageFormat.SRGBA, cv2.COLOR_BGRA2RGBA),
    (4, _WORD): (ImageFormat.SRGBA64, cv2.COLOR_BGRA2RGBA),
}
#: Channels before and after → OpenCV's conversion.
_CHANNELS: Final = {
    (1, 3): cv2.COLOR_GRAY2RGB,
    (1, 4): cv2.COLOR_GRAY2RGBA,
    (3, 1): cv2.COLOR_RGB2GRAY,
    (3, 4): cv2.COLOR_RGB2RGBA,
    (4, 1): cv2.COLOR_RGBA2GRAY,
    (4, 3): cv2.COLOR_RGBA2RGB,
}
#: One step of 8 bits in steps of 16 bits: 255 and 65535 are both white.
_STEP: Final = 257
_WIDE: Final = (ImageFormat.GRAY16, ImageFormat.SRGB48, ImageFormat.SRGBA64)
#: Beginnings of files by which a damaged one is recognized.
_KINDS: Final = {
    b"\xff\xd8": "JPEG", b"\x89PNG": "PNG", b"II*\0": "TIFF", b"MM\0*": "TIFF", b"BM": "BMP", b"GIF8": "GIF",
    b"RIFF": "WebP",
}  # fmt: skip


def decoded(data: bytes, name: str, *, follows_exif: bool = True) -> tuple[NDArray[Any], ImageFormat]:
    """Return a file's picture and its format: grey, colours or colours with alpha, of 8 or 16 bits.

    Args:
        data: the whole file.
        name: how an error calls it.
        follows_exif: turn and mirror the picture as its EXIF data say.

    Returns:
        New memory, (H, W) or (H, W, channels), uint8 or uint16, colours as RGB. Pictures of one bit and of
        palettes become GRAY8, SRGB or SRGBA.

    Raises:
        InvalidArgumentError: it is no picture that OpenCV reads, or is damaged, or has float numbers.
    """
    pixels: Any = None
    fault = ""
    if data:  # OpenCV refuses an empty one with a word about its own code
        try:
            pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        except cv2.error as error:
            fault = f" ({error.err})"
    if pixels is None:
        raise InvalidArgumentError(f"{name}: {_why(data)}{fault}")
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]  # noqa: PLR2004  # rows and columns
    found = FORMATS.get((channels, pixels.dtype))
    if found is None:
        raise InvalidArgumentError(
            f"{name} has {channels} channels of {pixels.dtype}, but frames are decoded from 1, 3 or 4 "
            "channels of 8 or 16 bits; convert the file"
        )
    kind, code = found
    if code is not None:
        pixels = cv2.cvtColor(pixels, code)
    return upright(pixels, orientation_of(data)) if follows_exif else pixels, kind


def converted(pixels: NDArray[Any], kind: ImageFormat, wanted: ImageFormat) -> NDArray[Any]:
    """Return pixels of one format of `FORMATS` as another one.

    Of colours grey is 0.299 R + 0.587 G + 0.114 B; alpha is left out, or opaque where there was none; 16 bits
    become 8 by division by 257, rounded, and 8 bits 16 by multiplication.
    """
    if kind.channels != wanted.channels:
        pixels = cv2.cvtColor(pixels, _CHANNELS[kind.channels, wanted.channels])
    if kind in _WIDE and wanted not in _WIDE:
        return cv2.convertScaleAbs(pixels, alpha=1 / _STEP)
    if wanted in _WIDE and kind not in _WIDE:
        return pixels.astype(np.uint16) * np.uint16(_STEP)
    return pixels


def loses(kind: ImageFormat, wanted: ImageFormat) -> str:
    """Return what a conversion loses, in words; "" for nothing."""
    lost = []
    if kind in _WIDE and wanted not in _WIDE:
        lost.append("8 of 16 bits")
    if kind.channels > 1 and wanted.channels == 1:
        lost.append("colours")
    if kind.channels == 4 and wanted.channels != 4:  # noqa: PLR2004  # with alpha
        lost.append("alpha")
    return " and ".join(lost)


def _why(data: bytes) -> str:
    if not data:
        return "the file is empty"
    for beginning, kind in _KINDS.items():
        if data.startswith(beginning):
            return f"the {kind} file is damaged or cut off ({len(data)} bytes)"
    return f"the file begins with {data[:8]!r}, which is no picture that OpenCV {cv2.__version__} reads"
