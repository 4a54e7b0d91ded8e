"""The interface of what the decoder reads: a file, a camera, or the test pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_formats import VideoHeader

MICROSECONDS = 1_000_000
#: The most threads that an option may ask libav for; it would start any number.
MAX_THREADS = 256
#: Frames per second that an option may say: from one in 100 s to one for each microsecond.
RATES = (0.01, 1e6)


class Source(Protocol):
    """Frames in order, each with its time."""

    @property
    def header(self) -> VideoHeader:
        """The format, size, rate and duration that are known before the first frame."""

    def read(self) -> tuple[int, NDArray[Any]] | None:
        """Return the next frame, or None after the last.

        Returns:
            Its time in microseconds, and its pixels, in the header's format; the source does not write to
            them any more.
        """

    def take_dropped(self) -> dict[str, int]:
        """Return what was dropped since the last call: reason → number."""

    def close(self) -> None:
        """Close files and devices. Called once."""


class Ratio(Protocol):
    """A rational number: a `Fraction`, or libav's own."""

    @property
    def numerator(self) -> int:
        """The numerator."""

    @property
    def denominator(self) -> int:
        """The denominator."""


def microseconds(ticks: int, time_base: Ratio) -> int:
    """Return `ticks` of `time_base` seconds in whole microseconds, exactly, rounded half up."""
    numerator = ticks * time_base.numerator * MICROSECONDS
    return (2 * numerator + time_base.denominator) // (2 * time_base.denominator)
