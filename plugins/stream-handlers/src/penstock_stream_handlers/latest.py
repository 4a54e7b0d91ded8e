"""The input policy of nodes that run at the ticks of one stream, with the last value of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet
from penstock.lowlevel import ONE_OVER_POSTSTREAM
from penstock_stream_handlers.kept import KeptPacket
from penstock_stream_handlers.messages.latest_pb2 import LatestOptions
from penstock_stream_handlers.tag_index import leading_of, leading_position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

#: The ledger's reason for values that a newer one replaced before any tick.
OVERTAKEN: Final = "a newer one came before the tick"
#: The ledger's reason for values after the last tick.
NO_TICK: Final = "no tick came after it"


class Latest(InputStreamHandler):
    """Makes the node ready at each packet of the tick stream, with the last value of each other stream.

    The last value is the newest packet at or before the tick. It keeps its own timestamp, is shown again
    at later ticks until a newer one comes, and counts as delivered once. Before the first value an input
    is empty. A value that a newer one replaces before any tick is dropped::

        TICK    1   3   4   6   done
        GAIN    .   2   5 6
        calls   1   3   4   6   close
        sees    -   2   2   6           5 is dropped

    In a graph::

        input_stream_handler {
          input_stream_handler: "Latest"
          options { [penstock.LatestOptions.ext] { tick: "TICK" } }
        }

    A tick waits until every other stream is settled up to its timestamp, so the input sets do not depend
    on the order of arrival. The other streams must therefore advance their bounds where they have no
    packets: a stream that never does makes the node wait without limit. With `settled: false` no tick
    waits; it sees the newest value at or before it that has arrived, and results depend on arrival, by
    design. A stream that comes from the node's own output needs `settled: false`.

    The node closes when the tick stream is done, whatever the others hold. Settled timestamps without a
    tick never make it ready, not even with process bounds.

    Options: `tick`, the tick stream, as "TAG", "TAG:index" or ":index"; it must be given where the inputs
    have different tags, and is otherwise the input with index 0. `settled` (true).
    """

    @classmethod
    def leading_input(cls, options: Any, inputs: Sequence[tuple[str, int]]) -> int:
        """Return the position of the tick stream.

        Raises:
            InvalidArgumentError: `tick` is missing though the inputs have different tags, or is no
                "TAG:index".
            NotFoundError: the node has no such input.
        """
        own = options.get(LatestOptions)
        return leading_position(inputs, own.tick if own.HasField("tick") else None, "Latest", "tick")

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run. Raises as `leading_input`."""
        super().prepare(inputs)
        options = self.options.get(LatestOptions)
        self._waits: bool = options.settled
        self._tick = leading_of(self, self.options) if self.inputs else 0  # a source has no inputs
        #: For each input the value that ticks see; the tick stream keeps none.
        self._values = [KeptPacket(stream) for stream in self.inputs]
        self._others = [kept for position, kept in enumerate(self._values) if position != self._tick]

    def look(self) -> int:
        """Return the oldest tick's timestamp, NOT_READY or READY_FOR_CLOSE; takes values up to there."""
        tick = self.inputs[self._tick]
        t = tick.head_or_bound()
        if t >= ONE_OVER_POSTSTREAM:
            self.discard(NO_TICK)
            return READY_FOR_CLOSE
        for kept in self._others:
            kept.advance(t, OVERTAKEN)  # no tick can come before t
        if tick.queue and not self.blocking():
            return t
        self.waits_at = t
        return NOT_READY

    def blocking(self) -> Sequence[InputStream]:
        """Return the tick stream, or where it has a packet the streams that are not settled there."""
        tick = self.inputs[self._tick]
        if not tick.queue:
            return [tick]
        t = tick.queue[0].stamp
        return [kept.stream for kept in self._others if self._waits and kept.stream.bound <= t]

    def discard(self, reason: str) -> None:
        """Release all values, those in queues too: no tick will see them."""
        for kept in self._others:
            kept.release_all(reason)

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the tick, and show the last value of every other stream."""
        for position, (port, kept) in enumerate(zip(inputs, self._values, strict=True)):
            if position == self._tick:
                port.fill(port.stream.pop())
            else:
                kept.show(port, Packet(timestamp=min(timestamp, port.stream.settled())))
