"""Reads an address once from its beginning to its end, as a file is read, and tells an end from a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock_video.audio import save_audio
from penstock_video.files import pixels
from penstock_video.live.connection import Waits
from penstock_video.live.interrupts import LONGEST_S
from penstock_video.live.mailbox import Arrived, Mailbox
from penstock_video.live.places import place_of
from penstock_video.live.reading import Reading
from penstock_video.source import MICROSECONDS, microseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    import av

    from penstock.access import Access
    from penstock_formats import VideoHeader
    from penstock_video.live.connection import Connection
    from penstock_video.live.places import Place

#: As `LiveVideoCalculator` waits by default.
_WAITS: Final = Waits(10.0, 5.0)
#: Frames that are decoded ahead; while these wait, the sender waits too, if its protocol lets it.
_AHEAD: Final = 4
#: Time between frames without a time in a stream without a rate: 25 a second.
_USUAL_PERIOD_US: Final = 40_000


class WholeReader(Reading):
    """Reads a place; a frame is dropped only if it is not later than the one before.

    An address whose length is known, such as a file on a web server or a recording, ends there. One that
    ends earlier, or whose length nobody said, was lost, which is an error.
    """

    def __init__(
        self,
        place: Place,
        node: str,
        threads: int,
        is_unwanted: Callable[[], bool] = bool,
        saves_audio: Access | None = None,
    ) -> None:
        super().__init__(place, _WAITS, node, threads, is_unwanted)
        self._saves_audio: Final = saves_audio
        #: What `save_audio` returned, before the source counts as opened.
        self.saved_audio = ""
        self.mailbox = Mailbox(_AHEAD, self._interrupts)
        self._last: int | None = None
        self._late = 0

    def _read(self) -> None:
        connection = self._connect()
        try:
            if self._saves_audio is not None:
                self.saved_audio = self._save_audio(connection, self._saves_audio)
            self._read_all(connection)
        finally:
            connection.close()
            if self._late or connection.broken:
                self.log_warning(
                    "%r: dropped %d frames not later than the one before and %d packets that cannot be "
                    "decoded",
                    self._place.shown, self._late, connection.broken,
                )  # fmt: skip

    def _read_all(self, connection: Connection) -> None:
        for frame in connection.frames():
            time = self._time_of(frame, connection)
            if not self.opened.done():
                height, width = pixels(frame).shape[:2]
                self.opened.set_result(connection.header(width, height))
            if self._last is not None and time <= self._last:
                self._late += 1
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

    def _time_of(self, frame: av.VideoFrame, connection: Connection) -> int:
        if frame.pts is not None and frame.time_base:
            return microseconds(frame.pts, frame.time_base)
        period = round(MICROSECONDS / connection.rate) if connection.rate else _USUAL_PERIOD_US
        return 0 if self._last is None else self._last + period

    def _check_end(self, connection: Connection) -> None:
        if self._last is None:
            raise InvalidArgumentError(f"{self._place.shown!r}: not one frame can be decoded")
        if connection.is_whole(self._last):
            return
        seconds = (self._last - (connection.start or 0)) / MICROSECONDS
        expected = connection.duration
        if expected is None:
            raise self._lost(
                f"was lost after {seconds:.1f} s: the sender sends no more, and had not said how much it "
                "would send; LiveVideoCalculator goes on when a sender is lost, and connects again"
            )
        raise self._lost(f"was lost after {seconds:.1f} of {expected:.1f} s")


class NetworkVideo:
    """What `VideoDecoderCalculator` reads in place of a file where it is given an address.

    Args:
        name: the address.
        threads: of the decoder.
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
        threads: int,
        *,
        node: str,
        access: Access,
        is_unwanted: Callable[[], bool],
        saves_audio: bool = False,
    ) -> None:
        audio_access = access if saves_audio else None
        self._reader: Final = WholeReader(
            place_of(name, access), node, threads, is_unwanted, saves_audio=audio_access
        )

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
        return None if arrived is None else (arrived.stamp, pixels(arrived.frame))

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
