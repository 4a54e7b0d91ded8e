"""What a picture's EXIF data say: how it is turned, and when it was taken. Pillow reads them."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numbers of tags. Source: CIPA DC-008, Exif 2.32, tables 4 to 8.
_ORIENTATION: Final = 0x0112
_EXIF_TAGS: Final = 0x8769
_TAKEN: Final = 0x9003
_TAKEN_OFFSET: Final = 0x9011
_TAKEN_SUBSEC: Final = 0x9291
#: Beginning of a file, a mark without which it has no EXIF data, and Pillow's class that reads its header.
#: The class does not look at the size: OpenCV decodes the pixels, and has a limit of its own.
_READERS: Final = (
    (b"\xff\xd8", b"Exif\0\0", JpegImageFile),
    (b"\x89PNG", b"eXIf", PngImageFile),
    (b"II*\0", b"", TiffImageFile),
    (b"MM\0*", b"", TiffImageFile),
    (b"RIFF", b"EXIF", WebPImageFile),
)
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_UPRIGHT: Final = 1


def exif_of(data: bytes) -> Any:
    """Return the EXIF data of a file as Pillow's mapping, tag to value; empty where it has none.

    Never raises: a file that is damaged has no EXIF data, and decoding it says what is wrong.
    """
    for beginning, mark, reader in _READERS:
        if data.startswith(beginning) and mark in data:
            with contextlib.suppress(Exception):  # a damaged file may end in any error of Pillow's code
                return reader(io.BytesIO(data)).getexif()
    return {}


def orientation_of(data: bytes) -> int:
    """Return how a file's picture is turned, 1 to 8 as EXIF says it; 1, upright, where it does not say."""
    if data.startswith((b"II*\0", b"MM\0*")):
        return _UPRIGHT  # OpenCV follows what a TIFF says
    found = exif_of(data).get(_ORIENTATION, _UPRIGHT)
    return found if isinstance(found, int) and found in range(1, 9) else _UPRIGHT


def upright(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Return a picture as it is looked at: turned and mirrored as its orientation says."""
    if orientation in {5, 6, 7, 8}:
        pixels = pixels.swapaxes(0, 1)
    if orientation in {2, 3, 6, 7}:
        pixels = pixels[:, ::-1]
    if orientation in {3, 4, 7, 8}:
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)


def time_taken(data: bytes) -> int | None:
    """Return when a picture was taken, in microseconds since 1970; None where its file does not say.

    That is `DateTimeOriginal` with `SubSecTimeOriginal`. Without `OffsetTimeOriginal` it counts as UTC.

    Raises:
        ValueError: the file says something that is no time.
    """
    exif = exif_of(data)
    tags = exif.get_ifd(_EXIF_TAGS) if exif else {}
    text = str(tags.get(_TAKEN, "")).strip("\0 ")
    if not text:
        return None
    taken = dt.datetime.strptime(text, "%Y:%m:%d %H:%M:%S").replace(tzinfo=dt.UTC)
    zone = str(tags.get(_TAKEN_OFFSET, "")).strip("\0 ")
    if zone:
        taken = dt.datetime.strptime(f"{text} {zone}", "%Y:%m:%d %H:%M:%S %z")
    fraction = str(tags.get(_TAKEN_SUBSEC, "")).strip("\0 ")
    if fraction and not fraction.isdecimal():
        raise ValueError(f"parts of a second in EXIF are {fraction!r}, but must be digits")
    seconds = (taken - _EPOCH) // dt.timedelta(seconds=1)
    return seconds * 1_000_000 + int((fraction + "000000")[:6] or 0)
