"""Writes one video file from frames with exact times; the target is either complete or unchanged.

The file grows under a temporary name beside the target and is renamed to the target when it is
finished. So the target is always complete or unchanged, and may even be the file that the graph
reads. One thread at a time writes; libav runs without the GIL.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import av
import av.error
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from penstock.errors import InvalidArgumentError, PenstockError
from penstock_formats import ImageFormat
from penstock_video.audio import AudioError, AudioTracks
from penstock_video.source import MICROSECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from av.container import OutputContainer
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

#: Four-letter codes, as OpenCV takes them, and the encoders that make such streams.
FOURCC: Final = {
    **dict.fromkeys(("avc1", "h264", "x264"), "libx264"),
    **dict.fromkeys(("hevc", "hvc1", "hev1"), "libx265"),
    **dict.fromkeys(("mp4v", "xvid", "divx", "fmp4"), "mpeg4"),
    "mjpg": "mjpeg",
    "vp80": "libvpx",
    "vp90": "libvpx-vp9",
    "av01": "libsvtav1",
}
#: libav's name of each pixel format.
PIXELS: Final = {ImageFormat.GRAY8: "gray", ImageFormat.SRGB: "rgb24", ImageFormat.SRGBA: "rgba"}

_WITH_PRESET: Final = ("libx264", "libx265")
_WITH_CRF: Final = (*_WITH_PRESET, "libvpx-vp9")
_WEB: Final = (".webm",)
#: AVI has no times, only frame numbers: a finer time base would fill the gaps with empty frames.
_COUNTED: Final = (".avi",)
#: Microseconds, which keeps timestamps exact.
_TIME_BASE: Final = Fraction(1, MICROSECONDS)
#: MPEG-4 part 2 counts in 16 bits; 60000 holds the usual rates exactly, 30000/1001 included.
_COARSE_TIME_BASE: Final = {"mpeg4": Fraction(1, 60000)}
#: Options without which MP4 rounds the time before the first frame to milliseconds.
_EXACT_START: Final = {
    ".mp4": {"movie_timescale": str(MICROSECONDS)},
    ".mov": {"movie_timescale": str(MICROSECONDS)},
}
_BITS_PER_PIXEL: Final = 0.2
_SUBSAMPLED: Final = ("yuv420p", "yuvj420p")
#: JPEG has the full colour range, and libav accepts no other for it.
_FULL_RANGE: Final = {"mjpeg": "yuvj420p"}


@attrs.frozen
class Settings:
    """How to encode.

    Attributes:
        codec: libav's name of the encoder.
        fps: expected frames per second.
        crf, preset: quality and speed, for encoders that have these options.
        threads: of the encoder; 0: libav decides.
        bit_rate: bits per second, for encoders without crf; 0: a fifth of a bit for each pixel.
        audio: file with the audio to copy; None: no audio.
        audio_optional: leave out audio that does not fit, and log it; False: that is an error.
        node: name of the node that writes, for the log.
    """

    codec: str
    fps: float = 30.0
    crf: float = 23.0
    preset: str = "superfast"
    threads: int = 0
    bit_rate: int = 0
    audio: str | None = None
    audio_optional: bool = False
    node: str | None = None


def encoder_name(codec: str, suffix: str) -> str:
    """Return libav's name of the encoder for a four-letter code or a name; "" gives the default encoder.

    Raises:
        InvalidArgumentError: this build of libav has no such encoder.
    """
    usual = "libvpx-vp9" if suffix.lower() in _WEB else "libx264"
    name = FOURCC.get(codec.lower(), codec) if codec else usual
    try:
        return name if av.codec.Codec(name, "w").type == "video" else _no_encoder(codec)
    except ValueError:
        return _no_encoder(codec)


def _no_encoder(codec: str) -> str:
    raise InvalidArgumentError(
        f"codec {codec!r} is unknown or no video encoder; use a four-letter code such as 'avc1' or 'mp4v', "
        "or an encoder of libav such as 'libx264'"
    )


class VideoWriter:
    """A video file that is being written.

    Args:
        target: the file; an existing one is replaced when this one is finished.
        settings: how to encode.
        size: (width, height) of all frames in pixels.
        start: added to all timestamps, microseconds; where it is not 0, the file's creation time is
            the moment at `-start` microseconds since 1970.

    Raises:
        InvalidArgumentError: codec, container, size and audio do not go together. No file is left behind.
    """

    def __init__(self, target: Path, settings: Settings, size: tuple[int, int], start: int = 0) -> None:
        self.target = target
        self.size = size
        self._settings = settings
        self._start = start
        self._partial = target.with_name(f".{target.stem}.partial{target.suffix}")
        self._audio: AudioTracks | None = None
        self._reformatter = VideoReformatter()
        self._last: int | None = None
        self._length = round(MICROSECONDS / settings.fps)
        self._container = self._opened()
        try:
            self._stream = self._video_stream()
            if settings.audio:
                self._audio = AudioTracks(
                    settings.audio,
                    self._container,
                    start,
                    is_optional=settings.audio_optional,
                    node=settings.node,
                )
            self._container.start_encoding()
        except BaseException as error:
            self.discard()
            if isinstance(error, (av.error.FFmpegError, ValueError, OSError)) and not isinstance(
                error, PenstockError
            ):
                raise self._refused(error) from error
            raise

    def write(self, picture: NDArray[Any], kind: ImageFormat, timestamp: int) -> None:
        """Encode one frame.

        Args:
            picture: (H, W), (H, W, 3) or (H, W, 4) uint8, of the file's size. Borrowed for the call.
            kind: GRAY8, SRGB or SRGBA (whose alpha is dropped).
            timestamp: microseconds, later than the one before.

        Raises:
            PenstockError: the encoder or the disk failed, or the audio cannot be copied further. The writer
                can still be finished, then without the rest of the audio, or discarded.
        """
        rgb = av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(picture), format=PIXELS[kind])
        frame = self._reformatter.reformat(
            rgb,
            format=self._stream.pix_fmt,
            dst_colorspace=Colorspace.ITU601,
            dst_color_range=ColorRange.JPEG if self._stream.pix_fmt == "yuvj420p" else ColorRange.MPEG,
            threads=1,  # the graph's other nodes use the other cores
        )
        time = timestamp + self._start
        frame.pts, frame.time_base = time, _TIME_BASE
        if self._last is not None:
            self._length = time - self._last
        self._last = time
        self._encode(frame)
        self._copy_audio(Fraction(time, MICROSECONDS))

    def finish(self) -> None:
        """Write the frames that the encoder still holds and the rest of the audio, and rename the file.

        The audio ends with the last frame; if that is the last frame of the audio's own file too, all of the
        audio is copied.

        Raises:
            PenstockError: the encoder or the disk failed. The target is unchanged. Or the audio cannot be
                copied further; the target then has all frames, and the audio up to there.
        """
        audio_failure: AudioError | None = None
        try:
            self._encode(None)
            try:
                self._finish_audio()
            except AudioError as error:
                audio_failure = error
            self._container.close()
            self._close_audio()
            self._partial.replace(self.target)
        except (av.error.FFmpegError, OSError) as error:
            self.discard()
            raise self._failed(error) from error
        except BaseException:
            self.discard()
            raise
        if audio_failure is not None:
            raise audio_failure

    def discard(self) -> None:
        """Delete the unfinished file; the target stays unchanged."""
        with contextlib.suppress(av.error.FFmpegError, OSError):
            self._container.close()
        self._close_audio()
        with contextlib.suppress(OSError):
            self._partial.unlink(missing_ok=True)

    def _opened(self) -> OutputContainer:
        options = _EXACT_START.get(self.target.suffix.lower(), {})
        try:
            return av.open(str(self._partial), "w", options=options)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            raise self._refused(error) from error

    def _video_stream(self) -> VideoStream:
        settings, (width, height) = self._settings, self.size
        options = {}
        if settings.codec in _WITH_CRF:
            options["crf"] = f"{settings.crf:g}"
        if settings.codec in _WITH_PRESET:
            options["preset"] = settings.preset
        rate = Fraction(settings.fps).limit_denominator(1001)
        stream = cast("VideoStream", self._container.add_stream(settings.codec, rate=rate, options=options))
        stream.width, stream.height = width, height
        stream.pix_fmt = _pixel_format(settings.codec)
        if stream.pix_fmt in _SUBSAMPLED and (width % 2 or height % 2):
            raise InvalidArgumentError(
                f"frames are {width}x{height}, but {settings.codec} needs even sides; make them even with an "
                "ImageTransformationCalculator"
            )
        context = stream.codec_context
        counted = self.target.suffix.lower() in _COUNTED
        context.time_base = 1 / rate if counted else _COARSE_TIME_BASE.get(settings.codec, _TIME_BASE)
        context.thread_count = settings.threads
        if settings.codec not in _WITH_PRESET:
            context.bit_rate = settings.bit_rate or (
                0 if settings.codec in _WITH_CRF else round(width * height * settings.fps * _BITS_PER_PIXEL)
            )
        if stream.pix_fmt == "yuv420p":
            context.colorspace, context.color_range = Colorspace.ITU601, ColorRange.MPEG
        if self._start:
            began = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=-self._start)
            self._container.metadata["creation_time"] = began.isoformat()
        return stream

    def _encode(self, frame: av.VideoFrame | None) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed(error) from error

    def _copy_audio(self, until: Fraction | None) -> None:
        """Copy the audio that begins before `until` seconds, or all of it; after an error, no more."""
        if self._audio is None:
            return
        try:
            self._audio.copy_until(until)
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed(error) from error
        except AudioError:
            self._close_audio()
            raise

    def _finish_audio(self) -> None:
        if self._audio is None or self._last is None:
            return
        self._copy_audio(Fraction(self._last + self._length, MICROSECONDS))
        # A run that was cut short stays short. Half a frame later is no other frame, but for rounding.
        if not self._audio.has_frame_after(Fraction(2 * self._last + self._length, 2 * MICROSECONDS)):
            self._copy_audio(None)

    def _close_audio(self) -> None:
        audio, self._audio = self._audio, None
        if audio is not None:
            audio.close()

    def _refused(self, error: Exception) -> InvalidArgumentError:
        why = getattr(error, "strerror", None) or error
        width, height = self.size
        return InvalidArgumentError(
            f"video file {str(self.target)!r} cannot be written as {width}x{height} {self._settings.codec}: "
            f"{why}; check the codec and the ending of the path"
        )

    def _failed(self, error: Exception) -> PenstockError:
        why = getattr(error, "strerror", None) or error
        return PenstockError(
            f"video file {str(self.target)!r}: writing failed: {why}; check the disk's free space"
        )


def _pixel_format(codec: str) -> str:
    """Return the pixel format that players expect of a codec: 4:2:0 where it has it, else its first."""
    if codec in _FULL_RANGE:
        return _FULL_RANGE[codec]
    formats = [one.name for one in av.codec.Codec(codec, "w").video_formats or ()]
    for usual in _SUBSAMPLED:
        if usual in formats or not formats:
            return usual
    return formats[0]


def check_target(target: Path) -> None:
    """Check whether a file can be written at `target`.

    Raises:
        InvalidArgumentError: its directory does not exist or cannot be written to, or the target is
            a directory or must not be overwritten.
    """
    folder = target.parent
    if not folder.is_dir():
        raise InvalidArgumentError(
            f"video file {str(target)!r} cannot be written: there is no directory {str(folder)!r}; "
            "make it first"
        )
    if target.is_dir():
        raise InvalidArgumentError(
            f"video file {str(target)!r} cannot be written: it is a directory; name a file"
        )
    for place in (folder, target):
        if place.exists() and not os.access(place, os.W_OK):
            raise InvalidArgumentError(
                f"video file {str(target)!r} cannot be written: no permission for {str(place)!r}; "
                "choose another path, or change the permissions"
            )
