"""A packet that a policy has taken from a stream's queue and shows in several input sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock import Input, Packet
    from penstock.lowlevel import InputStream


class KeptPacket:
    """The last packet taken from one stream; the next one that is taken replaces it.

    A kept packet must leave the queue: the engine reports a new bound to a node only where the queue is
    empty, and a full queue throttles the source of the next packet. In the ledger a packet counts as
    delivered once, however often it is shown; a packet released without being shown counts as dropped.
    """

    __slots__ = ("_is_shown", "packet", "stream")

    def __init__(self, stream: InputStream) -> None:
        #: The stream of the packets.
        self.stream: Final = stream
        #: The kept packet, or None.
        self.packet: Packet | None = None
        self._is_shown = False

    def advance(self, timestamp: int, reason: str) -> None:
        """Keep the last packet up to `timestamp`; drop unshown packets before it for `reason`."""
        queue = self.stream.queue
        while queue and queue[0].stamp <= timestamp:
            self.release(reason)
            self.packet = self.stream.pop()
            self._is_shown = False

    def release(self, reason: str) -> None:
        """Keep no packet; one that was never shown is dropped for `reason`."""
        if self.packet is None:
            return
        self.stream.flow.garbage.append(self.packet)  # a payload must not die under the run's lock
        self.packet = None
        if not self._is_shown:
            self.stream.disuse(reason, 1)

    def release_all(self, reason: str) -> None:
        """Keep no packet, and drop the queued ones for `reason`: the node will see none of them."""
        self.release(reason)
        self.stream.drop_all(reason)

    def show(self, port: Input, otherwise: Packet) -> None:
        """Show the kept packet in the next call, or `otherwise` where no packet is kept."""
        if self.packet is None:
            port.fill(otherwise)
            return
        port.fill(self.packet)
        self._is_shown = True
