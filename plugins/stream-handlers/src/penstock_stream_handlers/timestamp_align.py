"""The input policy for streams of different clocks: all are moved to the clock of one stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet
from penstock.errors import TimestampError
from penstock.lowlevel import DONE, MAX, MIN, POSTSTREAM, shifted, show
from penstock_stream_handlers.messages.timestamp_align_pb2 import (
    TimestampAlignInputStreamHandlerOptions,
)
from penstock_stream_handlers.tag_index import position_of, reading_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

_OPTION: Final = "timestamp_base_tag_index"


class TimestampAlignInputStreamHandler(InputStreamHandler):
    """Moves all streams to the clock of a base stream by their first packets, then keeps them in step.

    Option `timestamp_base_tag_index` names the base stream. Until every other stream has a packet the
    node sees only the base's packets, without waiting. Then the offset of each other stream is fixed: its
    oldest packet is moved to the base's oldest. From then on streams are kept in step as by the default
    policy, with packets at the base's timestamps::

        CAMERA        101  102      103  104  .    .    done
        VIDEO                  1              4         done
        calls         101  102      103  104       106  close
        CAMERA sees   101  102      103  104       -
        VIDEO sees    -    -        1    -         4         moved by 102

    Once the offsets are fixed, the input sets do not depend on the order of arrival. The offsets do,
    unless the first packets of the others arrive before the first packet of the base.

    If the base ends before every other stream has had a packet, the node stays open until the run ends.

    Source of the rules: MediaPipe `framework/stream_handler/timestamp_align_input_stream_handler.cc`.
    """

    depends_on_arrival = True

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run.

        Raises:
            InvalidArgumentError: the option is not a "TAG:index".
            NotFoundError: the node has no such input.
        """
        super().prepare(inputs)
        base = self.options.get(TimestampAlignInputStreamHandlerOptions).timestamp_base_tag_index
        self._base = position_of(base, self.inputs, _OPTION) if self.inputs else 0
        self._offsets = [0] * len(self.inputs)
        self._is_aligned = len(self.inputs) == 1

    def look(self) -> int:
        """Return the timestamp of the base at which the node is ready, NOT_READY or READY_FOR_CLOSE.

        Raises:
            TimestampError: the offsets are not fixed yet, and a packet has a special timestamp.
        """
        if self._is_aligned:
            return self._look_aligned()
        base = self.inputs[self._base]
        if base.queue:
            self._align(base.queue[0].stamp)
            return base.queue[0].stamp
        self.waits_at = base.bound
        return NOT_READY

    def _align(self, base_at: int) -> None:
        """Move each stream's oldest packet to the base's; the offsets are fixed once no stream is empty."""
        for position, stream in enumerate(self.inputs):
            if stream.queue and position != self._base:
                self._check_ordinary(self.inputs[self._base], base_at)
                self._check_ordinary(stream, stream.queue[0].stamp)
                self._offsets[position] = base_at - stream.queue[0].stamp
        self._is_aligned = all(stream.queue for stream in self.inputs)

    def _check_ordinary(self, stream: InputStream, t: int) -> None:
        if not MIN <= t <= MAX:
            node = reading_node(self.inputs).name
            raise TimestampError(
                f"node {node!r}: stream {stream.name!r} has a packet at {show(t)}, which cannot be moved to "
                "another clock; only timestamps from Timestamp.MIN to Timestamp.MAX can",
                node=node,
                stream=stream.name,
                timestamp=t,
            )

    def _look_aligned(self) -> int:
        least_packet = least_bound = DONE
        for stream, offset in zip(self.inputs, self._offsets, strict=True):
            if stream.queue:
                least_packet = min(least_packet, _moved(stream.queue[0].stamp, offset))
            else:
                least_bound = min(least_bound, _moved(stream.bound, offset))
        if least_bound > least_packet:
            return least_packet
        if least_bound == DONE:
            return READY_FOR_CLOSE
        self.waits_at = least_bound
        return NOT_READY

    def blocking(self) -> Sequence[InputStream]:
        """Return the base before streams are aligned, then the streams not settled at the oldest packet."""
        if not self._is_aligned:
            return [self.inputs[self._base]]
        moved = [
            (stream, _moved(stream.head_or_bound(), offset))
            for stream, offset in zip(self.inputs, self._offsets, strict=True)
        ]
        head = min((t for stream, t in moved if stream.queue), default=POSTSTREAM)
        return [stream for stream, t in moved if not stream.queue and t <= head]

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the packets at `timestamp` of the base's clock, and give them that timestamp."""
        if not self._is_aligned:
            base = inputs[self._base]
            base.fill(base.stream.pop())
            return
        for port, offset in zip(inputs, self._offsets, strict=True):
            queue = port.stream.queue
            # compared as in `look`: at the ends of the range several timestamps of a stream become one
            if queue and _moved(queue[0].stamp, offset) == timestamp:
                port.fill(port.stream.pop().at(timestamp))
            else:
                port.fill(Packet(timestamp=timestamp))


def _moved(t: int, offset: int) -> int:
    """Return a timestamp or bound on the base's clock; special values do not change."""
    return shifted(t, offset) if MIN <= t <= MAX else t
