"""The packet of a stream that a policy has taken from its queue and shows in several input sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock import Input, Packet
    from penstock.lowlevel import InputStream


class KeptPacket:
    """The last packet taken from one stream; each one that is taken takes the place of the one before.

    It must leave the queue to be kept: the engine tells a node of a new bound only where the queue is
    empty, and a full queue throttles the source that shall bring the next packet. In the ledger a packet
    counts as delivered once, however often it is shown; one let go unshown counts as dropped.

    Attributes:
        stream: where the packets come from.
        packet: the one that is kept, if any.
    """

    __slots__ = ("_is_shown", "packet", "stream")

    def __init__(self, stream: InputStream) -> None:
        self.stream: Final = stream
        self.packet: Packet | None = None
        self._is_shown = False

    def advance(self, timestamp: int, reason: str) -> None:
        """Keep the last packet up to `timestamp`; `reason` is for those in between, which nobody saw."""
        queue = self.stream.queue
        while queue and queue[0].stamp <= timestamp:
            self.let_go(reason)
            self.packet = self.stream.pop()
            self._is_shown = False

    def let_go(self, reason: str) -> None:
        """Keep nothing; `reason` is for a packet that nobody saw."""
        if self.packet is None:
            return
        self.stream.flow.garbage.append(self.packet)  # a payload must not die under the run's lock
        self.packet = None
        if not self._is_shown:
            self.stream.disuse(reason, 1)

    def let_go_all(self, reason: str) -> None:
        """Keep nothing any longer, and drop what is queued: none of it will be shown."""
        self.let_go(reason)
        self.stream.drop_all(reason)

    def show(self, port: Input, otherwise: Packet) -> None:
        """Show the packet in the coming call; `otherwise` where none is kept."""
        if self.packet is None:
            port.fill(otherwise)
            return
        port.fill(self.packet)
        self._is_shown = True
