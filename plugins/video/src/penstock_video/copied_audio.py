"""The audio of a video file, copied out and in again without decoding it."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import tempfile
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import av
import av.error

from penstock.access import EVERYTHING, redacted
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.log import get_logger, place
from penstock_formats.api import libav_options
from penstock_video.source import MICROSECONDS

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.stream import Stream

    from penstock.access import Access

_LOG: Final = get_logger("video")
#: Metadata that a copied stream keeps.
_KEPT: Final = ("language", "title")
#: In seconds. The times of a file begin nearer to zero than this; timestamps since 1970 do not.
_DAY: Final = 86_400


def save_audio(
    path: str,
    node: str | None = None,
    access: Access = EVERYTHING,
    timeout: tuple[float, float] | None = None,
) -> str:
    """Copy a file's first audio stream to a new temporary file (Matroska audio, .mka), without encoding.

    Args:
        path: of the file.
        node: name of the calling node, for the log.
        access: of the graph.
        timeout: seconds to open an address, and for each packet; None: any.

    Returns:
        The new file's path; the caller deletes the file. "" where there is no audio or it cannot be
        copied; the log says why.
    """
    handle, target = tempfile.mkstemp(prefix="penstock-audio-", suffix=".mka")
    os.close(handle)
    try:
        _copy_audio(access.medium(path), target, access, timeout)
    except (av.error.FFmpegError, OSError, ValueError, LookupError) as error:
        said = redacted(str(error))
        _LOG.warning("cannot save the audio of %r: %s", redacted(path), said, extra=place(node))
        with contextlib.suppress(OSError):
            os.unlink(target)  # noqa: PTH108  # a str
        return ""
    return target


def _copy_audio(path: str, target: str, access: Access, timeout: tuple[float, float] | None) -> None:
    options = libav_options(access, path)
    with (
        av.open(path, options=options, timeout=timeout) as source,
        av.open(target, "w", format="matroska") as copy,
    ):
        if not source.streams.audio:
            raise LookupError("no audio can be copied from a file without an audio stream")
        stream = source.streams.audio[0]
        written = copy.add_stream_from_template(stream)
        for packet in source.demux(stream):
            if packet.dts is not None:  # the last packet is empty and marks the end of the file
                packet.stream = written
                copy.mux(packet)


class AudioError(PenstockError):
    """The audio of a file cannot be copied any further."""


class AudioTracks:
    """The audio streams of a file, copied into a video file without decoding, beside the frames.

    Packets keep their bytes and their times. One packet is held at a time.

    Args:
        path: of a file with audio.
        container: the video file; nothing has been written to it yet.
        start: added to the times of all packets, in microseconds, as to those of the frames. Where that
            gives a time of a day or more, the frames have times since 1970, and the first frame of the file
            at `path` is at 0 instead.
        is_optional: a stream that does not fit is left out, and the log says so.
        node: name of the node that writes the file, for the log.

    Raises:
        InvalidArgumentError: the file cannot be read; or, unless `is_optional`, it has no audio stream, or
            one that the container cannot hold. No file stays open.
    """

    def __init__(
        self,
        path: str,
        container: OutputContainer,
        start: int = 0,
        *,
        is_optional: bool = False,
        node: str | None = None,
    ) -> None:
        self._path = path
        self._container = container
        self._is_optional = is_optional
        self._node = node
        self._source = _opened(path)
        try:
            streams = [stream for stream in self._source.streams.audio if self._fits(stream)]
            if not self._source.streams.audio:
                self._refuse(f"file {path!r} has no audio stream; check AUDIO_FILE_PATH")
            self._written = {stream.index: self._added(stream) for stream in streams}
            self._shift = self._offset(start)
        except BaseException:
            self._source.close()
            raise
        self._packets = self._source.demux(*streams) if streams else iter(())
        self._next: Packet[Stream] | None = None
        self._time = Fraction(0)

    def copy_until(self, time: Fraction | None) -> None:
        """Write the packets that begin before `time`, in seconds of the video file; None: all.

        Raises:
            AudioError: the audio file cannot be read further, or the container refuses a packet; names the
                file. No more audio can be copied.
            av.error.FFmpegError, OSError: the disk failed.
        """
        while (packet := self._next or self._read()) is not None:
            self._next = packet
            if time is not None and self._time >= time:
                return
            self._next = None
            self._write(packet)

    def has_frame_after(self, time: Fraction) -> bool:
        """Return whether the file has video, with a frame later than `time`, in seconds of the video file.

        Reads the packets behind the last key frame. True where the file has no video, and where its end
        cannot be read.
        """
        with contextlib.suppress(av.error.FFmpegError, OSError), av.open(self._path) as source:
            if source.streams.video:
                source.seek((source.start_time or 0) + (source.duration or 0))
                return any(
                    packet.pts is not None and packet.pts * packet.time_base + self._shift > time
                    for packet in source.demux(source.streams.video[0])
                )
        return True

    def close(self) -> None:
        """Close the audio file. Packets that were not written are dropped."""
        self._source.close()

    def _fits(self, stream: AudioStream) -> bool:
        """Return whether the container can hold a stream."""
        kind = self._container.format.name
        if _can_hold(kind, self._path, stream.index):
            return True
        decoder = getattr(stream.codec_context, "codec", None)  # None: this libav does not know the codec
        codec = "unknown" if decoder is None else decoder.canonical_name
        what = f"the {codec} audio of {self._path!r} (stream {stream.index})"
        can = f"a file of kind {kind!r} cannot hold it; write an .mkv file, which can hold most audio"
        self._refuse(
            f"{what} is left out: {can}",
            f"{what} cannot be copied: {can}, or set audio_optional to leave it out",
        )
        return False

    def _refuse(self, said: str, error: str = "") -> None:
        if not self._is_optional:
            raise InvalidArgumentError(error or said)
        _LOG.log(logging.WARNING if error else logging.INFO, "%s", said, extra=place(self._node))

    def _added(self, stream: AudioStream) -> AudioStream:
        written = self._container.add_stream_from_template(stream)
        written.metadata.update({key: stream.metadata[key] for key in _KEPT if key in stream.metadata})
        return written

    def _offset(self, start: int) -> Fraction:
        """Return what is added to the packets' times, in seconds."""
        shift = Fraction(start, MICROSECONDS)
        if abs(shift + Fraction(self._source.start_time or 0, MICROSECONDS)) < _DAY:
            return shift
        video = next(iter(self._source.streams.video), None)
        if video is None or video.start_time is None or video.time_base is None:
            return Fraction(0)
        return -video.start_time * video.time_base

    def _read(self) -> Packet[Stream] | None:
        """Return the next packet, with its time in the video file, or None after the last."""
        try:
            for packet in self._packets:
                if packet.size and self._moved(packet):  # the last one is empty and marks the end
                    return packet
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed("cannot be read", error) from error
        return None

    def _moved(self, packet: Packet[Stream]) -> bool:
        """Move a packet to its time in the video file; return whether it belongs there.

        Where the frames begin after the audio and were moved to zero, what comes before zero does not. One
        packet before zero stays: decoders need it for the samples of the next one.
        """
        begin = packet.pts if packet.dts is None else packet.dts
        if begin is None:
            raise self._failed("cannot be copied", ValueError("a packet of the audio has no time"))
        ticks = round(self._shift / packet.time_base)
        packet.dts = begin + ticks
        packet.pts = packet.dts if packet.pts is None else packet.pts + ticks
        self._time = packet.dts * packet.time_base
        return ticks >= 0 or packet.dts + 2 * (packet.duration or 0) > 0

    def _write(self, packet: Packet[Stream]) -> None:
        packet.stream = self._written[packet.stream.index]
        try:
            self._container.mux(packet)
        except ValueError as error:  # of what the container refuses; a full disk is no ValueError
            raise self._failed("cannot be copied", error) from error

    def _failed(self, what: str, error: Exception) -> AudioError:
        why = getattr(error, "strerror", None) or error
        return AudioError(
            f"the video's audio file {self._path!r}: {what} after {float(self._time):.3f} s: {why}; check "
            "the file"
        )


def _opened(path: str) -> InputContainer:
    try:
        return av.open(path)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidArgumentError(
            f"the video's audio file {path!r} cannot be read: {why}; check AUDIO_FILE_PATH"
        ) from error


def _can_hold(kind: str, path: str, index: int) -> bool:
    """Return whether files of a kind can hold an audio stream, by writing its first packet into memory.

    libav's own answer is not enough: some containers refuse a codec only in the header, and MPEG-TS stores
    unknown codecs as data without an error.

    Args:
        kind: libav's name of the kind of file.
        path: of a file that can be opened.
        index: of the stream among all streams of the file.
    """
    trial = io.BytesIO()
    try:
        with av.open(path) as source, av.open(trial, "w", format=kind) as target:
            stream = source.streams[index]
            written = target.add_stream_from_template(stream)
            for packet in source.demux(stream):
                if packet.size:
                    packet.stream = written
                    target.mux(packet)
                    break
        trial.seek(0)
        with av.open(trial) as made:
            return bool(made.streams.audio)
    except (av.error.FFmpegError, ValueError, OSError):
        return False
