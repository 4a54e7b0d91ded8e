"""The sound of a file, decoded by libav through PyAV.

One thread at a time reads a file, but not always the same one. libav reads and decodes without the GIL.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import av
import av.error
import numpy as np

from penstock.access import EVERYTHING
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.log import get_logger, place
from penstock_audio.series.time_series import MICROSECONDS
from penstock_formats import TimeSeriesHeader
from penstock_formats.api import libav_options

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from numpy.typing import NDArray

    from penstock.access import Access
    from penstock_audio.messages.audio_decoder_pb2 import AudioStreamOptions

_logger = get_logger(__name__)
#: An MPEG clock begins again from 0 behind this number of ticks.
_ROLLOVER: Final = 2**33
#: A packet of a WAV file has at most so many bytes, as with the libav that the reference was built with.
_WAV_PACKET: Final = "4096"
#: Element type → what is subtracted from samples, and divides them then.
_SCALES: Final = {"u1": (128, 128), "i2": (0, 2**15), "i4": (0, 2**31), "i8": (0, 2**63)}


class AudioFile:
    """The packets of one audio stream of a file.

    Times are counted: the first packet has the file's time, and each later one the time of the samples before
    it, since the times of files are rarely exact to a sample.

    Args:
        path: a file, or an address with "://" for libav.
        options: which stream, and what to do with faults.
        gap_s: where the file's own time differs from the counted one by more, counting starts again.
        node: name of the node that reads the file, for the log.
        access: of the graph; the path is allowed.

    Raises:
        InvalidArgumentError: there is no such file, it cannot be read, or has no such stream. No file stays
            open.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        options: AudioStreamOptions,
        gap_s: float,
        node: str,
        access: Access = EVERYTHING,
    ) -> None:
        self._name: Final = os.fspath(path)
        self._options: Final = options
        self._node: Final = node
        if "://" not in self._name and not os.path.exists(self._name):  # noqa: PTH110  # a str by now
            raise InvalidArgumentError(f"audio file {self._name!r} does not exist; check INPUT_FILE_PATH")
        self._container: Final = _opened(self._name, access)
        try:
            self._stream = _stream(self._container, self._name, options.stream_index)
        except BaseException:
            self._container.close()
            raise
        context = self._stream.codec_context
        self._rate, self._channels = context.sample_rate, context.channels
        self._gap: Final = round(gap_s * self._rate)
        self._frames: Final = self._all_frames()
        #: The place of the next sample, counted from time 0.
        self._next: int | None = None
        self._last: int | None = None
        self._turns = 0
        self._last_ticks: int | None = None
        self._broken = self._back = 0

    @property
    def header(self) -> TimeSeriesHeader:
        """Rate and channels."""
        return TimeSeriesHeader(sample_rate=self._rate, num_channels=self._channels)

    def read(self) -> tuple[int, NDArray[np.float32]] | None:
        """Return the next packet, or None after the last.

        Returns:
            Its time in microseconds, and its samples, (channels, n) float32, from -1 to 1 where the file
            holds integers.

        Raises:
            PenstockError: reading or decoding failed. After that the file can only be closed.
        """
        for frame in self._frames:
            begin = self._place_of(frame)
            self._next = begin + frame.samples
            stamp = _rounded(Fraction(begin * MICROSECONDS, self._rate))
            if self._last is not None and stamp <= self._last:
                self._back += 1
                continue
            self._last = stamp
            return stamp, samples_of(frame)
        return None

    def close(self) -> None:
        """Close the file, and log what was left out."""
        self._frames.close()
        self._container.close()
        if self._broken or self._back:
            _logger.warning(
                "%r: left out %d packets that cannot be decoded and %d whose times go back",
                self._name, self._broken, self._back,
                extra=place(node=self._node),
            )  # fmt: skip

    def _all_frames(self) -> Generator[AudioFrame]:
        for packet in self._packets():
            try:
                frames: Any = packet.decode()
            except (av.error.FFmpegError, ValueError) as error:
                if not self._options.ignore_decode_failures:
                    raise self._failed("cannot be decoded", error) from error
                self._broken += 1
                continue
            for frame in frames:
                if frame.sample_rate != self._rate or frame.layout.nb_channels != self._channels:
                    raise self._failed(
                        "changes",
                        f"the audio has {frame.sample_rate} samples a second and {frame.layout.nb_channels} "
                        f"channels now, but had {self._rate} and {self._channels}",
                    )
                if frame.samples:
                    yield frame

    def _packets(self) -> Iterator[Any]:
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except (av.error.FFmpegError, OSError) as error:
                raise self._failed("cannot be read", error) from error
            if packet is None:
                return
            yield packet

    def _place_of(self, frame: AudioFrame) -> int:
        """Return the place of a frame's first sample."""
        if frame.pts is None or frame.time_base is None:
            return self._next or 0
        place_in_file = _rounded(self._ticks(frame.pts) * frame.time_base * self._rate)
        if self._next is None:
            return place_in_file
        if abs(place_in_file - self._next) > self._gap:
            _logger.warning(
                "%r: after %.3f s of sound the file says %.3f s; times are counted from there on",
                self._name, self._next / self._rate, place_in_file / self._rate,
                extra=place(node=self._node),
            )  # fmt: skip
            return place_in_file
        return self._next

    def _ticks(self, ticks: int) -> int:
        """Return a frame's time in ticks, counted on where an MPEG clock begins again from 0."""
        if not self._options.correct_pts_for_rollover:
            return ticks
        ticks %= _ROLLOVER
        if self._last_ticks is not None:
            jump = ticks - self._last_ticks
            self._turns += (jump < -_ROLLOVER // 2) - (jump > _ROLLOVER // 2)
        self._last_ticks = ticks
        return max(ticks + self._turns * _ROLLOVER, 0)

    def _failed(self, what: str, why: object) -> PenstockError:
        said = getattr(why, "strerror", None) or why
        after = (self._next or 0) / self._rate
        return PenstockError(f"audio file {self._name!r} {what} after {after:.3f} s: {said}; check the file")


def _stream(container: InputContainer, name: str, index: int) -> AudioStream:
    """Return an audio stream of a file.

    Raises:
        InvalidArgumentError: there is none of this number, or it has no decoder, no rate or no channels.
    """
    streams = container.streams.audio
    if not 0 <= index < len(streams):
        raise InvalidArgumentError(
            f"audio file {name!r} has {len(streams) or 'no'} audio streams, but stream_index is {index}, "
            "counted from 0; choose another one or another file"
        )
    context = streams[index].codec_context
    if context is None:
        raise InvalidArgumentError(
            f"audio file {name!r}: stream {index} is in a codec that libav does not decode; convert "
            "the file, or look whether it is damaged"
        )
    if not (context.sample_rate and context.channels):
        raise InvalidArgumentError(
            f"audio file {name!r}: stream {index} has {context.sample_rate} samples a second and "
            f"{context.channels} channels; the file is damaged"
        )
    return streams[index]


def has_stream(path: str, index: int, access: Access = EVERYTHING) -> bool:
    """Return whether a file has an audio stream of this number.

    Raises:
        InvalidArgumentError: the file cannot be read.
    """
    with _opened(path, access) as container:
        return 0 <= index < len(container.streams.audio)


def samples_of(frame: AudioFrame) -> NDArray[np.float32]:
    """Return the samples of a frame, (channels, n) float32 in fresh memory; integers become -1 to 1."""
    array = frame.to_ndarray()
    channels = frame.layout.nb_channels
    if not frame.format.is_planar:
        array = array.reshape(-1, channels).T
    offset, scale = _SCALES.get(array.dtype.str[1:], (0, 1))
    if scale == 1:
        return np.ascontiguousarray(array, np.float32)
    return np.ascontiguousarray((array.astype(np.float64) - offset) / scale, np.float32)


def _opened(path: str, access: Access) -> InputContainer:
    try:
        return av.open(path, options={**libav_options(access, path), "max_size": _WAV_PACKET})
    except (av.error.FFmpegError, OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidArgumentError(
            f"audio file {path!r} cannot be read: {why}; check INPUT_FILE_PATH"
        ) from error


def _rounded(number: Fraction) -> int:
    """Return the nearest whole number, a half away from zero, exactly."""
    whole = (2 * abs(number) + 1) // 2
    return int(whole if number >= 0 else -whole)
