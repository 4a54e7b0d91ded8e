"""Reads a source that may be lost and come back."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_video.file_and_camera_reader import pixels
from penstock_video.live.events import LiveEvent, LiveEventKind
from penstock_video.live.mailbox import Arrived, Mailbox
from penstock_video.live.reading import Reading
from penstock_video.live.stamps import CaptureTimes
from penstock_video.source import MICROSECONDS, microseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    import av

    from penstock_video.live.live_connection import Connection, Waits
    from penstock_video.live.live_source import Place
    from penstock_video.live.stamps import WallClock


class Again(NamedTuple):
    """When a lost source is connected again."""

    #: Attempts in a row; -1: any number.
    attempts: int
    first_delay_s: float
    longest_delay_s: float
    #: Whether a source that is not there at the start is an error at once.
    must_be_there: bool = True

    def delay(self, attempt: int) -> float:
        """Return how long to wait before an attempt, from 1 on: doubled each time, and less a random part.

        The random part keeps many readers of one server from coming all at once.
        """
        longest = min(self.longest_delay_s, self.first_delay_s * 2.0 ** min(attempt - 1, 60))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311  # no secret


class LiveReader(Reading):
    """Reads a live source, and connects it again when it is lost.

    Args:
        place, waits, node, threads, is_unwanted: as of `Reading`.
        again: when it is connected again.
        clock: of the frames' times.
        max_waiting: frames in the mailbox; of more, the oldest are dropped.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # each says another thing
        self,
        place: Place,
        waits: Waits,
        node: str,
        threads: int,
        again: Again,
        clock: WallClock,
        max_waiting: int = 1,
        is_unwanted: Callable[[], bool] = bool,
    ) -> None:
        super().__init__(place, waits, node, threads, is_unwanted)
        self.mailbox = Mailbox(max_waiting)
        self._again: Final = again
        self._clock: Final = clock
        self._attempts = 0
        self._reason = ""
        #: The time of the last frame, in microseconds since 1970; before the first one, of the start.
        self._last = clock.now()
        #: Microseconds without frames of all times that it was lost, until it came back.
        self._gaps = 0
        #: Whether no frames come, and it is to be connected again.
        self.is_lost = False
        self._has_begun = False
        #: How often it has come back; packets that could not be decoded; jumps of the sender's clock.
        self.reconnects = self.broken = self.jumps = 0
        #: By how many milliseconds the sender's clock is ahead of ours, as far as it says; 0 before.
        self.clock_ahead = 0

    def without_frames(self) -> int:
        """Return for how many microseconds in all there were no frames, since the source was lost or is."""
        gap = self._clock.now() - self._last if self.is_lost else 0
        return self._gaps + max(gap, 0)

    def _read(self) -> None:
        while True:
            try:
                if self._read_once():
                    return
            except UnavailableError as error:
                if self._interrupts.is_cancelled:
                    return
                self._note_lost(error)
            except InvalidArgumentError as error:
                if not self._has_begun:
                    raise
                self._note_lost(error)
            if self._interrupts.sleep(self._again.delay(self._attempts)):
                return

    def _read_once(self) -> bool:
        """Read until the source has ended as it said, or the run is cancelled.

        Raises:
            UnavailableError: the source was lost.
        """
        connection = self._connect()
        own = None
        try:
            times = CaptureTimes(is_absolute=self._place.device == "v4l2")
            for frame in connection.frames():
                own = self._take(frame, connection, times)
                if self._interrupts.is_cancelled:
                    return True
            if connection.is_whole(own):
                self.log_warning("%s has sent all its %.1f s", self._place.shown, connection.duration)
                return True
        finally:
            self.broken += connection.broken
            connection.close()
        raise self._lost("has ended: nothing more comes to the live reader")

    def _take(self, frame: av.VideoFrame, connection: Connection, times: CaptureTimes) -> int | None:
        """Put a frame into the mailbox; return its own time, in microseconds, if it has one."""
        now = self._clock.now()
        if self.is_lost or not self._has_begun:
            self._note_found(now, frame, connection)
        self._last = now
        own = None
        if connection.has_times and frame.pts is not None and frame.time_base:
            own = microseconds(frame.pts, frame.time_base)
        before = times.jumps
        stamp = times.time_of(own, now)
        if times.jumps > before:
            self.jumps += 1
            self.log_warning("%s: the sender's clock has jumped; frames go on by ours", self._place.shown)
        realtime = connection.realtime
        if own is not None and realtime is not None:
            self.clock_ahead = (realtime + own - stamp) // 1000
        self.mailbox.put(Arrived(frame, stamp))
        return own

    def _note_found(self, now: int, frame: av.VideoFrame, connection: Connection) -> None:
        self._attempts = 0
        if not self._has_begun:
            self._has_begun, self.is_lost = True, False
            self.mailbox.tell(LiveEvent(kind=LiveEventKind.CONNECTED, source=self._place.shown))
            if not self.opened.done():
                height, width = pixels(frame).shape[:2]
                self.opened.set_result(connection.header(width, height))
            return
        gap = now - self._last
        self.is_lost = False
        self._gaps += gap
        self.reconnects += 1
        self.log_warning(
            "%s is back after %.1f s without frames; reconnected %d times, %.1f s without frames in all",
            self._place.shown, gap / MICROSECONDS, self.reconnects, self._gaps / MICROSECONDS,
        )  # fmt: skip
        self.mailbox.tell(
            LiveEvent(
                kind=LiveEventKind.RECONNECTED,
                source=self._place.shown,
                gap_seconds=gap / MICROSECONDS,
                reconnects=self.reconnects,
            )
        )

    def _note_lost(self, error: UnavailableError | InvalidArgumentError) -> None:
        """Count an attempt, or raise where there is none left.

        Raises:
            UnavailableError: it is not connected again.
        """
        if not self._has_begun and self._again.must_be_there:
            raise error
        was_lost, self.is_lost = self.is_lost, True
        if not was_lost:
            self._reason = str(error)
            self.mailbox.tell(
                LiveEvent(
                    kind=LiveEventKind.LOST,
                    source=self._place.shown,
                    reason=str(error),
                    reconnects=self.reconnects,
                )
            )
            if not self.opened.done():
                self.opened.set_result(None)
        limit = self._again.attempts
        if 0 <= limit <= self._attempts:
            raise self._given_up(error)
        self._attempts += 1
        which = f"attempt {self._attempts}" + (f" of {limit}" if limit >= 0 else "")
        self.log_warning("%s; connecting again (%s)", error, which)

    def _given_up(self, error: UnavailableError | InvalidArgumentError) -> UnavailableError:
        seconds = (self._clock.now() - self._last) / MICROSECONDS
        tried = (
            f"{self._attempts} attempts to connect again have failed" if self._attempts else "reconnects is 0"
        )
        return UnavailableError(
            f"{error}; {tried}, {seconds:.1f} s without live frames; `reconnects` in the options allows more"
        )
