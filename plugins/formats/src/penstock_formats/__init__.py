"""Payload types that packs share: images, matrices, headers of video streams.

They are made once and never changed: what they hold is a read-only view, so that any number of
calculators may hold the same packet at once.

The names come when they are first used, so that finding this pack does not import NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock_formats.image_format import ImageFormat
    from penstock_formats.image_frame import ImageFrame
    from penstock_formats.matrix import Matrix
    from penstock_formats.video_header import VideoHeader

__all__ = ["ImageFormat", "ImageFrame", "Matrix", "VideoHeader"]

_HOME: Final = {
    "ImageFormat": "image_format",
    "ImageFrame": "image_frame",
    "Matrix": "matrix",
    "VideoHeader": "video_header",
}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
