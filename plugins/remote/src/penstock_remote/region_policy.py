"""The input policy of a region in the driver: whatever comes goes to the region, which keeps it in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet
from penstock.lowlevel import DONE, PRESTREAM, UNSTARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from penstock import Input
    from penstock.lowlevel import InputStream

    Advance: TypeAlias = Callable[[Sequence[Input]], int]


class RegionInputStreamHandler(InputStreamHandler):
    """Makes the node of a region ready whenever a packet or a bound has come on any stream.

    One call has the oldest packet of each stream that has one, whatever their timestamps are: the policies of
    the nodes inside make input sets of them. The node closes when all streams
    are done and the other end has said so.

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

    def decides_itself(self) -> bool:
        """Say that no packet may get past `bind`."""
        return True

    def bind(self) -> Advance:
        """Return what the node calls to look, and to take what has come."""
        return self._advance

    def _advance(self, inputs: Sequence[Input]) -> int:
        """Take the oldest packet of each stream; return the time of the oldest, or else of a new bound."""
        at = DONE
        settled = UNSTARTED
        is_new = is_open = False
        bounds = self.bounds
        for stream, known in zip(self.inputs, bounds, strict=True):
            if stream.queue:
                at = min(at, stream.queue[0].stamp)
            elif stream.bound > known:
                is_new = True
                settled = max(settled, stream.settled())
            elif known < DONE:
                is_open = True
        if at == DONE and not is_new:
            if not is_open:
                return READY_FOR_CLOSE
            self.waits_at = min(bounds)
            return NOT_READY
        self.bounds = [_take(port) for port in inputs]
        return settled if at == DONE else at

    def blocking(self) -> Sequence[InputStream]:
        """Return the streams for which packets of other streams wait inside; else all that are not done."""
        missing = [
            stream
            for stream, is_waiting in zip(self.inputs, self.waiting, strict=True)
            if not is_waiting and stream.bound != DONE
        ]
        return missing if any(self.waiting) else [one for one in self.inputs if one.bound != DONE]


def _take(port: Input) -> int:
    """Show the oldest packet of a stream; return the bound behind it."""
    stream = port.stream
    port.fill(stream.pop() if stream.queue else Packet(timestamp=stream.settled()))
    return stream.head_or_bound()
