"""One connection to a live source: opened, read and closed by one thread, each wait with a time-out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import av
import av.error

from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_formats import ImageFormat, VideoHeader
from penstock_video.live.interrupts import CAN_CANCEL, LONGEST_S
from penstock_video.live.live_source import refused, resolve
from penstock_video.source import MICROSECONDS, microseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_video.live.interrupts import Interrupts
    from penstock_video.live.live_source import Place

#: What libav calls formats without times of their own; the times it makes up know nothing of pauses.
_WITHOUT_TIMES: Final = frozenset((
    "mpjpeg", "mjpeg", "jpeg_pipe", "png_pipe", "image2pipe", "h264", "hevc", "m4v", "mpegvideo", "obu",
))  # fmt: skip


#: A stream that is shorter than its sender said by no more than this has ended as it should.
_SLACK_S: Final = 1.0


class Waits(NamedTuple):
    """Time-outs, in seconds."""

    #: Until a source is connected and known; and for packets of which none can be decoded.
    open_s: float
    #: For each packet of video.
    read_s: float


class Connection:
    """An open source.

    Args:
        place: what to open.
        waits: time-outs.
        interrupts: of this thread, which must be within its `around_libav`.
        threads: of the decoder; 0: libav decides.

    Raises:
        UnavailableError: it cannot be opened, or not in time; names the place. Nothing stays open.
        InvalidArgumentError: it has no video, or this libav does not know its protocol.
    """

    def __init__(self, place: Place, waits: Waits, interrupts: Interrupts, threads: int = 0) -> None:
        self._place: Final = place
        self._waits: Final = waits
        self._interrupts: Final = interrupts
        #: Packets that could not be decoded.
        self.broken = 0
        resolve(place)
        interrupts.allow(waits.open_s)
        # Without the clock that `interrupts` needs, PyAV's own time-outs are what there is.
        timeout = (LONGEST_S, LONGEST_S) if CAN_CANCEL else (waits.open_s, waits.read_s)
        try:
            self._container = av.open(
                place.name, "r", format=place.device, options=dict(place.options), timeout=timeout
            )
        except (av.error.FFmpegError, OSError, ValueError) as error:
            # the cause would show the address
            raise self._late("open") or refused(place, error) from None
        finally:
            interrupts.allow(None)
        if not self._container.streams.video:
            kinds = ", ".join(stream.type for stream in self._container.streams) or "nothing"
            self._container.close()
            raise InvalidArgumentError(f"the live connection with {place.shown!r} has no video, only {kinds}")
        self._stream = self._container.streams.video[0]
        # Frame threads would hold back as many frames as there are threads.
        self._stream.thread_type = "SLICE"
        self._stream.thread_count = threads
        #: Whether frames have times of their own.
        self.has_times: Final = self._container.format.name not in _WITHOUT_TIMES

    def close(self) -> None:
        """Close it."""
        self._container.close()

    def header(self, width: int, height: int) -> VideoHeader:
        """Return the header of frames of a size; rate and duration are 0 where they are not known."""
        return VideoHeader(ImageFormat.SRGB, width, height, self.rate, self.duration or 0.0)

    @property
    def container(self) -> str:
        """The name that libav has for the kind of container."""
        return str(self._container.format.name)

    @property
    def rate(self) -> float:
        """Frames a second; 0 where it is not known."""
        return float(self._stream.average_rate or self._stream.guessed_rate or 0)

    @property
    def duration(self) -> float | None:
        """Seconds to the end of the last frame; None where it does not end, or is not known."""
        stream = self._stream
        if stream.duration is not None and stream.time_base is not None and stream.duration > 0:
            return float(stream.duration * stream.time_base)
        whole = self._container.duration
        return whole / MICROSECONDS if whole is not None and whole > 0 else None

    @property
    def start(self) -> int | None:
        """The time of the first frame as the container says it, in microseconds."""
        start, base = self._stream.start_time, self._stream.time_base
        return None if start is None or base is None else microseconds(start, base)

    @property
    def realtime(self) -> int | None:
        """What the sender's clock says at the time 0 of its frames, in microseconds since 1970; or None.

        RTSP's senders say it with their first report, some seconds after the beginning.
        """
        found: int | None = getattr(self._container, "start_time_realtime", None)
        return found or None

    def is_whole(self, last: int | None) -> bool:
        """Return whether a sender that has ended had sent as much as it said.

        Args:
            last: the time of the last frame, in microseconds; None where there was none.
        """
        if last is None or self.duration is None:
            return False
        return (last - (self.start or 0)) / MICROSECONDS >= self.duration - _SLACK_S

    def frames(self) -> Iterator[av.VideoFrame]:
        """Yield frames as they come, and return where the sender ends.

        Raises:
            UnavailableError: none came in time, or reading failed; names the place.
        """
        packets: Any = self._container.demux(self._stream)  # a generator, typed as an iterator
        self._last = time.monotonic()
        try:
            while True:
                packet = self._next(packets)
                if packet is None:
                    return
                yield from self._decoded(packet)
                self._check_decoded()
        finally:
            packets.close()

    def _next(self, packets: Iterator[av.Packet[av.VideoStream]]) -> av.Packet[av.VideoStream] | None:
        self._interrupts.allow(self._waits.read_s)
        try:
            packet = next(packets, None)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            raise self._late("read") or refused(self._place, error) from None
        late = self._late("read")
        if late is not None:  # libav may return the part of a packet that had come before
            raise late
        self._interrupts.allow(None)
        return packet

    def _decoded(self, packet: av.Packet[av.VideoStream]) -> Iterator[av.VideoFrame]:
        try:
            frames = packet.decode()
        except (av.error.FFmpegError, ValueError):  # lost or damaged parts; later ones can be whole
            self.broken += 1
            return
        for frame in frames:
            yield frame
            self._last = time.monotonic()

    def _check_decoded(self) -> None:
        since = time.monotonic() - self._last
        if since > max(self._waits.open_s, self._waits.read_s):
            raise UnavailableError(
                f"the live connection with {self._place.shown!r} sends video, but for {since:.1f} s "
                f"nothing of it could be decoded ({self.broken} broken packets)"
            )

    def _late(self, what: str) -> UnavailableError | None:
        """Return the error of a wait that was ended here; None where libav itself has failed."""
        if self._interrupts.is_cancelled:
            return UnavailableError(f"the live connection with {self._place.shown!r} was cancelled")
        if not self._interrupts.is_late:
            return None
        if what == "open":
            return UnavailableError(
                f"no connection: {self._place.shown!r} did not answer with video within "
                f"{self._waits.open_s:g} s (open_timeout_seconds)"
            )
        return UnavailableError(
            f"the live connection with {self._place.shown!r} sent no video within {self._waits.read_s:g} s "
            "(read_timeout_seconds)"
        )
