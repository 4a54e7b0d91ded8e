"""The outlet over HTTP: pictures for browsers, made only while somebody looks."""

from __future__ import annotations

import io
import threading
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from penstock_formats import ImageFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_formats import ImageFrame
    from penstock_live.api import VideoSite


class BrowserOutlet:
    """Pictures as JPEG, for a `VideoSite` that is made with `newest` and then given to `serve`.

    Args:
        quality: of JPEG, 1 to 95.
        most_per_s: pictures in a second, at most.
    """

    is_elsewhere = True

    def __init__(self, quality: int, most_per_s: float) -> None:
        self._quality: Final = quality
        self._between_s: Final = 1 / most_per_s
        self._site: VideoSite | None = None
        self._ended: Final = threading.Event()
        self._next_s = 0.0
        self._lock: Final = threading.Lock()
        self._frame: ImageFrame | None = None
        #: The newest frame as JPEG; b"" where it was not encoded yet.
        self._picture = b""

    def serve(self, site: VideoSite) -> None:
        """Send the pictures to a site from now on."""
        self._site = site

    def newest(self) -> bytes | None:
        """Return the newest picture, or None before the first frame. Called by any thread."""
        with self._lock:
            if self._frame is not None and not self._picture:
                self._picture = jpeg(self._frame, self._quality)
            return self._picture or None

    def begin(self, size: tuple[int, int], is_over: Callable[[], bool]) -> None:
        """Do nothing: the site is there, and pictures may be of any size."""

    def wait(self) -> None:
        """Wait until the next picture may be sent, if anybody looks."""
        if self._site is not None and self._site.viewers:
            self._ended.wait(max(0.0, self._next_s - monotonic()))

    def send(self, frame: ImageFrame, time: int) -> None:  # noqa: ARG002  # the interface
        """Send a frame to the viewers."""
        with self._lock:
            self._frame, self._picture = frame, b""
        site = self._site
        if site is None or not site.viewers:
            return
        picture = self.newest()
        if picture is not None:
            site.show(picture)
        now = monotonic()
        is_late = now - self._next_s < self._between_s  # a little; else the pace begins again
        self._next_s = (self._next_s if is_late else now) + self._between_s

    def finish(self) -> None:
        """Do nothing: the owner closes the site."""

    def abort(self) -> None:
        """Wait no more."""
        self._ended.set()

    def discard(self) -> int:
        """Do nothing."""
        return 0


def jpeg(frame: ImageFrame, quality: int) -> bytes:
    """Return a frame as JPEG. Alpha is dropped.

    Args:
        frame: GRAY8, SRGB or SRGBA.
        quality: 1 to 95.
    """
    from PIL import Image  # in an extra

    picture = frame.array[..., :3] if frame.format == ImageFormat.SRGBA else frame.array
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(file, "JPEG", quality=quality)
    return file.getvalue()
