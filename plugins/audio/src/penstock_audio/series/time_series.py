"""What all calculators of series share: headers, matrices that fit to them, and times counted in samples.

A series is a stream of matrices, channels by samples, whose header is a `TimeSeriesHeader`. The timestamp of
a packet is the time of its first sample, in microseconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock.log import get_logger, place
from penstock.lowlevel import MAX, MIN, shifted, show
from penstock_formats import Matrix, TimeSeriesHeader

if TYPE_CHECKING:
    from penstock import Input

MICROSECONDS: Final = 1_000_000
#: The most samples, bands or rows that an option may ask for at once: six minutes at 48 kHz.
MOST: Final = 2**24
#: Numbers of samples below this are exact.
_MOST_SAMPLES: Final = 2.0**53
#: One in this many timestamps that do not agree with the number of samples is logged.
_TOLD: Final = 20
_logger = get_logger(__name__)


def rounded(number: float) -> int:
    """Return the nearest whole number, a half away from zero, as C does."""
    return int(math.copysign(math.floor(abs(number) + 0.5), number))


def samples_in(seconds: float, rate: float) -> int:
    """Return how many samples a time has, rounded.

    Raises:
        ResourceExhaustedError: they are too many to be counted.
    """
    samples = seconds * rate
    if not abs(samples) < _MOST_SAMPLES:
        raise ResourceExhaustedError(
            f"time series: {seconds} s at {rate} Hz have too many samples; ask for a shorter time"
        )
    return rounded(samples)


def check_count(what: str, count: int, least: int, most: int = MOST) -> int:
    """Return a number that options ask for, if it is from `least` to `most`.

    Raises:
        InvalidArgumentError: it is smaller.
        ResourceExhaustedError: it is larger.
    """
    if count < least:
        raise InvalidArgumentError(f"time series: {what} is {count}, but must be at least {least}")
    if count > most:
        raise ResourceExhaustedError(
            f"time series: {what} is {count}, but at most {most} are allowed; ask for less"
        )
    return count


def microseconds_of(samples: float, rate: float) -> int:
    """Return the time that samples take, rounded to microseconds."""
    return rounded(samples * MICROSECONDS / rate)


def time_of(port: Input, stamp: int) -> int:
    """Return the timestamp of a packet, from which others are counted.

    Raises:
        InvalidArgumentError: it is PRESTREAM or POSTSTREAM, which are no times.
    """
    if not MIN <= stamp <= MAX:
        raise InvalidArgumentError(
            f"stream {port.name!r}: a packet at {show(stamp)} has no time, but others are counted "
            "from it; send samples at timestamps in microseconds",
            stream=port.name,
            timestamp=stamp,
        )
    return stamp


def later(stamp: int, microseconds: int) -> int:
    """Return a timestamp moved by a time; at the ends of time it stays there."""
    return shifted(stamp, microseconds)


def series_header(port: Input, *, needs_rate: bool = False) -> TimeSeriesHeader:
    """Return a copy of the header of a stream, for `open`.

    Args:
        port: the input.
        needs_rate: refuse a sample rate of 0, which a series without a fixed rate has.

    Raises:
        InvalidArgumentError: there is no header, it is another one, or it lacks rate or channels.
        ResourceExhaustedError: it has too many channels.
    """
    packet = port.header
    if packet.is_empty():
        raise _refused(
            port, "has no header, but a TimeSeriesHeader is needed; put an AddAudioHeaderCalculator before it"
        )
    header = packet.payload
    if not isinstance(header, TimeSeriesHeader):
        raise _refused(
            port,
            f"has a {type(header).__name__!r} as header, but a TimeSeriesHeader is needed; connect a series",
        )
    for field, least in (("sample_rate", 0.0), ("num_channels", 0)):
        value = getattr(header, field)
        if not header.HasField(field):
            raise _refused(port, f"has a time series header without {field}; set it where the header is made")
        if not (least <= value < math.inf):
            raise _refused(port, f"has a time series header with {field} {value}, which must be at least 0")
    check_count(f"the num_channels in the header of stream {port.name!r}", header.num_channels, 0)
    if needs_rate and header.sample_rate == 0:
        raise _refused(
            port,
            "has a time series header with sample_rate 0, but the time between samples is needed; connect a "
            "series with one",
        )
    copy = TimeSeriesHeader()
    copy.CopyFrom(header)
    return copy


def check_fits(port: Input, header: TimeSeriesHeader, stamp: int) -> Matrix:
    """Return the matrix of an input, which must be of the header's shape.

    Raises:
        InvalidArgumentError: it has other rows than num_channels, or other columns than num_samples.
    """
    matrix: Matrix = port.payload
    for field, what, found in (
        ("num_channels", "rows", matrix.rows),
        ("num_samples", "columns", matrix.columns),
    ):
        if header.HasField(field) and found != getattr(header, field):
            raise InvalidArgumentError(
                f"stream {port.name!r}: a matrix of {matrix.rows}x{matrix.columns} has {found} {what}, but "
                f"the time series header says {field} {getattr(header, field)}; correct the header where it "
                "is made",
                stream=port.name,
                timestamp=stamp,
            )
    return matrix


def check_channels(port: Input, channels: int, stamp: int) -> Matrix:
    """Return the matrix of an input, which must have so many rows; any number of columns.

    Raises:
        InvalidArgumentError: it has others.
    """
    return check_fits(port, TimeSeriesHeader(num_channels=channels), stamp)


class Regularity:
    """Warns where timestamps of packets and the number of their samples do not agree within half a sample."""

    def __init__(self, rate: float, node: str) -> None:
        self._rate: Final = rate
        self._node: Final = node
        self._first: int | None = None
        self._samples = self._found = 0

    def look(self, stream: str, stamp: int, samples: int) -> None:
        """Check a packet of so many samples; the first wrong one of a stream and each 20th are logged."""
        if self._first is None:
            self._first = stamp
        expected = self._first + self._samples / self._rate * MICROSECONDS
        self._samples += samples
        if abs(stamp - expected) <= 0.5 / self._rate * MICROSECONDS:
            return
        if self._found % _TOLD == 0:
            _logger.warning(
                "%d samples after %d a packet should be at %.0f us, but it is at %d; set "
                "check_inconsistent_timestamps: false where times are not exact",
                self._samples - samples, self._first, expected, stamp,
                extra=place(node=self._node, stream=stream, timestamp=stamp),
            )  # fmt: skip
        self._found += 1


def _refused(port: Input, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"stream {port.name!r} {what}", stream=port.name)
