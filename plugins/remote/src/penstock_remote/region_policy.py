"""The input policy of a region in the driver: whatever comes goes to the region, which keeps it in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet
from penstock.lowlevel import DONE, MIN, PRESTREAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream


class RegionInputStreamHandler(InputStreamHandler):
    """Makes the node of a region ready whenever a packet or a bound has come on any stream.

    One call has the oldest packet of each stream that has one, whatever their timestamps are: the policies of
    the nodes inside make input sets of them. The node closes when all streams are done and it was told so.

    Attributes:
        bounds: for each stream the bound behind what the last call has taken; the region knows it.
        waiting: for each stream whether its oldest packet waits inside, for others.
    """

    depends_on_arrival = True

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run."""
        super().prepare(inputs)
        self.bounds = [PRESTREAM] * len(inputs)
        self.waiting = [False] * len(inputs)

    def look(self) -> int:
        """Return the time of the oldest packet, or else of the bound that has come."""
        packet = DONE
        settled = MIN
        is_new = False
        for stream, known in zip(self.inputs, self.bounds, strict=True):
            if stream.queue:
                packet = min(packet, stream.queue[0].stamp)
            elif stream.bound > known:
                is_new = True
                settled = max(settled, stream.settled())
        if packet != DONE:
            return packet
        if is_new:
            return settled
        if all(known == DONE for known in self.bounds):
            return READY_FOR_CLOSE
        self.waits_at = min(self.bounds)
        return NOT_READY

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:  # noqa: ARG002  # each stream has its own
        """Take the oldest packet of each stream."""
        for port in inputs:
            stream = port.stream
            port.fill(stream.pop() if stream.queue else Packet(timestamp=stream.settled()))
        self.bounds = [stream.head_or_bound() for stream in self.inputs]

    def blocking(self) -> Sequence[InputStream]:
        """Return the streams for which packets of other streams wait inside; else all that are not done."""
        missing = [
            stream
            for stream, is_waiting in zip(self.inputs, self.waiting, strict=True)
            if not is_waiting and stream.bound != DONE
        ]
        return missing if any(self.waiting) else [one for one in self.inputs if one.bound != DONE]
