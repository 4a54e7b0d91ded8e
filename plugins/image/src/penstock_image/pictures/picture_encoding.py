"""Frames as files of pictures, each written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2

from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock_formats import ImageFormat
from penstock_formats.api import format_converter

if TYPE_CHECKING:
    from pathlib import Path

    from penstock_formats import ImageFrame

_GRAY: Final = (ImageFormat.GRAY8, ImageFormat.GRAY16)
_COLOURS: Final = (ImageFormat.SRGB, ImageFormat.SRGB48)
_ALL: Final = (*_GRAY, *_COLOURS, ImageFormat.SRGBA, ImageFormat.SRGBA64)
_JPEG: Final = (ImageFormat.GRAY8, ImageFormat.SRGB)
#: Ending → the formats that a file of this kind holds exactly, or for JPEG and WebP at the quality asked for.
HOLDS: Final = {
    ".png": _ALL,
    ".tif": _ALL,
    ".tiff": _ALL,
    ".jpg": _JPEG,
    ".jpeg": _JPEG,
    ".jpe": _JPEG,
    ".webp": (ImageFormat.SRGB, ImageFormat.SRGBA),
    ".bmp": (ImageFormat.GRAY8, ImageFormat.SRGB),
    ".pgm": _GRAY,
    ".ppm": _COLOURS,
    ".pnm": (*_GRAY, *_COLOURS),
}
#: Format → OpenCV's conversion to its own order of colours.
_ORDER: Final = {
    ImageFormat.SRGB: cv2.COLOR_RGB2BGR,
    ImageFormat.SRGB48: cv2.COLOR_RGB2BGR,
    ImageFormat.SRGBA: cv2.COLOR_RGBA2BGRA,
    ImageFormat.SRGBA64: cv2.COLOR_RGBA2BGRA,
}
_QUALITY: Final = {
    ".jpg": cv2.IMWRITE_JPEG_QUALITY,
    ".jpeg": cv2.IMWRITE_JPEG_QUALITY,
    ".jpe": cv2.IMWRITE_JPEG_QUALITY,
    ".webp": cv2.IMWRITE_WEBP_QUALITY,
}
#: The most pixels on a side that a kind of file can have, where that is few.
_LONGEST: Final = {".jpg": 65500, ".jpeg": 65500, ".jpe": 65500, ".webp": 16383}
#: What the system answers where there is no room: on the disk, in the user's quota, under a limit of sizes.
_FULL: Final = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}


@attrs.frozen
class Encoding:
    """How pictures are encoded."""

    #: Of JPEG and WebP, 1 to 100.
    quality: int
    #: Of PNG, 0 (fast) to 9 (small).
    compression: int


def check_ending(path: Path) -> None:
    """Check that a path ends as a kind of picture that can be written.

    Raises:
        InvalidArgumentError: it does not.
    """
    if path.suffix.lower() not in HOLDS:
        raise InvalidArgumentError(
            f"picture {str(path)!r} cannot be encoded: its ending is {path.suffix!r}, but must be one "
            f"of {', '.join(HOLDS)}; a path that ends with '/' is a folder"
        )


def check_frame(frame: ImageFrame, path: Path) -> None:
    """Check that a file can hold a frame.

    Raises:
        InvalidArgumentError: it cannot hold its format or size.
    """
    ending = path.suffix.lower()
    if frame.format not in HOLDS[ending]:
        names = ", ".join(kind.name for kind in HOLDS[ending])
        kind = " or end the path with .png" if frame.format in HOLDS[".png"] else ""
        raise InvalidArgumentError(
            f"picture {str(path)!r} cannot be encoded: the frame is {frame!r}, but {ending} holds {names}; "
            f"put a {format_converter(frame.format)} before,{kind}".rstrip(",")
        )
    longest = _LONGEST.get(ending)
    if longest is not None and max(frame.width, frame.height) > longest:
        raise InvalidArgumentError(
            f"picture {str(path)!r} cannot be encoded: the frame is {frame!r}, but {ending} has at most "
            f"{longest} pixels on a side; scale it down before, or end the path with .png"
        )


def encoded(frame: ImageFrame, ending: str, how: Encoding) -> bytes:
    """Return the bytes of a file that holds a frame; `check_frame` has found that it can."""
    settings: list[int] = []
    if ending in _QUALITY:
        settings = [_QUALITY[ending], how.quality]
    elif ending == ".png":
        settings = [cv2.IMWRITE_PNG_COMPRESSION, how.compression]
    code = _ORDER.get(frame.format)
    pixels: Any = frame.array if code is None else cv2.cvtColor(frame.array, code)
    _, data = cv2.imencode(ending, pixels, settings)
    return data.tobytes()


def write_whole(target: Path, data: bytes, what: str) -> None:
    """Write a file beside the target, and rename it: the target is complete or unchanged.

    Args:
        target: replaced where it exists.
        data: all its bytes.
        what: how an error calls it, such as "picture".

    Raises:
        ResourceExhaustedError: the disk, a quota or a limit of sizes is full.
        PenstockError: the disk failed otherwise. Nothing is left of the new file.
    """
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        try:
            partial.write_bytes(data)
            partial.replace(target)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
    except OSError as error:
        kind, cure = PenstockError, "check folder, permissions and disk"
        if error.errno in _FULL:
            kind, cure = ResourceExhaustedError, "make room on the disk"
        raise kind(
            f"{what} {str(target)!r} cannot be written as a picture: {error.strerror}; {cure}"
        ) from error
