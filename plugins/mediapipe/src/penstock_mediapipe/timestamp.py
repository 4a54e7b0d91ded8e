"""`Timestamp`, as programs for MediaPipe's framework know it."""

from __future__ import annotations

from functools import total_ordering
from operator import index
from typing import ClassVar, Final, SupportsIndex

from penstock import Timestamp as _Core

_NAMES: Final = ("UNSET", "UNSTARTED", "PRESTREAM", "MIN", "MAX", "POSTSTREAM", "DONE")
_LIMIT: Final = 1 << 63


@total_ordering
class Timestamp:
    """A time in microseconds, or one of the special values. Compares with ints.

    Args:
        value: microseconds, or another Timestamp.

    Raises:
        TypeError: it is no whole number of 64 bits.
    """

    UNSET: ClassVar[Timestamp]
    UNSTARTED: ClassVar[Timestamp]
    PRESTREAM: ClassVar[Timestamp]
    MIN: ClassVar[Timestamp]
    MAX: ClassVar[Timestamp]
    POSTSTREAM: ClassVar[Timestamp]
    DONE: ClassVar[Timestamp]

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]  # as in MediaPipe

    def __init__(self, value: SupportsIndex) -> None:
        self._value: Final = index(value)
        if not -_LIMIT <= self._value < _LIMIT:
            raise TypeError(f"mp.Timestamp({self._value}) must be an int from {-_LIMIT} to {_LIMIT - 1}")

    @staticmethod
    def from_seconds(seconds: float) -> Timestamp:
        """Return the timestamp of a time in seconds, rounded half away from zero.

        Raises:
            TypeError: it is no number.
            ValueError: it is outside of the ordinary timestamps, or NaN.
        """
        if not hasattr(seconds, "__float__"):
            raise TypeError(f"mp.Timestamp.from_seconds({seconds!r:.100}): the seconds must be a number")
        return Timestamp(_Core.from_seconds(float(seconds)))

    @property
    def value(self) -> int:
        """The number: microseconds, or that of a special value."""
        return self._value

    def seconds(self) -> float:
        """Return the time in seconds."""
        return self.value / 1e6

    def microseconds(self) -> int:
        """Return the time in microseconds."""
        return self.value

    def is_special_value(self) -> bool:
        """Return whether it is one of the special values, MIN and MAX included."""
        return not Timestamp.MIN.value < self.value < Timestamp.MAX.value

    def is_range_value(self) -> bool:
        """Return whether it is a time: from MIN to MAX."""
        return Timestamp.MIN.value <= self.value <= Timestamp.MAX.value

    def is_allowed_in_stream(self) -> bool:
        """Return whether a packet in a stream may have it."""
        return Timestamp.PRESTREAM.value <= self.value <= Timestamp.POSTSTREAM.value

    def __index__(self) -> int:
        return self.value

    def __eq__(self, other: object) -> bool:
        return self.value == index(other) if isinstance(other, SupportsIndex) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.value < index(other) if isinstance(other, SupportsIndex) else NotImplemented

    def __repr__(self) -> str:
        name = next(
            (name for name in _NAMES if getattr(Timestamp, name).value == self.value), str(self.value)
        )
        return f"<mediapipe.Timestamp with value: {name}>"


for _name in _NAMES:
    setattr(Timestamp, _name, Timestamp(int(getattr(_Core, _name))))
