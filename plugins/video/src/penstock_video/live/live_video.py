"""LiveVideoCalculator: sends the frames of a network camera, a stream, or a camera of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import av
import numpy as np

import penstock
from penstock.access import ACCESS
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.log import get_logger, place
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_video.file_and_camera_reader import pixels
from penstock_video.live.events import LiveEvent
from penstock_video.live.live_connection import Waits
from penstock_video.live.live_reader import Again, LiveReader
from penstock_video.live.live_source import camera_of, place_of, urlsplit_or_none
from penstock_video.live.options import LiveVideoCalculatorOptions, SizeChange
from penstock_video.live.stamps import WallClock
from penstock_video.source import MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Outcome, Stop

_LOG: Final = get_logger("video")
#: The reason of the ledger for frames that were dropped.
NOT_NEWEST: Final = "a newer frame had come"


class LiveVideoCalculator(penstock.Calculator):
    """Send frames as they come: from a network camera, a stream, or a camera of this machine.

    Input side packets:
        SOURCE: str or int, optional where the options have `source`. An address that libav reads, such as
            rtsp://ann:secret@10.0.0.5/cam, rtmp://, http:// (MJPEG, MPEG-TS, HLS), udp://, tcp://; the number
            of a camera, 0; on Linux "/dev/video0". Errors, logs, pages and traces leave out its password.
    Outputs:
        VIDEO: ImageFrame, SRGB, read-only. Its stream header is the VideoHeader, if the source was there.
        VIDEO_PRESTREAM (optional): the VideoHeader at PRESTREAM; closed at once.
        EVENTS (optional): penstock_video.api.LiveEvent, when the source is connected, lost, or back.

    It is a source, and does not end before the run does, unless the sender has said how long its video is and
    has sent all of it. Any other sender that ends, is killed or falls silent is lost. It is connected again,
    with growing delays, and `reconnects` says how often that may fail in a row before the run does. The log
    has each loss, attempt and return, and the counters `reconnects`, `ms_without_frames`, `broken_packets`
    and `clock_jumps` count. The counter `source_lost` is 1 while the source is lost, as the live page and
    metrics show it. `clock_ahead_ms` is by how much the sender's clock is ahead of ours, where the
    sender tells its time (RTSP); it is behind by the time that encoding takes.

    Only the newest `max_waiting` frames wait for the graph; the ledger counts the dropped frames, with the
    reason. Behind the source put a flow limiter, or set the graph's `max_queue_size` to 1: frames in queues
    grow old too.

    Timestamps, in microseconds since 1970: an estimate of when the frame was captured, made of the time at
    which it came and of its own time; always increasing, whatever the sender's clock does. Without frames the
    timestamp bound follows the clock `bound_lag_seconds` behind, so that joins go on without this camera.

    Options `LiveVideoCalculatorOptions`: `source`, `open_timeout_seconds` (10), `read_timeout_seconds` (5),
    `reconnects` (20), `first_delay_seconds` (0.5), `longest_delay_seconds` (10), `must_be_there` (true),
    `max_waiting` (1), `bound_lag_seconds` (0.5), `transport` (TCP), `size_changes` (SCALE), `decoder_threads`
    (0). Waits occupy no thread of an executor; they end within a second when the run is cancelled. A camera
    of this machine that hangs is the exception: the system's wait for it cannot be ended.

    Raises in `open`: InvalidArgumentError for a name that is no live source, and for a source without video;
    PermissionDeniedError where the graph may not use it; UnavailableError where it cannot be opened in time,
    unless `must_be_there` is false. In `process`: UnavailableError when it was lost and has not come back;
    FailedPreconditionError for frames of another size where `size_changes` is FAIL.

    Config::

        node {
          calculator: "LiveVideoCalculator"
          input_side_packet: "SOURCE:camera"
          output_stream: "VIDEO:frame"
        }
    """

    Options = LiveVideoCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports that are connected.

        Raises:
            InvalidArgumentError: the options hold an address with a password.
        """
        options = cc.options(LiveVideoCalculatorOptions)
        source = cc.input_side_packets["SOURCE"].set_one_of(str, int, description="address or camera")
        if options.source:
            source.optional()
            if urlsplit_or_none(options.source, "password"):
                raise InvalidArgumentError(
                    "LiveVideoCalculator has a password in its option `source`, which every reader of the "
                    "graph would see; give the address as the side packet SOURCE"
                )
        cc.outputs["VIDEO"].set(ImageFrame, "frames (SRGB)")
        cc.outputs["VIDEO_PRESTREAM"].set(VideoHeader, "the video's header, at PRESTREAM").optional()
        cc.outputs["EVENTS"].set(LiveEvent, "when the source is connected, lost, or back").optional()
        cc.declare(may_skip=False, stateless=False, is_live=True, cost="high")
        camera = camera_of(options.source)
        cc.declare(connects=[source, "" if camera else options.source], devices=[source, camera or ""])

    async def open(self, cc: CalculatorContext) -> None:
        """Connect, and send the header."""
        options = self._options = cc.options(LiveVideoCalculatorOptions)
        given = "SOURCE" in cc.input_side_packets
        source = cc.input_side_packets["SOURCE"].payload if given else options.source
        where = place_of(str(source), cc.service(ACCESS), options.transport)
        self._node, self._shown = cc.node_name, where.shown
        self._clock = self._new_clock()
        self._size: tuple[int, int] | None = None
        #: Counter → how much of it was counted.
        self._counted: dict[str, int] = {}
        self._reader = self._new_reader(
            where,
            Waits(options.open_timeout_seconds, options.read_timeout_seconds),
            cc.node_name,
            options.decoder_threads,
            Again(
                options.reconnects,
                options.first_delay_seconds,
                options.longest_delay_seconds,
                options.must_be_there,
            ),
            self._clock,
            options.max_waiting,
            lambda: cc.is_stopping,
        )
        self._reader.start()
        self._announce(cc, await self._reader.header())

    #: What makes the clock and the reader; a trial simulates them.
    _new_clock: Callable[[], WallClock] = WallClock
    _new_reader: Callable[..., LiveReader] = LiveReader

    def process(self, cc: CalculatorContext) -> Outcome:
        """Send the frame that waits; or wait for one, without a thread."""
        mailbox = self._reader.mailbox
        self._count(cc)
        for event in mailbox.take_events():
            if "EVENTS" in cc.outputs:
                output = cc.outputs["EVENTS"]
                output.add(event, max(self._clock.now(), output.bound))
        arrived = mailbox.take()
        if arrived is None:
            return penstock.STOP if mailbox.is_at_end() else self._wait(cc)
        dropped = mailbox.take_dropped()
        if dropped:
            cc.outputs["VIDEO"].count_dropped(NOT_NEWEST, dropped)
        output = cc.outputs["VIDEO"]
        picture = self._sized(pixels(arrived.frame))
        output.add(ImageFrame(picture, ImageFormat.SRGB), max(arrived.stamp, output.bound))
        return None

    async def close(self, cc: CalculatorContext) -> None:
        """Close the source."""
        await self._reader.end()
        self._count(cc, is_over=True)
        dropped = self._reader.mailbox.take_dropped()
        if dropped:
            cc.outputs["VIDEO"].count_dropped(NOT_NEWEST, dropped)
        reader = self._reader
        if reader.reconnects or reader.without_frames():
            _LOG.warning(
                "%s: reconnected %d times, %.1f s without frames, %d packets could not be decoded",
                self._shown, reader.reconnects, reader.without_frames() / MICROSECONDS, reader.broken,
                extra=place(self._node),
            )  # fmt: skip

    async def _wait(self, cc: CalculatorContext) -> Stop | None:
        """Wait a moment for a frame; where none comes, let the bound follow the clock."""
        await self._reader.wait()
        lag = round(self._options.bound_lag_seconds * MICROSECONDS)
        bound = self._clock.now() - lag
        for output in cc.outputs:
            if not output.is_closed() and output.bound < bound:
                output.set_next_timestamp_bound(bound)
        return None

    def _announce(self, cc: CalculatorContext, header: VideoHeader | None) -> None:
        if header is not None:
            self._size = (header.height, header.width)
            cc.outputs["VIDEO"].set_header(penstock.Packet(header))
        if "VIDEO_PRESTREAM" in cc.outputs:
            if header is not None:
                cc.outputs["VIDEO_PRESTREAM"].add(header, penstock.Timestamp.PRESTREAM)
            cc.outputs["VIDEO_PRESTREAM"].close()

    def _count(self, cc: CalculatorContext, *, is_over: bool = False) -> None:
        reader = self._reader
        for name, value in (
            ("source_lost", int(reader.is_lost and not is_over)),
            ("reconnects", reader.reconnects),
            ("ms_without_frames", reader.without_frames() // 1000),
            ("broken_packets", reader.broken),
            ("clock_jumps", reader.jumps),
            ("clock_ahead_ms", reader.clock_ahead),
        ):
            more = value - self._counted.get(name, 0)
            if more:
                cc.counter(name).increment_by(more)
                self._counted[name] = value

    def _sized(self, picture: NDArray[Any]) -> NDArray[Any]:
        """Return a picture in the size of the first one, as far as the options ask for it."""
        size = (picture.shape[0], picture.shape[1])
        if self._size is None:
            self._size = size
        if size == self._size or self._options.size_changes is SizeChange.SEND:
            return picture
        (height, width), (first_height, first_width) = size, self._size
        said = f"{self._shown!r} sends {width}x{height} now, and sent {first_width}x{first_height} first"
        if self._options.size_changes is SizeChange.FAIL:
            raise FailedPreconditionError(
                f"live video: {said}; `size_changes: SCALE` or SEND in the options goes on"
            )
        if self._counted.get("scaled") != hash(size):
            self._counted["scaled"] = hash(size)
            _LOG.warning("%s; frames are scaled", said, extra=place(self._node))
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        return frame.reformat(width=first_width, height=first_height).to_ndarray()
