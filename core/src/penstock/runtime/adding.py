"""One packet on its way into a graph input, which full queues may keep waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.engine.packet import Packet
from penstock.errors import GraphRunError, InvalidArgumentError
from penstock.runtime.runner.news import current_waiter
from penstock.timestamp import UNSET

if TYPE_CHECKING:
    from typing import SupportsIndex

    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Queue
    from penstock.runtime.runner.runner import Runner


def add_if_room(schedule: Schedule, number: int, packet: Packet) -> bool:
    """Add a packet to a graph input; return False where full queues throttle it. Called with the lock held.

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
    """An add that has not been done yet. Calling it, under the run's lock, tries.

    A full queue of rows never keeps the one who reads them: nobody else would make room.

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

    def __call__(self, schedule: Schedule) -> bool:
        """As `add_if_room`."""
        return add_if_room(schedule, self._number, self._packet)

    def try_patiently(self, schedule: Schedule) -> bool:
        """As calling it, for who would wait: where only rows that it reads itself are full, it does not."""
        if self(schedule):
            return True
        if not self._waits_for_itself(schedule):
            return False
        schedule.add_packet(self._number, self._packet)
        return True

    def has_room(self) -> bool:
        """Return whether another try is worth it. Called with the run's lock held."""
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
    """Return who reads the rows that a queue is for; None where it is for something else."""
    return getattr(getattr(queue, "target", None), "who", None)


def checked(stream: str, packet: object, timestamp: SupportsIndex | None) -> Packet:
    """Return what can be added to a graph input.

    Raises:
        InvalidArgumentError: no packet, or none with a timestamp.
    """
    if not isinstance(packet, Packet):
        raise InvalidArgumentError(
            f"stream {stream!r}: {type(packet).__name__!r} is no Packet; write Packet(payload, timestamp)",
            stream=stream,
        )
    if timestamp is not None:
        packet = packet.at(timestamp)
    if packet.stamp == UNSET:
        raise InvalidArgumentError(
            f"stream {stream!r}: the packet has no timestamp; write Packet(payload, timestamp)",
            stream=stream,
        )
    return packet
