"""Timestamps: 64-bit integers in microseconds, and the special values at both ends.

Inside the engine a timestamp is a plain `int` (making a `Timestamp` costs as much as a whole
queue operation); `Timestamp` is what users see. Both compare with one another.

Source of values and rules: MediaPipe `framework/timestamp.h`.
"""

from __future__ import annotations

from math import isfinite
from operator import index
from typing import ClassVar, Final, SupportsIndex, final

from penstock.errors import InvalidArgumentError, TimestampError

_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1

UNSET: Final = _INT64_MIN
UNSTARTED: Final = _INT64_MIN + 1
PRESTREAM: Final = _INT64_MIN + 2
MIN: Final = _INT64_MIN + 3
MAX: Final = _INT64_MAX - 3
POSTSTREAM: Final = _INT64_MAX - 2
ONE_OVER_POSTSTREAM: Final = _INT64_MAX - 1
DONE: Final = _INT64_MAX
#: Timestamps and offsets below this in size add up without leaving 64 bits.
ORDINARY: Final = 2**61

#: The special values: as attributes of `Timestamp`, and as the reference writes them.
_SPECIAL: Final[dict[int, tuple[str, str]]] = {
    UNSET: ("UNSET", "Timestamp::Unset()"),
    UNSTARTED: ("UNSTARTED", "Timestamp::Unstarted()"),
    PRESTREAM: ("PRESTREAM", "Timestamp::PreStream()"),
    MIN: ("MIN", "Timestamp::Min()"),
    MAX: ("MAX", "Timestamp::Max()"),
    POSTSTREAM: ("POSTSTREAM", "Timestamp::PostStream()"),
    ONE_OVER_POSTSTREAM: ("ONE_OVER_POSTSTREAM", "Timestamp::OneOverPostStream()"),
    DONE: ("DONE", "Timestamp::Done()"),
}


def next_allowed(t: int) -> int:
    """Return the smallest timestamp that may follow `t` in a stream, ONE_OVER_POSTSTREAM if none."""
    if t >= MAX or t == PRESTREAM:
        return ONE_OVER_POSTSTREAM
    return t + 1 if t >= MIN else MIN


def previous_allowed(t: int) -> int:
    """Return the largest timestamp below `t`, UNSTARTED if none.

    Applied to a bound it gives what is settled: a finished stream (DONE) is settled at MAX.
    """
    if t <= MIN or t == POSTSTREAM:
        return UNSTARTED
    return t - 1 if t <= MAX else MAX


def shifted(t: int, offset: int) -> int:
    """Return `t` + `offset`, clamped to [MIN, MAX]; `t` must lie in that range."""
    t += offset
    return MIN if t < MIN else min(t, MAX)


def promised_bound(t: int, offset: int) -> int:
    """Return the bound of an output with a timestamp offset, after the input set at `t`."""
    if t == PRESTREAM:
        return MIN
    if t == POSTSTREAM:
        return ONE_OVER_POSTSTREAM
    if t == MAX:
        return POSTSTREAM if offset >= 0 else next_allowed(shifted(MAX, offset))
    return shifted(t + 1, offset)


def check_offset(offset: int) -> None:
    """Accept a timestamp offset that can be added to ordinary timestamps without leaving 64 bits.

    Raises:
        InvalidArgumentError: it is 2**61 or more in size.
    """
    if not -ORDINARY < offset < ORDINARY:
        raise InvalidArgumentError(f"timestamp offset {offset}: must be below 2**61 in size")


def show(t: int) -> str:
    """Return `t` as a user should read it: a decimal, or the name of a special value."""
    return _SPECIAL[t][1] if t in _SPECIAL else str(int(t))


def no_timestamp(value: object) -> TypeError:
    """Return the error for a timestamp that is no integer."""
    given = repr(type(value).__name__)
    if isinstance(value, float) and isfinite(value):
        given = f"the float {value!r}; for seconds write Timestamp.from_seconds({value!r})"
    return TypeError(f"a timestamp is a whole number of microseconds, not {given}")


