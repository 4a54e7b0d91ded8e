"""The audio of a video file, copied out and in again without decoding it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, Final

import av
import av.error

from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place

if TYPE_CHECKING:
    from fractions import Fraction

    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from av.packet import Packet

_LOG: Final = get_logger("video")


def save_audio(path: str, node: str | None = None) -> str:
    """Copy a file's first audio stream to a new temporary file (Matroska audio, .mka), without encoding.

    Args:
        path: of the file.
        node: name of the calling node, for the log.

    Returns:
        The new file's path; the caller deletes the file. "" where there is no audio or it cannot be
        copied; the log says why.
    """
    handle, target = tempfile.mkstemp(prefix="penstock-audio-", suffix=".mka")
    os.close(handle)
    try:
        _copy_audio(path, target)
    except (av.error.FFmpegError, OSError, ValueError, LookupError) as error:
        _LOG.warning("cannot save the audio of %r: %s", path, error, extra=place(node))
        with contextlib.suppress(OSError):
            os.unlink(target)  # noqa: PTH108  # a str
        return ""
    return target


def _copy_audio(path: str, target: str) -> None:
    with av.open(path) as source, av.open(target, "w", format="matroska") as copy:
        if not source.streams.audio:
            raise LookupError("the file has no audio stream")
        stream = source.streams.audio[0]
        written = copy.add_stream_from_template(stream)
        for packet in source.demux(stream):
            if packet.dts is not None:  # the last packet is empty and marks the end of the file
                packet.stream = written
                copy.mux(packet)


class AudioTrack:
    """An audio file that is copied into a video file, packet by packet between the video's packets.

    Args:
        path: of the audio file, or of a video file with audio.
        container: the video file; nothing has been written to it yet.

    Raises:
        InvalidArgumentError: the file cannot be read or has no audio, or the container does not take
            audio of this kind. No file stays open.
    """

    def __init__(self, path: str, container: OutputContainer) -> None:
        try:
            self._source = av.open(path)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InvalidArgumentError(
                f"audio file {path!r} cannot be read: {why}; check AUDIO_FILE_PATH"
            ) from error
        try:
            if not self._source.streams.audio:
                raise InvalidArgumentError(f"file {path!r} has no audio stream; check AUDIO_FILE_PATH")
            stream = self._source.streams.audio[0]
            self._written = container.add_stream_from_template(stream)
        except ValueError as error:
            self._source.close()
            if isinstance(error, InvalidArgumentError):
                raise
            raise InvalidArgumentError(
                f"audio of {path!r} does not go into this kind of file: {error}"
            ) from error
        self._container = container
        self._packets = self._source.demux(stream)
        self._next: Packet[AudioStream] | None = self._following()

    def mux_until(self, time: Fraction) -> None:
        """Write the packets that begin before `time` (seconds), which keeps audio beside its video."""
        while self._next is not None and self._begin(self._next) < time:
            self._next.stream = self._written
            self._container.mux(self._next)
            self._next = self._following()

    def close(self) -> None:
        """Close the audio file. Packets that were not written are dropped."""
        self._source.close()

    def _following(self) -> Packet[AudioStream] | None:
        return next((packet for packet in self._packets if packet.dts is not None), None)

    @staticmethod
    def _begin(packet: Packet[AudioStream]) -> Fraction:
        assert packet.dts is not None  # see _following  # noqa: S101
        return packet.dts * packet.time_base
