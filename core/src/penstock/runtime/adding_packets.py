"""Adding one packet to a graph input, which may have to wait while full queues throttle the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.engine.packet import Packet
from penstock.errors import (
    GraphRunError,
    InvalidArgumentError,
    PacketTypeError,
    PenstockError,
    UnavailableError,
)
from penstock.payload_types import cure
from penstock.runtime.runner.news import current_waiter
from penstock.timestamp import UNSET, show

if TYPE_CHECKING:
    from typing import SupportsIndex

    from penstock.adapters import Adapter
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Queue
    from penstock.plan import StreamPlan
    from penstock.registry import Registry
    from penstock.runtime.runner.runner import Runner


def add_if_room(schedule: Schedule, number: int, packet: Packet) -> bool:
    """Add a packet to a graph input; return False if full queues throttle it. Called with the lock held.

    Raises:
        GraphRunError: the run has failed.
        As `Schedule.add_packet`.
    """
    if schedule.errors:
        raise GraphRunError(schedule.errors)
    flow = schedule.flow
    if flow.full and flow.is_throttled(~number) and not schedule.streams[number].is_closed:
        return False
    schedule.add_packet(number, packet)
    return True


class Addition:
    """A packet that is still to be added. `try_patiently`, called with the lock held, tries to add it.

    A thread or task that reads rows never waits because a queue of these rows is full: no other makes room.

    Args:
        runner: the run.
        number: of the graph input.
        packet: with a timestamp.
    """

    __slots__ = ("_number", "_packet", "_runner", "_who", "what")

    def __init__(self, runner: Runner, number: int, packet: Packet) -> None:
        self._runner: Final = runner
        self._number: Final = number
        self._packet: Final = packet
        self._who: object = None
        self.what: Final = f"adding to throttled stream {runner.schedule.streams[number].name!r}"

    def try_patiently(self, schedule: Schedule) -> bool:
        """As `add_if_room`; if only queues of rows are full that the caller itself reads, add anyway."""
        if add_if_room(schedule, self._number, self._packet):
            return True
        if not self._waits_for_itself(schedule):
            return False
        schedule.add_packet(self._number, self._packet)
        return True

    def has_room(self) -> bool:
        """Return whether another try would not wait. Called with the run's lock held."""
        schedule = self._runner.schedule
        return (
            not schedule.flow.is_throttled(~self._number)
            or bool(schedule.errors)
            or self._runner.is_over
            or schedule.streams[self._number].is_closed
            or self._waits_for_itself(schedule)
        )

    def _waits_for_itself(self, schedule: Schedule) -> bool:
        who = self._who
        if who is None:
            who = self._who = current_waiter()
        return all(
            reader_of(queue) == who
            for queue in schedule.flow.full.values()
            if ~self._number in queue.throttles
        )


def reader_of(queue: Queue) -> object:
    """Return the thread or task that reads the rows that a queue belongs to; None for any other queue."""
    return getattr(getattr(queue, "target", None), "who", None)


def checked(stream: str, packet: object, timestamp: SupportsIndex | None) -> Packet:
    """Return what can be added to a graph input.

    Raises:
        InvalidArgumentError: it is no packet, or has no timestamp.
    """
    if not isinstance(packet, Packet):
        raise InvalidArgumentError(
            f"graph input {stream!r}: {type(packet).__name__!r} is no Packet; write "
            "Packet(payload, timestamp)",
            stream=stream,
        )
    if timestamp is not None:
        packet = packet.at(timestamp)
    if packet.stamp == UNSET:
        raise InvalidArgumentError(
            f"graph input {stream!r}: the packet has no timestamp; write Packet(payload, timestamp)",
            stream=stream,
        )
    return packet


class InputAdapters:
    """Adapts packets that graph inputs cannot take. Remembers the adapter of each input and class."""

    __slots__ = ("_found", "_registry")

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry
        self._found: dict[tuple[int, type], Adapter] = {}

    def adapted(self, stream: StreamPlan, packet: Packet) -> Packet:
        """Return a packet that a graph input cannot take as one that it can.

        Raises:
            PacketTypeError: no adapter serves; says which payloads they take.
        """
        value = packet.value
        why: PenstockError | None = None
        try:
            adapter = self._adapter(stream, type(value))
            if adapter is not None:
                return Packet(adapter.adapt(value), packet.stamp)
        except PenstockError as error:
            why = error
        more = self._what_fits(stream) if why is None else str(why)
        kind = f"{type(value).__name__!r}{cure(value, stream.classes)}"
        holds = f"holds a {kind}, but the stream carries {stream.type_name}"
        raise PacketTypeError(
            f"graph input {stream.name!r}: packet at {show(packet.stamp)} {holds}{more and '; '}{more}",
            stream=stream.name,
            timestamp=packet.stamp,
        ) from why

    def _adapter(self, stream: StreamPlan, kind: type) -> Adapter | None:
        found = self._found.get((stream.id, kind))
        if found is None:
            from penstock.adapters import find_adapter  # few graphs need one

            found = find_adapter(self._registry, kind, stream.types)
            if found is not None:
                self._found[stream.id, kind] = found
        return found

    def _what_fits(self, stream: StreamPlan) -> str:
        from penstock.adapters import adaptable  # few graphs need one

        return adaptable(self._registry, stream.types)


def throttled_error(stream: str) -> UnavailableError:
    """Return the error of an add that would have to wait."""
    return UnavailableError(
        f"graph is throttled: input stream {stream!r} must wait until full queues drain; try again later",
        stream=stream,
    )
