"""Reads an address once from its beginning to its end, as a file is read, and tells an end from a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat
from penstock_video.copied_audio import save_audio
from penstock_video.file_and_camera_reader import BROKEN
from penstock_video.live.interrupts import LONGEST_S
from penstock_video.live.live_connection import Waits
from penstock_video.live.live_source import place_of
from penstock_video.live.mailbox import Arrived, Mailbox
from penstock_video.live.reading import Reading
from penstock_video.pixel_formats import FrameFormat
from penstock_video.source import MICROSECONDS
from penstock_video.timeline import LATE, USUAL_PERIOD_US, WRAPPING, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.access import Access
    from penstock_formats import VideoHeader
    from penstock_video.live.live_connection import Connection
    from penstock_video.live.live_source import Place

#: As `LiveVideoCalculator` waits by default.
_WAITS: Final = Waits(10.0, 5.0)
#: Frames that are decoded ahead; while these wait, the sender waits too, if its protocol lets it.
_AHEAD: Final = 4


@attrs.frozen
class Given:
    """What the options of a decoder say."""

    #: Threads of the decoder; 0: libav decides.
    threads: int = 0
    #: Of the frames; None for the one that is nearest to the source's.
    format: ImageFormat | None = ImageFormat.SRGB
    #: Whether times that start again begin a new part, see `Timeline`.
    goes_on: bool = False


class WholeReader(Reading):
    """Reads a place; a frame is dropped only if it is not later than the one before.

    An address whose length is known, such as a file on a web server or a recording, ends there. One that
    ends earlier, or whose length nobody said, was lost, which is an error.
    """

    def __init__(
        self,
        place: Place,
        node: str,
        given: Given,
        is_unwanted: Callable[[], bool] = bool,
        saves_audio: Access | None = None,
    ) -> None:
        super().__init__(place, _WAITS, node, given.threads, is_unwanted)
        #: Makes arrays of frames.
        self.format: Final = FrameFormat(given.format, place.shown, node)
        self._goes_on: Final = given.goes_on
        self._saves_audio: Final = saves_audio
        #: What `save_audio` returned, before the source counts as opened.
        self.saved_audio = ""
        self.mailbox = Mailbox(_AHEAD, self._interrupts)
        self._last: int | None = None
        #: Reason → how many frames or packets were dropped.
        self.dropped = {LATE: 0, BROKEN: 0}

    def _read(self) -> None:
        connection = self._connect()
        try:
            if self._saves_audio is not None:
                self.saved_audio = self._save_audio(connection, self._saves_audio)
            self._read_all(connection)
        finally:
            connection.close()
            self.dropped[BROKEN] = connection.broken
            if any(self.dropped.values()):
                self.log_warning(
                    "%r: dropped %d frames not later than the one before and %d packets that cannot be "
                    "decoded",
                    self._place.shown, self.dropped[LATE], connection.broken,
                )  # fmt: skip

    def _read_all(self, connection: Connection) -> None:
        period = round(MICROSECONDS / connection.rate) if connection.rate else USUAL_PERIOD_US
        times = Timeline(period, goes_on=self._goes_on, wraps=connection.container in WRAPPING)
        for frame in connection.frames():
            if not self.opened.done():
                height, width = self.format.picture(frame).shape[:2]
                header = connection.header(width, height)
                self.opened.set_result(attrs.evolve(header, format=self.format.kind or header.format))
            self.dropped[BROKEN] = connection.broken
            time = times.time_of(frame)
            if time is None:
                self.dropped[LATE] += 1
                continue
            self._last = time
            self.mailbox.put(Arrived(frame, time))
            if self._interrupts.is_cancelled:
                return
        self._check_end(connection)

    def _save_audio(self, connection: Connection, access: Access) -> str:
        if connection.duration is None:
            self.log_warning("%s does not end, so its audio is not saved", self._place.shown)
            return ""
        return save_audio(self._place.name, self._node, access, timeout=(LONGEST_S, LONGEST_S))

    def _check_end(self, connection: Connection) -> None:
        if self._last is None:
            raise InvalidArgumentError(
                f"{self._place.shown!r}: the reader of the whole video found no frame that can be decoded"
            )
        if connection.is_whole(self._last):
            return
        seconds = (self._last - (connection.start or 0)) / MICROSECONDS
        expected = connection.duration
        if expected is None:
            raise self._lost(
                f"was lost after {seconds:.1f} s: the sender sends no more, and had not said how long the "
                "whole video is; LiveVideoCalculator goes on when a sender is lost, and connects again"
            )
        raise self._lost(f"was lost after {seconds:.1f} s of the whole video, which has {expected:.1f} s")


class NetworkVideo:
    """What `VideoDecoderCalculator` reads in place of a file where it is given an address.

    Args:
        name: the address.
        given: what the options say.
        node: name of the node, for the log.
        access: of the graph.
        is_unwanted: as of `Reading`.
        saves_audio: whether `saved_audio` is wanted.

    Raises:
        PermissionDeniedError: the graph may not connect to it.
    """

    def __init__(  # noqa: PLR0913  # keywords
        self,
        name: str,
        given: Given,
        *,
        node: str,
        access: Access,
        is_unwanted: Callable[[], bool],
        saves_audio: bool = False,
    ) -> None:
        audio_access = access if saves_audio else None
        self._reader: Final = WholeReader(
            place_of(name, access), node, given, is_unwanted=is_unwanted, saves_audio=audio_access
        )
        #: How many drops `take_dropped` has told.
        self._told: dict[str, int] = {}

    async def opened(self) -> VideoHeader | None:
        """Begin to read, and return the header once it is known; None where the run no longer wants it.

        Nothing is open before: a coroutine that is cancelled before it begins closes nothing.

        Raises:
            UnavailableError, InvalidArgumentError: it cannot be read.
        """
        self._reader.start()
        return await self._reader.header()

    def read(self) -> tuple[int, Any] | None:
        """Return the next frame, or None where none has come.

        Raises:
            UnavailableError: the sender was lost, or silent.
        """
        arrived = self._reader.mailbox.take()
        return None if arrived is None else (arrived.stamp, self._reader.format.picture(arrived.frame))

    def take_dropped(self) -> dict[str, int]:
        """Return what was dropped since the last call: reason → number of frames or packets."""
        told, self._told = self._told, dict(self._reader.dropped)
        return {
            why: count - told.get(why, 0) for why, count in self._told.items() if count > told.get(why, 0)
        }

    def is_at_end(self) -> bool:
        """Return whether all frames were read; raises as `read`."""
        return self._reader.mailbox.is_at_end()

    @property
    def saved_audio(self) -> str:
        """The path of a new file with the audio, as `save_audio` returns it."""
        return self._reader.saved_audio

    async def wait(self) -> None:
        """Wait a moment for a frame."""
        await self._reader.wait()

    async def close(self) -> None:
        """Close it."""
        await self._reader.end()
