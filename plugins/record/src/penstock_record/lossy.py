"""Pictures as JPEG and H.264, by PyAV. What comes back looks the same and has other numbers.

GRAY8 and SRGB have these forms; all other formats stay exact. One thread at a time uses an object.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_formats import ImageFormat, ImageFrame
from penstock_record.foxglove import compressed, compressed_parts
from penstock_record.lossless import MOST_PICTURE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What can be lossy → libav's name of its pixels.
FORMATS: Final = {ImageFormat.GRAY8: "gray", ImageFormat.SRGB: "rgb24"}
#: JPEG's steps: 2 is the finest, 31 the coarsest.
_JPEG_STEP: Final = "3"
#: H.264: small, a key frame each two seconds at usual rates, no frame held back.
_H264: Final = {"preset": "veryfast", "crf": "26", "tune": "zerolatency", "g": "60"}
_FPS: Final = 30
#: Kinds of the units of an H.264 stream that a key frame has: a slice of one, and the parameters before it.
_KEY_UNITS: Final = (5, 7)
_CODE: Final = b"\x00\x00\x01"
#: Units that may come before the first slice.
_UNITS: Final = 16
#: What `frame_id` says: format, width and height of the picture.
_SAID: Final = re.compile(r"([A-Z0-9]{1,16}) (\d{1,6})x(\d{1,6})")


def check(wants_video: bool) -> None:  # noqa: FBT001  # one of two kinds
    """Check that PyAV is there, and for videos an encoder for H.264.

    Raises:
        InvalidArgumentError: it is not; says what to do.
    """
    try:
        import av.codec
    except ImportError as error:
        raise InvalidArgumentError(
            f"lossy pictures as JPEG or H.264 need PyAV, which cannot be imported ({error}); pip "
            "install 'penstock-record[lossy]', or record them lossless"
        ) from error
    try:
        av.codec.Codec("libx264" if wants_video else "mjpeg", "w")
    except ValueError as error:
        raise InvalidArgumentError(
            "this build of PyAV has no libx264, which lossy pictures as H.264 need; record them as JPEG or "
            "lossless"
        ) from error


class Encoder:
    """Pictures of one stream, in order.

    Args:
        is_video: H.264, where each picture depends on the one before; False: JPEG.
    """

    def __init__(self, *, is_video: bool) -> None:
        self._is_video: Final = is_video
        #: What the present context was made for.
        self._for: tuple[ImageFormat, int, int] | None = None
        self._context: Any = None
        self._count = 0

    def encode(self, frame: ImageFrame, at_ns: int) -> bytes:
        """Return a picture as a message of Foxglove's schema.

        Args:
            frame: of a format in `FORMATS`.
            at_ns: its time in nanoseconds.

        Raises:
            InvalidArgumentError: libav takes no picture of this size.
        """
        import av

        kind = (frame.format, frame.width, frame.height)
        try:
            if self._for != kind:
                self._context, self._for = self._opened(frame.width, frame.height), kind
            made = self._converted(frame)
            made.pts, made.time_base = self._count, Fraction(1, _FPS)
            self._count += 1
            data = b"".join(map(bytes, self._context.encode(made)))
            if not self._is_video:  # each picture for itself: the next one is the first of another stream
                self._for = None
        except (av.error.FFmpegError, ValueError) as error:
            raise InvalidArgumentError(
                f"libav makes no lossy picture of {frame!r}: {error}; record it lossless"
            ) from error
        said = f"{frame.format.name} {frame.width}x{frame.height}"
        return compressed(self._is_video, said, data, at_ns)

    def _opened(self, width: int, height: int) -> Any:
        import av
        from av.video.reformatter import ColorRange, Colorspace

        context: Any = av.CodecContext.create("libx264" if self._is_video else "mjpeg", "w")
        if self._is_video:
            width, height = width + width % 2, height + height % 2
            context.options = dict(_H264)
        else:
            context.options = {"qmin": _JPEG_STEP, "qmax": _JPEG_STEP}
        context.width, context.height = width, height
        context.pix_fmt = "yuv420p" if self._is_video else "yuvj420p"
        context.time_base, context.framerate, context.thread_count = Fraction(1, _FPS), _FPS, 1
        context.colorspace = Colorspace.ITU601
        context.color_range = ColorRange.MPEG if self._is_video else ColorRange.JPEG
        return context

    def _converted(self, frame: ImageFrame) -> Any:
        import av
        from av.video.reformatter import ColorRange, Colorspace

        pixels = np.ascontiguousarray(frame.array)
        if self._is_video and (frame.width % 2 or frame.height % 2):
            more = ((0, frame.height % 2), (0, frame.width % 2), (0, 0))
            pixels = np.pad(pixels, more[: pixels.ndim], mode="edge")
        source: Any = av.VideoFrame.from_ndarray(pixels, format=FORMATS[frame.format])
        return source.reformat(
            format="yuv420p" if self._is_video else "yuvj420p",
            dst_colorspace=Colorspace.ITU601,
            dst_color_range=ColorRange.MPEG if self._is_video else ColorRange.JPEG,
        )


class Decoder:
    """Pictures of one stream, in order; of a video from a key frame on."""

    def __init__(self, *, is_video: bool) -> None:
        self._is_video: Final = is_video
        self._context: Any = None

    def decode(self, data: bytes) -> ImageFrame:
        """Return the picture of a message.

        Raises:
            InvalidArgumentError: the bytes are none, or PyAV is missing.
            ResourceExhaustedError: it wants more memory than `MOST_PICTURE_BYTES`.
        """
        check(wants_video=False)
        import av

        said, content = compressed_parts(self._is_video, data)
        form, width, height = _said(said)
        try:
            if self._context is None or not self._is_video:
                self._context = self._opened()
            frames = self._context.decode(av.Packet(content))
            if not frames and not self._is_video:
                frames = self._context.decode(None)
        except (av.error.FFmpegError, ValueError, MemoryError) as error:
            raise InvalidArgumentError(
                f"these bytes are no lossy picture that libav decodes: {error}"
            ) from error
        if len(frames) != 1:
            raise InvalidArgumentError(f"these bytes hold {len(frames)} lossy pictures, expected 1")
        sides = (frames[0].width, frames[0].height)
        wanted = (width + width % 2, height + height % 2) if self._is_video else (width, height)
        if sides != wanted:
            raise InvalidArgumentError(
                f"this lossy picture is {sides[0]}x{sides[1]}, and says {width}x{height}"
            )
        pixels: NDArray[Any] = frames[0].to_ndarray(format=FORMATS[form])
        return ImageFrame(np.ascontiguousarray(pixels[:height, :width]), form)

    def _opened(self) -> Any:
        import av

        context: Any = av.CodecContext.create("h264" if self._is_video else "mjpeg", "r")
        context.thread_count = 1
        context.options = {"max_pixels": str(MOST_PICTURE_BYTES // 3), "flags": "+low_delay"}
        return context


def is_key(data: bytes) -> bool:
    """Return whether a message of a video can be decoded without the ones before.

    Raises:
        InvalidArgumentError: the bytes are no message of a video.
    """
    _, content = compressed_parts(True, data)  # noqa: FBT003  # a video
    at = content.find(_CODE)
    for _ in range(_UNITS):
        if at < 0 or at + 3 >= len(content):
            return False
        if content[at + 3] & 0x1F in _KEY_UNITS:
            return True
        at = content.find(_CODE, at + 3)
    return False


def _said(text: str) -> tuple[ImageFormat, int, int]:
    """Return format, width and height that a message says."""
    found = _SAID.fullmatch(text)
    form = ImageFormat.__members__.get(found[1]) if found else None
    if found is None or form not in FORMATS:
        raise InvalidArgumentError(f"this lossy picture says {text[:40]!r}, expected a format and a size")
    width, height = int(found[2]), int(found[3])
    if not width or not height:
        raise InvalidArgumentError(f"this lossy picture says {text!r}, which has no pixel")
    if width * height * 3 > MOST_PICTURE_BYTES:
        raise ResourceExhaustedError(
            f"a lossy picture of {width}x{height}, above {MOST_PICTURE_BYTES} bytes: the file is broken, or "
            "made to cost much"
        )
    return form, width, height
