"""Writes one video file from frames with exact times; the target is either complete or unchanged.

The file grows under another name beside the target and is renamed to the target when it is
finished. So the target is always complete or unchanged, and may even be the file that the graph
reads. At every moment the growing file plays: where the disk becomes full or the process is killed,
at most the last two seconds are lost. One thread at a time writes; libav runs without the GIL.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import av
import av.error
from av.video.reformatter import ColorRange, Colorspace

from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock_video.copied_audio import AudioError, AudioTracks
from penstock_video.frames import converter, encoded_size, pixel_format
from penstock_video.hardware import on_device
from penstock_video.libav_encoders import encoder_options, has_crf, has_preset, threading, usual_crf
from penstock_video.partial import PartialFile, is_full
from penstock_video.priority import kept_priority
from penstock_video.source import MICROSECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from av.container import OutputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

    from penstock_formats import ImageFormat

#: AVI has no times, only frame numbers: a finer time base would fill the gaps with empty frames.
_COUNTED: Final = (".avi",)
#: MPEG-1 has one of a few rates, and no times between whole frames.
_WHOLE_FRAMES: Final = ("mpeg1video",)
#: Microseconds, which keeps timestamps exact.
_TIME_BASE: Final = Fraction(1, MICROSECONDS)
#: MPEG-4 part 2 counts in 16 bits; 60000 holds the usual rates exactly, 30000/1001 included. GIF counts so.
_COARSE_TIME_BASE: Final = {"mpeg4": Fraction(1, 60000), "gif": Fraction(1, 100)}
_GIF_TICK_US: Final = MICROSECONDS // 100
#: Longest time in the file, in microseconds, that libav collects before it writes: a fragment, a cluster, or
#: the packets of one stream that wait for another stream.
_COLLECTED_US: Final = MICROSECONDS // 2
#: MP4 and MOV: fragments while the file grows, an ordinary file at the end. Without the time scale libav
#: rounds the time before the first frame to milliseconds.
_FRAGMENTS: Final = {
    "movflags": "hybrid_fragmented+delay_moov",
    "use_editlist": "1",
    "frag_duration": str(_COLLECTED_US),
    "movie_timescale": str(MICROSECONDS),
}
_CLUSTERS: Final = {"cluster_time_limit": str(_COLLECTED_US // 1000)}
_CONTAINER: Final = {
    **dict.fromkeys((".mp4", ".m4v", ".mov"), _FRAGMENTS),
    **dict.fromkeys((".mkv", ".webm"), _CLUSTERS),
}
_EVERY_CONTAINER: Final = {"flush_packets": "1", "max_interleave_delta": str(_COLLECTED_US)}
_BITS_PER_PIXEL: Final = 0.2
#: Formats whose colours have the limited range of BT.601, which the file says.
_LIMITED: Final = ("yuv420p", "nv12")


@attrs.frozen
class Settings:
    """How to encode."""

    #: libav's name of the encoder.
    codec: str
    #: Expected frames per second.
    fps: float = 30.0
    #: `crf`, `preset`: quality and speed, for encoders that have these options; None: the encoder's own.
    crf: float | None = None
    preset: str = "veryfast"
    #: The threads of the encoder; 0: libav decides.
    threads: int = 0
    #: Bits per second, for encoders without crf; 0: a fifth of a bit for each pixel.
    bit_rate: int = 0
    #: File with the audio to copy; None: no audio.
    audio: str | None = None
    #: Leave out audio that does not fit, and log it; False: that is an error.
    audio_optional: bool = False
    #: Name of the node that writes, for the log.
    node: str | None = None


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
        ResourceExhaustedError: the disk is full. No file is left behind.
    """

    def __init__(self, target: Path, settings: Settings, size: tuple[int, int], start: int = 0) -> None:
        self.target = target
        self.size = size
        self._settings = settings
        self._start = start
        self._audio: AudioTracks | None = None
        self._has_audio = bool(settings.audio)
        self._size = encoded_size(settings.codec, size)
        self._converted = converter(settings.codec, self._size)
        self._last: int | None = None
        #: End of the frames that were encoded, in the encoder's ticks.
        self._end: int | None = None
        #: In seconds: time of the first frame; how far packets were given to libav, and how far they are in
        #: the file.
        self._first = self._muxed = self._saved = Fraction(0)
        self._length = round(MICROSECONDS / settings.fps)
        try:
            self._file = PartialFile(target)
        except OSError as error:
            raise self._refused(error) from error
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
            with kept_priority():
                self._container.start_encoding()
        except BaseException as error:
            self._discard()
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
            ResourceExhaustedError: the disk is full. What the file has stays, under the name in the error.
            PenstockError: the encoder or the disk failed, or the audio cannot be copied further.

        After an error the writer can only be finished: then, unless the disk failed, with the frames up to
        there and without the rest of the audio.
        """
        frame = self._converted(picture, kind)
        time = timestamp + self._start
        self._check_tick(timestamp, time)
        frame.pts, frame.time_base = time, _TIME_BASE
        if self._last is None:
            self._first = self._muxed = self._saved = Fraction(time, MICROSECONDS)
        else:
            self._length = time - self._last
        self._last = time
        self._encode(frame)
        self._copy_audio(Fraction(time, MICROSECONDS))

    def _check_tick(self, timestamp: int, time: int) -> None:
        """Refuse a frame of a GIF that would be at the time of the one before."""
        if self._settings.codec != "gif" or self._last is None:
            return
        if round(time / _GIF_TICK_US) == round(self._last / _GIF_TICK_US):
            raise InvalidArgumentError(
                f"video file {str(self.target)!r} cannot be written: a frame at {timestamp} us has no time "
                "of its own, since a GIF counts in 1/100 s; give it fewer frames with a "
                "PacketThinnerCalculator, or write mp4"
            )

    def finish(self) -> None:
        """Write the frames that the encoder still holds and the rest of the audio, and rename the file.

        The audio ends with the last frame; if that is the last frame of the audio's own file too, all of the
        audio is copied. After a failure of the disk in `write`, which has raised, the file is only closed.

        Raises:
            ResourceExhaustedError: the disk is full. The target is unchanged, and what was written stays
                under the name in the error.
            PenstockError: the encoder or the disk failed, as with a full disk. Or the audio cannot be copied
                further; the target then has all frames, and the audio up to there.
        """
        if self._file.error is not None:
            self._leave()
            return
        audio_failure: AudioError | None = None
        try:
            self._encode(None)
            try:
                self._finish_audio()
            except AudioError as error:
                audio_failure = error
            self._file.begin_end()
            self._container.close()
            self._close_audio()
            self._file.complete()
            self._file.publish(self.target)
        except BaseException as error:
            self._leave()
            if isinstance(error, (av.error.FFmpegError, OSError)) and not isinstance(error, PenstockError):
                raise self._failed(error) from error
            raise
        if audio_failure is not None:
            raise audio_failure

    def _leave(self) -> None:
        """Close the file that cannot be completed; it plays, and is deleted only where it has no frame."""
        self._close_container()
        self._close_audio()
        self._file.leave()
        if self._saved <= self._first:
            self._file.delete()

    def _discard(self) -> None:
        """Delete the file that was not begun."""
        self._close_container()
        self._close_audio()
        self._file.delete()

    def _close_container(self) -> None:
        self._file.begin_end()  # libav's end of the file must not change what plays
        with contextlib.suppress(av.error.FFmpegError, OSError):
            self._container.close()

    def _opened(self) -> OutputContainer:
        options = _EVERY_CONTAINER | _CONTAINER.get(self.target.suffix.lower(), {})
        try:
            return av.open(self._file, "w", options=options)
        except BaseException as error:
            self._file.delete()
            if isinstance(error, (av.error.FFmpegError, OSError, ValueError)):
                raise self._refused(error) from error
            raise

    def _video_stream(self) -> VideoStream:
        settings, (width, height) = self._settings, self._size
        codec = settings.codec
        counted = self.target.suffix.lower() in _COUNTED
        crf = usual_crf(codec) if settings.crf is None else settings.crf
        bit_rate = settings.bit_rate
        if bit_rate and codec == "libsvtav1":  # it takes one of the two
            crf, bit_rate = (None, bit_rate) if settings.crf is None else (crf, 0)
        options = encoder_options(codec, crf, settings.preset, settings.fps, in_order=counted, width=width)
        rate = Fraction(settings.fps).limit_denominator(1001)
        stream = cast(
            "VideoStream",
            self._container.add_stream(codec, rate=rate, options=options, **on_device(codec)),
        )
        stream.width, stream.height = width, height
        stream.pix_fmt = format_ = pixel_format(codec)
        context = stream.codec_context
        if counted or codec in _WHOLE_FRAMES:
            context.time_base = 1 / rate
        else:
            context.time_base = _COARSE_TIME_BASE.get(codec, _TIME_BASE)
        kind, context.thread_count = threading(codec, options, settings.threads, settings.fps, height=height)
        context.thread_type = kind
        if not has_preset(codec):
            has_quality = has_crf(codec) and crf is not None
            context.bit_rate = bit_rate or (
                0 if has_quality else round(width * height * settings.fps * _BITS_PER_PIXEL)
            )
        if format_ in _LIMITED:
            context.colorspace, context.color_range = Colorspace.ITU601, ColorRange.MPEG
        if self._start:
            began = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=-self._start)
            self._container.metadata["creation_time"] = began.isoformat()
        return stream

    def _encode(self, frame: av.VideoFrame | None) -> None:
        try:
            packets = self._stream.encode(frame)
            for packet in packets:
                self._measure(packet, is_last=frame is None and packet is packets[-1])
                self._container.mux(packet)
                if packet.dts is not None:
                    self._muxed = packet.dts * packet.time_base
                self._settle()
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed(error) from error

    def _settle(self) -> None:
        """Note what the file has by now: libav writes with the first packet of what it collects next."""
        if self._file.settle():
            self._saved = self._muxed

    def _measure(self, packet: Packet[VideoStream], *, is_last: bool) -> None:
        """Give a packet its duration, which tells libav where the video ends.

        In mp4 libav (8.1) takes the beginning of a fragment's first packet for the end of all packets before,
        which is wrong where packets are out of order: the last frame is then behind the end. So the last
        packet ends with the last frame.
        """
        if packet.pts is None:
            return
        if not packet.duration:
            packet.duration = round(self._length / (MICROSECONDS * packet.time_base))
        if is_last and self._end is None:
            packet.dts = packet.pts  # x265 leaves that of a single frame to chance
        end = packet.pts + packet.duration
        self._end = end if self._end is None else max(self._end, end)
        if is_last:
            packet.duration = self._end - packet.pts

    def _copy_audio(self, until: Fraction | None) -> None:
        """Copy the audio that begins before `until` seconds, or all of it; after an error, no more."""
        if self._audio is None:
            return
        try:
            self._audio.copy_until(until)
            self._settle()
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

    def _refused(self, error: Exception) -> PenstockError:
        why = getattr(error, "strerror", None) or error
        shown = repr(str(self.target))
        if is_full(error):
            return ResourceExhaustedError(
                f"video file {shown} cannot be written: {why}; make room on the disk"
            )
        width, height = self.size
        return InvalidArgumentError(
            f"video file {shown} cannot be written as {width}x{height} {self._settings.codec}: {why}; check "
            "the codec and the ending of the path"
        )

    def _failed(self, error: Exception) -> PenstockError:
        """Return the error for a failure of libav or of the disk, with the path of the saved part."""
        error = self._file.error or error
        why = getattr(error, "strerror", None) or error
        left = "no frame was saved"
        if self._saved > self._first:
            # Packets of the video may wait for audio, and what was collected ends with a packet of either.
            waiting = Fraction(2 * _COLLECTED_US, MICROSECONDS) if self._has_audio else 0
            until = float(max(self._saved - waiting, self._first))
            left = f"{self._file.name!r} has the frames up to {until:.3f} s and plays"
        kind, cure = PenstockError, "check the disk"
        if is_full(error):
            kind, cure = ResourceExhaustedError, "make room on the disk"
        return kind(f"video file {str(self.target)!r}: writing failed: {why}; {left}; {cure}")
