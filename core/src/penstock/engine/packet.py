"""A payload and its timestamp: what flows through streams."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Final, TypeVar

from penstock.errors import InternalError, PacketTypeError
from penstock.shown import shown
from penstock.timestamp import ORDINARY, UNSET, Timestamp, no_timestamp, show

if TYPE_CHECKING:
    from typing import SupportsIndex

T = TypeVar("T")


class _NoPayload:
    """The value of an empty packet, in place of a payload."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_PAYLOAD"


NO_PAYLOAD: Final = _NoPayload()


class Packet:
    """One payload under one timestamp. Cheap to make and never changed afterwards.

    The payload is shared, never copied: `at` gives the same payload under another timestamp, and a
    payload is freed with the last packet that holds it. Treat it as read-only, since other calculators
    hold it too. `Packet()` is empty; an empty packet at `t` in a stream says that nothing more
    comes up to and including `t`. Two packets are equal when their payload is the same object,
    whatever their timestamps.

    Raises:
        TypeError: the timestamp is no integer; says how a number of seconds becomes one.
    """

    # A plain class with slots: one is made for each output of each step, and `attrs.frozen` costs 2.2
    # times as much. `value` and `stamp` are the engine's own view of `payload` and `timestamp`: the
    # payload or `NO_PAYLOAD`, and a plain int. `is_ordinary` says that `stamp` is below 2**61 in size:
    # compared once here, since each such comparison takes 20 ns, and a step would make seven.

    __slots__ = ("is_ordinary", "stamp", "value")

    def __init__(self, payload: object = NO_PAYLOAD, timestamp: SupportsIndex = UNSET) -> None:
        self.value = payload
        try:
            stamp = index(timestamp)
        except TypeError as error:
            raise no_timestamp(timestamp) from error
        self.stamp = stamp
        self.is_ordinary = -ORDINARY < stamp < ORDINARY

    @property
    def payload(self) -> object:
        """The payload, or None in an empty packet."""
        value = self.value
        return None if value is NO_PAYLOAD else value

    @property
    def timestamp(self) -> Timestamp:
        """The timestamp; UNSET where none was given."""
        return Timestamp.of(self.stamp)

    def is_empty(self) -> bool:
        """Return whether there is no payload. A payload of None is a payload."""
        return self.value is NO_PAYLOAD

    def at(self, timestamp: SupportsIndex) -> Packet:
        """Return a packet with the same payload at `timestamp`."""
        return Packet(self.value, timestamp)

    def get(self, expected: type[T]) -> T:
        """Return the payload, which must be an `expected`.

        Raises:
            InternalError: the packet is empty.
            PacketTypeError: the payload is something else; names both types.
        """
        value = self.value
        if isinstance(value, expected):
            return value
        if value is NO_PAYLOAD:
            raise InternalError(f"expected a packet of type {expected.__name__!r}, got an empty packet")
        raise PacketTypeError(
            f"the packet holds a {type(value).__name__!r}, but a {expected.__name__!r} was asked for"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packet) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    def _repr_png_(self) -> bytes | None:
        """Return what a notebook shows: the payload's image, where it has one. Never raises."""
        try:
            draw = getattr(self.value, "_repr_png_", None)
            picture = draw() if callable(draw) else None
        except Exception:  # noqa: BLE001  # as for the repr: showing a packet must not fail
            return None
        return picture if isinstance(picture, bytes) else None

    def __repr__(self) -> str:
        """Return the packet in a few words, whatever state the payload is in: see `shown`."""
        payload = "" if self.value is NO_PAYLOAD else shown(self.value)
        stamp = "" if self.stamp == UNSET else f"{'' if payload else 'timestamp='}{show(self.stamp)}"
        return f"Packet({', '.join(filter(None, (payload, stamp)))})"
