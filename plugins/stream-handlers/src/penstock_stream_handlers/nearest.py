"""The input policy that pairs streams whose timestamps are close, but not the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, MIN, ONE_OVER_POSTSTREAM, POSTSTREAM
from penstock_stream_handlers.kept import KeptPacket
from penstock_stream_handlers.messages.nearest_pb2 import NearestOptions
from penstock_stream_handlers.tag_index import leading_of, leading_position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

#: The ledger's reason for packets that no call has seen.
NEVER_NEAREST: Final = "nearest to no base packet"


class Nearest(InputStreamHandler):
    """Makes the node ready at each packet of the base stream, with the nearest packet of each other.

    Nearest means nearest in time, before or after, and at most `tolerance` away; where two are equally
    near, the earlier one. The packet keeps its own timestamp. An input without a packet that near is
    empty. One packet may serve several base packets and counts as delivered once; packets that serve no
    base packet are dropped. With a tolerance of 10::

        LIDAR    100          140        200   done
        CAMERA    95  103     131 145    260
        calls    100          140        200   close
        sees     103          145        -           95, 131 and 260 are dropped

    In a graph::

        input_stream_handler {
          input_stream_handler: "Nearest"
          options { [penstock.NearestOptions.ext] { base: "LIDAR" tolerance: 10 } }
        }

    A base packet waits until no nearer packet can come on any other stream: until that stream has a
    packet at the same time, a later one, or a bound past the times that would be nearer. So the input sets
    do not depend on the order of arrival, and a stream without packets must advance its bound. Until then
    base packets wait in their queue: where one source writes both streams, the queue limit must allow for
    the packets within one tolerance, or the source is throttled before the other stream can settle.

    The node closes when the base stream is done. Settled timestamps without a base packet never make it
    ready, not even with process bounds. Packets at PreStream and PostStream are near only to packets at
    the same timestamp.

    Options: `base`, the base stream, as "TAG", "TAG:index" or ":index"; it must be given where the inputs
    have different tags, and is otherwise the input with index 0. `tolerance`, in timestamp units, required.
    """

    @classmethod
    def leading_input(cls, options: Any, inputs: Sequence[tuple[str, int]]) -> int:
        """Return the position of the base stream.

        Raises:
            InvalidArgumentError: `tolerance` is missing or negative; `base` is missing though the inputs have
                different tags, or is no "TAG:index".
            NotFoundError: the node has no such input.
        """
        own = options.get(NearestOptions)
        if not own.HasField("tolerance") or own.tolerance < 0:
            found = f"is {own.tolerance}" if own.HasField("tolerance") else "is missing"
            raise InvalidArgumentError(
                f"the nearest policy's tolerance {found}, but must be given as 0 or more timestamp units "
                "(microseconds by convention)"
            )
        return leading_position(inputs, own.base if own.HasField("base") else None, "Nearest", "base")

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run. Raises as `leading_input`."""
        super().prepare(inputs)
        self._tolerance: int = self.options.get(NearestOptions).tolerance
        self._base = leading_of(self, self.options) if self.inputs else 0  # a source has no inputs
        #: For each input the last packet before the base, or a nearer one after it; the base stream keeps
        #: no packet.
        self._kept = [KeptPacket(stream) for stream in self.inputs]
        self._others = [kept for position, kept in enumerate(self._kept) if position != self._base]

    def look(self) -> int:
        """Return the oldest base timestamp, NOT_READY or READY_FOR_CLOSE; takes the packets before it."""
        base = self.inputs[self._base]
        t = base.head_or_bound()
        if t >= ONE_OVER_POSTSTREAM:
            self.discard(NEVER_NEAREST)
            return READY_FOR_CLOSE
        for kept in self._others:
            self._advance(kept, t)
        if base.queue and not self.blocking():
            return t
        self.waits_at = t
        return NOT_READY

    def _advance(self, kept: KeptPacket, t: int) -> None:
        """Keep the last packet up to `t`, or a later one that was shown, if it is near enough to `t`."""
        kept.advance(t, NEVER_NEAREST)
        if self._distance(kept, t) > self._tolerance:
            kept.release(NEVER_NEAREST)

    def blocking(self) -> Sequence[InputStream]:
        """Return the base stream if it has no packet, else the streams that may still get a nearer one."""
        base = self.inputs[self._base]
        if not base.queue:
            return [base]
        t = base.queue[0].stamp
        return [kept.stream for kept in self._others if not self._is_known(kept, t)]

    def _is_known(self, kept: KeptPacket, t: int) -> bool:
        """Return whether no further packet of a stream can be nearer to `t` than those that have arrived."""
        stream = kept.stream
        if stream.queue:  # its packets are after t; further ones are later still
            return True
        if not MIN <= t <= MAX:
            return stream.bound > t
        return stream.bound >= min(t + self._distance(kept, t), POSTSTREAM)  # a packet there is no nearer

    def _distance(self, kept: KeptPacket, t: int) -> int:
        """Return how far the kept packet is from `t`; just past the tolerance where no packet is kept."""
        return self._tolerance + 1 if kept.packet is None else self._apart(kept.packet.stamp, t)

    def _apart(self, one: int, other: int) -> int:
        """Return how far two timestamps are apart; special values are past the tolerance of all others."""
        if one == other:
            return 0
        is_ordinary = MIN <= one <= MAX and MIN <= other <= MAX
        return abs(one - other) if is_ordinary else self._tolerance + 1

    def discard(self, reason: str) -> None:
        """Release all packets of other streams, those in queues too: no base packet will see them."""
        for kept in self._others:
            kept.release_all(reason)

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the base packet, and show the nearest packet of every other stream."""
        for position, (port, kept) in enumerate(zip(inputs, self._kept, strict=True)):
            if position == self._base:
                port.fill(port.stream.pop())
            else:
                self._keep_nearest(kept, timestamp)
                kept.show(port, Packet(timestamp=timestamp))

    def _keep_nearest(self, kept: KeptPacket, t: int) -> None:
        """Replace the kept packet by the first one after `t` if that is nearer; no later one can be."""
        queue = kept.stream.queue
        if queue and self._apart(queue[0].stamp, t) < self._distance(kept, t):
            kept.advance(queue[0].stamp, NEVER_NEAREST)
