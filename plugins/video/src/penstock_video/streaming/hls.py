"""HLS: a folder with a playlist and segments of MPEG-TS, of which old ones are deleted.

A segment appears under its name when it is complete, and in the playlist after that; the playlist is
replaced as a whole. So a reader never sees half a file, and each playlist names only segments that are there.
A segment stays for as long as the playlist is after it has left it, so that a player that is behind can still
read it.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import threading
from collections import deque
from time import time as wall_s
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import av
import av.error

from penstock.errors import InvalidArgumentError, ResourceExhaustedError, UnavailableError
from penstock_video.partial import is_full
from penstock_video.priority import kept_priority
from penstock_video.source import MICROSECONDS
from penstock_video.streaming.live_coding import TIME_BASE, Coder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from av.container import OutputContainer
    from av.video.codeccontext import VideoCodecContext

    from penstock_formats import ImageFrame
    from penstock_video.streaming.live_coding import Quality

_HEAD: Final = "#EXTM3U\n#EXT-X-VERSION:3\n"
_ENDING: Final = ".ts"
#: Behind the name of a file that is not complete.
_GROWING: Final = ".growing"
#: Each segment can be read by itself; the first packets say that counters start again there.
_OPTIONS: Final = {"mpegts_flags": "initial_discontinuity", "mpegts_copyts": "1"}


@attrs.frozen
class Segment:
    """A segment that is complete."""

    name: str
    length_s: float
    #: Whether its times do not continue the segment before.
    is_break: bool


class Playlist:
    """The files of one stream, from its first segment to the end of the list.

    Args:
        path: of the playlist. Segments are beside it.
        segment_s: length of a segment, seconds.
        longest_s: no segment is longer.
        window: how many segments the playlist has; 0: all.
    """

    def __init__(self, path: Path, longest_s: float, window: int) -> None:
        self._path: Final = path
        self._target_s: Final = math.ceil(longest_s)
        self._window: Final = window
        #: Names of one run begin alike, and differ from the names of every other run.
        self._run: Final = f"{path.stem}-{round(wall_s() * 1000)}-"
        self._listed: Final[deque[Segment]] = deque()
        self._left: Final[deque[str]] = deque()
        #: How many segments, and how many breaks, are no longer in the list.
        self._gone = self._gone_breaks = 0
        self._number = 0
        self._lock: Final = threading.Lock()

    @property
    def playlist(self) -> str:
        """The name of the playlist."""
        return self._path.name

    def names(self) -> tuple[str, ...]:
        """Return names of files that are written beside the playlist, one of each kind."""
        return (f"{self._run}000000{_ENDING}", f".{self.playlist}{_GROWING}")

    def check_folder(self, shown: str) -> None:
        """Accept a playlist whose folder exists.

        Args:
            shown: the playlist as the address names it.

        Raises:
            InvalidArgumentError: the folder does not exist.
        """
        if not self._path.parent.is_dir():
            raise InvalidArgumentError(
                f"the HLS playlist {shown!r} cannot be written: there is no directory "
                f"{str(self._path.parent)!r}; make it first"
            )

    def read(self, name: str) -> bytes | None:
        """Return the content of the playlist or of a segment of this run; None where there is none."""
        is_mine = name.startswith(self._run) and re.fullmatch(r"\d+", name[len(self._run) : -len(_ENDING)])
        if name != self.playlist and not (is_mine and name.endswith(_ENDING)):
            return None
        if name == self.playlist and not self._number:
            return None  # what is there is of an earlier run
        try:
            return self._path.with_name(name).read_bytes()
        except OSError:  # it has been deleted
            return None

    def add(self, content: bytes, length_s: float, *, is_break: bool) -> None:
        """Write a segment, name it in the playlist, and delete what is too old.

        Raises:
            OSError: the disk failed. The playlist and what it names are as before.
        """
        name = f"{self._run}{self._number:06d}{_ENDING}"
        _replace(self._path.with_name(name), content)
        listed = [*self._listed, Segment(name, length_s, is_break)]
        out = listed[: -self._window] if self._window else []
        try:
            self._write(listed[len(out) :], self._gone + len(out), self._breaks(out))
        except OSError:
            _delete(self._path.with_name(name))
            raise
        if not self._number:
            self._forget_earlier()
        self._number += 1
        self._gone_breaks = self._breaks(out)
        self._gone += len(out)
        self._listed.clear()
        self._listed.extend(listed[len(out) :])
        self._left.extend(one.name for one in out)
        while len(self._left) > self._window + 1:
            _delete(self._path.with_name(self._left.popleft()))

    def end(self) -> None:
        """Say in the playlist that no more segments come.

        Raises:
            OSError: the disk failed. The playlist is as before.
        """
        if self._number:
            self._write(self._listed, self._gone, self._gone_breaks, is_over=True)

    def _breaks(self, out: list[Segment]) -> int:
        return self._gone_breaks + sum(one.is_break for one in out)

    def _write(self, listed: Any, gone: int, gone_breaks: int, *, is_over: bool = False) -> None:
        lines = [
            f"#EXT-X-TARGETDURATION:{self._target_s}",
            f"#EXT-X-MEDIA-SEQUENCE:{gone}",
            f"#EXT-X-DISCONTINUITY-SEQUENCE:{gone_breaks}",
        ]
        if not self._window:
            lines.append("#EXT-X-PLAYLIST-TYPE:EVENT")
        for one in listed:
            if one.is_break:
                lines.append("#EXT-X-DISCONTINUITY")
            lines += [f"#EXTINF:{one.length_s:.6f},", one.name]
        if is_over:
            lines.append("#EXT-X-ENDLIST")
        _replace(self._path, (_HEAD + "\n".join(lines) + "\n").encode())

    def _forget_earlier(self) -> None:
        """Delete the segments of earlier runs for the same playlist, which nothing names any more."""
        name = rf"{re.escape(self._path.stem)}-\d{{13}}-\d{{6,}}{re.escape(_ENDING)}"
        form = re.compile(rf"{name}|\.{name}{re.escape(_GROWING)}")
        for path in list(self._path.parent.iterdir()):
            if form.fullmatch(path.name) and self._run not in path.name:
                _delete(path)


class HlsOutlet:
    """Writes a stream as HLS. Each `begin` starts a segment whose times do not go on from those before.

    Args:
        files: the playlist and its segments.
        quality: how to encode; a segment is as long as the time between two key frames.
        longest_gap_s: frames further apart begin a segment whose times do not go on.
    """

    is_elsewhere = False

    def __init__(self, files: Playlist, quality: Quality, longest_gap_s: float) -> None:
        self._files: Final = files
        self._quality: Final = quality
        self._longest_gap: Final = round(longest_gap_s * MICROSECONDS)
        self._size = (0, 0)
        self._encoder: VideoCodecContext | None = None
        self._coder: Coder | None = None
        self._segment: _Open | None = None
        self._is_break = False
        self._has_begun = False
        #: Frames of segments that could not be written.
        self._lost = 0
        #: Time of the last frame, and how long it was after the one before, microseconds.
        self._last: int | None = None
        self._period = round(MICROSECONDS / quality.fps)

    def begin(self, size: tuple[int, int], is_over: Callable[[], bool]) -> None:  # noqa: ARG002  # the interface
        """Begin a sequence of segments."""
        self._size = size
        encoder = cast("VideoCodecContext", av.CodecContext.create(self._quality.codec, "w"))
        self._quality.set_up(encoder, size)
        encoder.options = self._quality.options()
        try:
            with kept_priority():
                encoder.open()
        except (av.error.FFmpegError, ValueError) as error:
            raise InvalidArgumentError(
                f"{self._quality.codec} cannot encode {size[0]}x{size[1]} for HLS: {error}"
            ) from error
        self._encoder, self._coder = encoder, Coder(self._quality, size)
        self._last = None
        self._is_break = self._has_begun

    def wait(self) -> None:
        """Do nothing: files wait for nobody."""

    def send(self, frame: ImageFrame, time: int) -> None:
        """Add a frame; where it begins a segment, write the one before."""
        if self._last is not None and time - self._last > self._longest_gap:
            self.finish_segments()
            self.begin(self._size, lambda: False)
        if self._last is not None:
            self._period = time - self._last
        assert self._coder is not None  # noqa: S101  # `begin` comes first
        made = self._coder.made(frame, time)
        self._last = time
        self._encode(made)

    def finish(self) -> None:
        """Write the last segment, and the end of the playlist."""
        self.finish_segments()
        self._told(self._files.end)

    def finish_segments(self) -> None:
        """Write what is not written yet."""
        if self._encoder is not None:
            self._encode(None)
            self._encoder = None
        self._close_segment(None)

    def abort(self) -> None:
        """Do nothing: files wait for nobody."""

    def discard(self) -> int:
        """Forget the segment that is not complete."""
        segment, self._segment, self._encoder = self._segment, None, None
        lost, self._lost = self._lost, 0
        if segment is not None:
            segment.discard()
            lost += segment.count
        return lost

    def _encode(self, made: av.VideoFrame | None) -> None:
        assert self._encoder is not None  # noqa: S101  # `begin` comes first
        try:
            packets = self._encoder.encode(made)
        except (av.error.FFmpegError, ValueError) as error:
            raise UnavailableError(f"encoding for HLS failed: {error}") from error
        for packet in packets:
            if packet.is_keyframe or self._segment is None:
                self._close_segment(packet.pts)
                self._segment = _Open(self._quality, self._size, packet.pts or 0)
            self._segment.add(packet)

    def _close_segment(self, until: int | None) -> None:
        """Write the segment that is under way, which ends at `until`, or after its last frame."""
        segment, self._segment = self._segment, None
        if segment is None:
            return
        content = segment.finish()
        end = segment.last + self._period if until is None else until
        is_break, self._is_break = self._is_break, False
        length_s = (end - segment.first) / MICROSECONDS
        try:
            self._told(lambda: self._files.add(content, length_s, is_break=is_break))
        except BaseException:
            self._lost += segment.count
            self._is_break = self._has_begun  # this one is missing
            raise
        self._has_begun = True

    @staticmethod
    def _told(write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            why = error.strerror or str(error)
            if is_full(error):
                raise ResourceExhaustedError(
                    f"writing the HLS playlist failed: {why}; make room on the disk"
                ) from error
            raise UnavailableError(
                f"writing the HLS playlist failed: {why}; check the folder and the disk"
            ) from error


class _Open:
    """A segment that grows, in memory."""

    def __init__(self, quality: Quality, size: tuple[int, int], first: int) -> None:
        self.first = self.last = first
        #: How many frames it has.
        self.count = 0
        self._bytes: Final = io.BytesIO()
        self._container: Final[OutputContainer] = av.open(self._bytes, "w", format="mpegts", options=_OPTIONS)
        name = av.codec.Codec(quality.codec, "w").canonical_name
        self._stream: Final[Any] = self._container.add_mux_stream(
            name, rate=round(quality.fps), width=size[0], height=size[1]
        )
        self._stream.time_base = TIME_BASE
        self._container.start_encoding()

    def add(self, packet: Any) -> None:
        """Add a packet, which is used up."""
        self.count += 1
        self.last = max(self.last, packet.pts)
        packet.stream, packet.time_base = self._stream, TIME_BASE
        self._container.mux(packet)

    def finish(self) -> bytes:
        """Return the whole segment."""
        self._container.close()
        return self._bytes.getvalue()

    def discard(self) -> None:
        """Forget it."""
        with contextlib.suppress(av.error.FFmpegError):
            self._container.close()


def _replace(path: Path, content: bytes) -> None:
    """Write a file as a whole: readers see the old one or the new one."""
    growing = path.with_name(f".{path.name}{_GROWING}")
    _delete(growing)  # of a process that was killed
    try:
        with growing.open("xb") as file:
            file.write(content)
        growing.replace(path)
    except OSError:
        _delete(growing)
        raise


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108  # one call
