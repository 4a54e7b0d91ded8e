"""Encodes frames for viewers who look now: no frame is held back, and key frames come at regular times."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import attrs
import av
import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat
from penstock_formats.api import format_converter
from penstock_video.libav_encoders import encoder_name, has_crf, has_preset
from penstock_video.source import MICROSECONDS

if TYPE_CHECKING:
    from penstock_formats import ImageFrame

TIME_BASE: Final = Fraction(1, MICROSECONDS)
#: libav's name of each pixel format that a live sink takes.
PIXELS: Final = {ImageFormat.GRAY8: "gray", ImageFormat.SRGB: "rgb24", ImageFormat.SRGBA: "rgba"}
_H264: Final = ("libx264", "libopenh264")
#: Key frames come when `Coder` asks for them, and by the encoder's own counting at the latest after so many.
_LONGEST_GROUP: Final = 3000
_BITS_PER_PIXEL: Final = 0.1
_USUAL_FPS: Final = 30.0
#: Rows from which on players expect BT.709.
_HD: Final = 720


@attrs.frozen
class Quality:
    """How to encode."""

    #: libav's name of the encoder.
    codec: str
    #: Expected frames per second, for the rate control.
    fps: float = _USUAL_FPS
    #: `crf`, `preset`: quality and speed, for encoders that have these options.
    crf: float = 23.0
    preset: str = "veryfast"
    #: Bits per second at most; 0: no limit, but of encoders without crf.
    bit_rate: int = 0
    #: Longest time between two key frames, in seconds. A viewer who comes waits for one.
    keyframe_s: float = 2.0
    #: Threads of the encoder; 0: libav decides.
    threads: int = 0

    def options(self) -> dict[str, str]:
        """Return libav's options for the encoder."""
        found = {"crf": f"{self.crf:g}"} if has_crf(self.codec) else {}
        if has_preset(self.codec):
            found |= {"preset": self.preset, "tune": "zerolatency", "forced-idr": "1"}
        if self.codec == "libx264":
            found["sc_threshold"] = "0"
        if self.codec in {"libvpx", "libvpx-vp9"}:
            found |= {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "row-mt": "1"}
        if self.bit_rate and has_crf(self.codec):
            found |= {"maxrate": str(self.bit_rate), "bufsize": str(self.bit_rate)}
        return found

    def set_up(self, context: Any, size: tuple[int, int]) -> None:
        """Prepare an encoder of libav for frames of a size (width, height), in pixels."""
        width, height = even(size)
        context.width, context.height, context.pix_fmt = width, height, "yuv420p"
        context.time_base = TIME_BASE
        context.framerate = Fraction(self.fps).limit_denominator(1001)
        context.gop_size = _LONGEST_GROUP
        context.thread_count = self.threads
        context.colorspace, context.color_range = matrix(size), ColorRange.MPEG
        if not has_crf(self.codec):
            context.bit_rate = self.bit_rate or round(width * height * self.fps * _BITS_PER_PIXEL)


class Coder:
    """Makes frames of libav of ImageFrames, and says which are key frames.

    Args:
        quality: how to encode.
        size: (width, height) of the frames in pixels; odd sides become even by scaling.
    """

    def __init__(self, quality: Quality, size: tuple[int, int]) -> None:
        self._size: Final = even(size)
        self._period: Final = round(quality.keyframe_s * MICROSECONDS)
        self._reformatter: Final = VideoReformatter()
        self._start: int | None = None
        self._key = 0

    def made(self, frame: ImageFrame, time: int) -> av.VideoFrame:
        """Return a frame in YUV 4:2:0, whose time counts from the first one.

        Args:
            frame: GRAY8, SRGB or SRGBA (whose alpha is dropped). Borrowed for the call.
            time: its timestamp, microseconds.
        """
        picture = np.ascontiguousarray(frame.array)
        given = av.VideoFrame.from_numpy_buffer(picture, format=PIXELS[frame.format])
        made = self._reformatter.reformat(
            given,
            self._size[0],
            self._size[1],
            format="yuv420p",
            dst_colorspace=matrix(self._size),
            dst_color_range=ColorRange.MPEG,
            threads=1,  # the graph's other nodes use the other cores
        )
        is_first = self._start is None
        self._start = time if self._start is None else self._start
        made.pts, made.time_base = time - self._start, TIME_BASE
        if is_first or time - self._key >= self._period:
            self._key = time
            made.pict_type = PictureType.I
        return made


def even(size: tuple[int, int]) -> tuple[int, int]:
    """Return a size with even sides of at least 2, which 4:2:0 needs."""
    return max(2, size[0] - size[0] % 2), max(2, size[1] - size[1] % 2)


def matrix(size: tuple[int, int]) -> Colorspace:
    """Return how colours become YUV: as players expect it of a size, which read no more than that."""
    return Colorspace.ITU709 if size[1] >= _HD else Colorspace.ITU601


def check_frame(frame: ImageFrame, where: str) -> None:
    """Refuse a frame of a format that cannot be sent.

    Raises:
        InvalidArgumentError: says what makes a fitting format.
    """
    if frame.format not in PIXELS:
        raise InvalidArgumentError(
            f"{where}: the frame is {frame!r}, but live coding takes GRAY8, SRGB or SRGBA; put a "
            f"{format_converter(frame.format)} before"
        )


def live_encoder(codec: str) -> str:
    """Return libav's name of an encoder; "" gives one of H.264, which all servers and players know.

    Raises:
        InvalidArgumentError: this build of libav has no such encoder.
    """
    if codec:
        return encoder_name(codec, "")
    for name in _H264:
        if name in av.codecs_available:
            return name
    raise InvalidArgumentError(
        "this build of libav has no encoder for H.264, which live streams need; use a PyAV wheel from PyPI, "
        "or name another codec that the server takes"
    )
