"""The input policy of nodes that take each packet as it arrives, without waiting for other streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet
from penstock.lowlevel import DONE, MAX, UNSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream


class ImmediateInputStreamHandler(InputStreamHandler):
    """Makes the node ready as soon as any stream has a packet; no stream waits for another.

    Each stream is in order. Between streams the earliest queued packet goes first, and queued packets of
    one timestamp are delivered together; so `cc.input_timestamp` may repeat or go back from one call to
    the next, and results depend on the order of arrival::

        arrives  b@2   a@1   c@3     a@5 b@5 c@5 while the node runs
        calls    2     1     3       5
                 b     a     c       abc

    A stream that ends while others are open causes one call without packets, at the smallest bound of
    the others (the reference does so, and calculators rely on it). The node closes when all streams
    are done.

    With process bounds a newly settled timestamp of any stream makes the node ready too, and the end
    of each stream is one call at MAX instead, if that was not processed before::

        b        1 done
        a c      .         done
        calls    1   MAX   MAX   close

    A node that writes two inputs to one output stream, or has a timestamp offset and more than one
    stream, fails when packets arrive in an order that makes the timestamps of its output go back.

    Source of the rules: MediaPipe `framework/stream_handler/immediate_input_stream_handler.cc`.
    """

    depends_on_arrival = True

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run."""
        super().prepare(inputs)
        #: For each stream the timestamp at which it was found ready and not yet taken; DONE once the node
        #: has seen its end, UNSET where `look` must ask it again.
        self._found = [UNSET] * len(self.inputs)

    def sync_sets(self) -> Sequence[Sequence[int]]:
        """Return one set for each stream."""
        return [[position] for position in range(len(self.inputs))]

    def look(self) -> int:
        """Return the earliest timestamp at which a stream is ready, NOT_READY or READY_FOR_CLOSE."""
        ready_at = least = DONE
        has_ended = False
        for position, found in enumerate(self._found):
            t = found
            if found == UNSET:
                t = self._found[position] = self._look_at(position)
                has_ended = has_ended or t == DONE
            if t == NOT_READY:
                least = min(least, self.sets[position].waits_at)
            else:
                ready_at = min(ready_at, t)
                least = min(least, t)
        if least == DONE:
            return READY_FOR_CLOSE
        if ready_at < DONE:
            return ready_at
        if has_ended and not self.process_bounds:
            return least
        self.waits_at = least
        return NOT_READY

    def _look_at(self, position: int) -> int:
        """Return the time at which a stream is ready, DONE if its end needs no call, or NOT_READY (UNSET)."""
        one = self.sets[position]
        last = one.last
        t = one.look()
        return MAX if t == READY_FOR_CLOSE and self.process_bounds and last < MAX else t

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the packet of every stream that was found ready at `timestamp`."""
        for position, port in enumerate(inputs):
            if self._found[position] == timestamp:
                self._found[position] = UNSET
                self.sets[position].fill(timestamp, inputs)
            else:
                port.fill(Packet(timestamp=port.stream.settled()))