@final
class Timestamp(int):
    """A moment in a stream: microseconds, by convention since 1970-01-01 for live data.

    An `int` subclass: plain ints are accepted wherever a timestamp is, and both compare and hash
    alike. Adding or subtracting an int clamps to [MIN, MAX]; the difference of two timestamps, or of
    an int and a timestamp, is a plain int. Arithmetic on a value outside [MIN, MAX] raises `TimestampError`.

    The special values cannot be made from their number, only taken from the class:

    ===================  ===================================================================
    UNSET                no timestamp: what a packet outside a stream has
    UNSTARTED            nothing has happened yet
    PRESTREAM            before all others; must be the only packet of its stream
    MIN, MAX             the ends of the ordinary range
    POSTSTREAM           after all others; must be the only packet of its stream
    ONE_OVER_POSTSTREAM  the bound of a stream that takes no more packets
    DONE                 the bound of a stream that is closed
    ===================  ===================================================================

    Raises:
        TimestampError: the number is a special value's, or needs more than 64 bits.
        TypeError: not an integer.
    """

    UNSET: ClassVar[Timestamp]
    UNSTARTED: ClassVar[Timestamp]
    PRESTREAM: ClassVar[Timestamp]
    MIN: ClassVar[Timestamp]
    MAX: ClassVar[Timestamp]
    POSTSTREAM: ClassVar[Timestamp]
    ONE_OVER_POSTSTREAM: ClassVar[Timestamp]
    DONE: ClassVar[Timestamp]

    __slots__ = ()

    def __new__(cls, value: SupportsIndex) -> Timestamp:
        """Make an ordinary timestamp; see the class for what is refused."""
        if isinstance(value, Timestamp):
            return value
        try:
            number = index(value)
        except TypeError as error:
            raise no_timestamp(value) from error
        if not MIN < number < MAX:
            what = _SPECIAL.get(number, ("", "out of range"))[1]
            raise TimestampError(
                f"timestamp {number} is {what}: ordinary ones lie between {MIN + 1} and {MAX - 1}; "
                "take special values by name, as in Timestamp.MAX"
            )
        return int.__new__(cls, number)

    @classmethod
    def of(cls, number: int) -> Timestamp:
        """Return `number` as a Timestamp, special values included, without any check."""
        return int.__new__(cls, number)

    @classmethod
    def from_seconds(cls, seconds: float) -> Timestamp:
        """Return the timestamp `seconds` after 0, rounded half away from zero."""
        return cls(_rounded(seconds * 1_000_000))

    @classmethod
    def from_milliseconds(cls, milliseconds: float) -> Timestamp:
        """Return the timestamp `milliseconds` after 0, rounded half away from zero."""
        return cls(_rounded(milliseconds * 1_000))

    @classmethod
    def from_microseconds(cls, microseconds: SupportsIndex) -> Timestamp:
        """Return the timestamp `microseconds` after 0, exactly."""
        return cls(microseconds)

    @property
    def seconds(self) -> float:
        """The time since 0 in seconds."""
        return int(self) / 1_000_000

    @property
    def milliseconds(self) -> float:
        """The time since 0 in milliseconds."""
        return int(self) / 1_000

    @property
    def microseconds(self) -> int:
        """The time since 0 in microseconds, as a plain int."""
        return int(self)

    def next_allowed_in_stream(self) -> Timestamp:
        """Return the smallest timestamp that may follow this one in a stream."""
        return Timestamp.of(next_allowed(int(self)))

    def previous_allowed_in_stream(self) -> Timestamp:
        """Return the largest timestamp that may precede this one in a stream."""
        return Timestamp.of(previous_allowed(int(self)))

    def is_special_value(self) -> bool:
        """Return whether this is one of the named values, MIN and MAX among them."""
        return not MIN < int(self) < MAX

    def is_range_value(self) -> bool:
        """Return whether this lies in [MIN, MAX], where arithmetic is possible."""
        return MIN <= int(self) <= MAX

    def is_allowed_in_stream(self) -> bool:
        """Return whether a packet in a stream may have this timestamp."""
        return PRESTREAM <= int(self) <= POSTSTREAM

    def __add__(self, offset: int) -> Timestamp:
        if isinstance(offset, Timestamp):
            raise TypeError("two timestamps cannot be added; add a number of microseconds")
        return Timestamp.of(shifted(self._in_range(), index(offset)))

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        """Return the microseconds since another timestamp, or the timestamp that much earlier."""
        if isinstance(other, Timestamp):
            return self._in_range() - other._in_range()
        return Timestamp.of(shifted(self._in_range(), -index(other)))

    def __rsub__(self, other: int) -> int:
        return index(other) - self._in_range()

    def __neg__(self) -> int:
        raise TypeError("a timestamp has no negative")

    def _in_range(self) -> int:
        number = int(self)
        if not MIN <= number <= MAX:
            raise TimestampError(f"{show(number)} takes no part in arithmetic: it is not in [MIN, MAX]")
        return number

    def __str__(self) -> str:
        return show(int(self))

    def __repr__(self) -> str:
        number = int(self)
        return f"Timestamp.{_SPECIAL[number][0]}" if number in _SPECIAL else f"Timestamp({number})"

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else str(self)

    def __reduce__(self) -> tuple[object, ...]:
        return Timestamp.of, (int(self),)


def _rounded(value: float) -> int:
    """Round half away from zero, as std::round does."""
    try:
        whole = int(value)  # adding 0.5 would be wrong just below a half, and above 2**52
        return whole + (1 if value - whole >= 0.5 else -1 if value - whole <= -0.5 else 0)  # noqa: PLR2004
    except (OverflowError, ValueError) as error:
        raise TimestampError(f"{value} microseconds are no timestamp") from error


for _number, (_constant, _) in _SPECIAL.items():
    setattr(Timestamp, _constant, Timestamp.of(_number))
