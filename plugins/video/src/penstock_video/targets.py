"""Where a video file may be written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pathlib import Path

#: Endings of pictures, which hold one frame each.
_PICTURES: Final = (
    ".avif", ".bmp", ".exr", ".jpe", ".jpeg", ".jpg", ".jxl", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
#: What writes pictures.
_SINK: Final = "PictureSinkCalculator"


def check_target(target: Path) -> None:
    """Check whether a file can be written at `target`.

    Raises:
        InvalidArgumentError: its directory does not exist or cannot be written to, or the target is
            a directory or must not be overwritten, or it ends as a picture.
    """
    if target.suffix.lower() in _PICTURES:
        raise InvalidArgumentError(
            f"the target video file {str(target)!r} would be a picture, which has one frame; a {_SINK} of "
            "penstock-image writes pictures, and a file that ends with '.gif' or '.mp4' has all frames"
        )
    folder = target.parent
    if not folder.is_dir():
        raise InvalidArgumentError(
            f"the target video file {str(target)!r} cannot be written: there is no directory "
            f"{str(folder)!r}; make it first"
        )
    if target.is_dir():
        raise InvalidArgumentError(
            f"the target video file {str(target)!r} cannot be written: it is a directory; name a file"
        )
    for place in (folder, target):
        if place.exists() and not os.access(place, os.W_OK):
            raise InvalidArgumentError(
                f"the target video file {str(target)!r} cannot be written: no permission for "
                f"{str(place)!r}; choose another path, or change the permissions"
            )
