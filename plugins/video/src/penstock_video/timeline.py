"""The times of frames, which grow: what becomes of times that start again, wrap or are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_video.source import microseconds

if TYPE_CHECKING:
    import av

#: Time between frames without a time in a stream without a rate: 25 a second.
USUAL_PERIOD_US: Final = 40_000
#: MPEG transport and program streams count in 33 bits.
_WRAP: Final = 2**33
#: The most that the frames on both sides of a wrap are apart, in seconds.
_LONGEST_GAP_S: Final = 60
#: libav's names of containers whose times wrap.
WRAPPING: Final = frozenset(("mpegts", "mpeg"))
#: Why a frame is dropped, as the ledger says.
LATE: Final = "not later than the frame before"


class Timeline:
    """Gives each frame its time in microseconds, later than the one before, or none.

    Args:
        period: the usual time between frames, in microseconds, for those without a time.
        goes_on: times that go back by a period or more begin a new part, which follows one period after the
            frame before; without, such frames are late.
        wraps: whether times are counted in 33 bits: a step back by their range, but for a minute, is none
            then. libav takes care of the first wrap, which comes within 26.5 hours, and not of the next ones.
    """

    def __init__(self, period: int, *, goes_on: bool = False, wraps: bool = False) -> None:
        self._period: Final = period
        self._goes_on: Final = goes_on
        self._wraps: Final = wraps
        #: Ticks of the file's last frame, and what wraps have added to them.
        self._ticks: int | None = None
        self._wrapped = 0
        #: Added to the file's times since the last part began.
        self._shift = 0
        self._last: int | None = None
        #: How many new parts there were.
        self.parts = 0

    def time_of(self, frame: av.VideoFrame) -> int | None:
        """Return the time of the next frame; None where it is late."""
        last = self._last
        time = self._own(frame)
        if time is None:
            time = 0 if last is None else last + self._period
        else:
            time += self._shift
            if last is not None and time <= last:
                if not self._goes_on or last - time < self._period:
                    return None
                self.parts += 1
                self._shift += last + self._period - time
                time = last + self._period
        self._last = time
        return time

    def _own(self, frame: av.VideoFrame) -> int | None:
        """Return a frame's time in its file."""
        if frame.pts is None or not frame.time_base:
            return None
        if self._wraps and self._ticks is not None:
            ahead = frame.pts + _WRAP - self._ticks
            if 0 < ahead * frame.time_base < _LONGEST_GAP_S:
                self._wrapped += _WRAP
        self._ticks = frame.pts
        return microseconds(frame.pts + self._wrapped, frame.time_base)
