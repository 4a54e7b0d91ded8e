"""An encoder and a container of libav for one stream."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final, cast

import av
import av.error

from penstock_video.priority import kept_priority

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.video.stream import VideoStream

    from penstock_video.streaming.live_coding import Quality

#: What libav and the system raise.
FAILURES: Final = (av.error.FFmpegError, OSError, ValueError)


class Muxer:
    """Writes frames to a file or an address. Made, it has written the beginning.

    libav holds the interpreter up while it writes the beginning: the target must be one that answers at once.

    Args:
        target: an address for libav, or a file object.
        form: libav's name of the container.
        options: of the container.
        quality: how to encode.
        size: (width, height) of the frames in pixels.

    Raises:
        FFmpegError, OSError, ValueError: libav cannot begin. Nothing stays open.
    """

    def __init__(
        self, target: Any, form: str, options: dict[str, str], quality: Quality, size: tuple[int, int]
    ) -> None:
        self._container: OutputContainer | None = av.open(target, "w", format=form, options=options)
        try:
            stream = self._container.add_stream(quality.codec, options=quality.options())
            self._stream: Final = cast("VideoStream", stream)
            quality.set_up(self._stream.codec_context, size)
            with kept_priority():
                self._container.start_encoding()
        except BaseException:
            self.drop()
            raise

    def write(self, frame: av.VideoFrame | None) -> None:
        """Encode and write a frame; None: what the encoder holds.

        Raises:
            FFmpegError, OSError, ValueError: that failed.
        """
        if self._container is not None:
            self._container.mux(self._stream.encode(frame))

    def end(self) -> None:
        """Write what the encoder holds, and the end. Raises as `write`."""
        self.write(None)
        container, self._container = self._container, None
        if container is not None:
            container.close()

    def drop(self) -> None:
        """Close the container, whatever becomes of it."""
        container, self._container = self._container, None
        if container is not None:
            with contextlib.suppress(*FAILURES):
                container.close()


def words(error: BaseException) -> str:
    """Return what libav or the system says, without the address in it."""
    return str(getattr(error, "strerror", None) or error)
