"""`Input`: one input port of a calculator, during an invocation."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.errors import InvalidArgumentError
from penstock.timestamp import DONE

if TYPE_CHECKING:
    from typing import SupportsIndex

    from penstock.engine.stream import InputStream

NO_PACKET: Final = Packet()


class Input:
    """One input port during an invocation."""

    __slots__ = ("done", "packet", "stream")

    def __init__(self, stream: InputStream) -> None:
        self.stream: Final = stream
        #: The packet of this input set; where there is none, an empty one that carries the last settled
        #: timestamp (UNSTARTED if none is).
        self.packet = NO_PACKET
        #: What `is_done` returns. For input stream handlers.
        self.done = False

    @property
    def payload(self) -> Any:
        """The payload, or None where there is no packet."""
        value = self.packet.value
        return None if value is NO_PAYLOAD else value

    def is_empty(self) -> bool:
        """Return whether there is no packet at this timestamp."""
        return self.packet.value is NO_PAYLOAD

    def is_done(self) -> bool:
        """Return whether nothing comes after this packet."""
        return self.done

    @property
    def header(self) -> Packet:
        """The stream's header, or an empty packet."""
        return self.stream.header

    @property
    def name(self) -> str:
        """The name of the stream."""
        return self.stream.name

    def count_dropped(self, reason: str, count: SupportsIndex = 1) -> None:
        """Count packets that came in here as thrown away unused, now or before.

        For calculators whose purpose is to drop: the graph's ledger then counts these packets as
        dropped by this node, not as delivered.

        Args:
            reason: why, in a few words that stay the same: the ledger adds up by reason.
            count: how many packets.

        Raises:
            InvalidArgumentError: `count` is negative, or more than came in here.
        """
        stream = self.stream
        number = index(count)
        if not 0 <= number <= stream.delivered:
            raise InvalidArgumentError(
                f"input port of {stream.name!r}: {number} packets cannot have been dropped where "
                f"{stream.delivered} came in",
                stream=stream.name,
            )
        if number and stream.node is not None:
            stream.node.services.count_dropped(stream, reason, number)

    def count_cut(self, reason: str, count: SupportsIndex = 1) -> None:
        """Count elements of a list that came in here as left out of what goes on, because of a limit.

        The packet itself counts as delivered: `graph.ledger().cuts` and `graph.why().cuts` tell what a
        limit has cost, with the name of this node.

        Args:
            reason: which limit, in words that name the option and its value: the ledger adds up by reason.
            count: how many elements.

        Raises:
            InvalidArgumentError: `count` is negative.
        """
        stream = self.stream
        number = index(count)
        if number < 0:
            raise InvalidArgumentError(
                f"input port of {stream.name!r}: {number} elements cannot have been cut; give 0 or more",
                stream=stream.name,
            )
        if number and stream.node is not None:
            stream.node.services.count_cut(stream, reason, number)

    def take_waiting(self) -> list[Packet]:
        """Take the packets that wait behind this input set, in order; they count as delivered.

        For `close` of calculators that must see everything, such as recorders: in a run that has failed or
        was cancelled no further input set comes. Else there are none: before its node closes, each packet
        comes by itself, also to a calculator that takes the place of this one; and what waits for a node in
        another process waits in the driver's.
        """
        stream = self.stream
        return [] if stream.node is None else stream.node.services.take_waiting(stream)

    def fill(self, packet: Packet) -> None:
        """Show `packet` in the coming invocation. For input stream handlers."""
        self.packet = packet
        stream = self.stream
        if stream.bound == DONE:
            self.done = not stream.queue

    def clear(self) -> None:
        """Release the packet, so that its payload can be freed."""
        self.packet = NO_PACKET
