"""The input policy that pairs packets by their order of arrival, whatever their timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream


class BarrierInputStreamHandler(InputStreamHandler):
    """Makes the node ready when every stream has a packet, and takes the oldest of each.

    It ignores timestamps: packets keep theirs, they may come in any order, and a stream that only
    barriers read is not checked for order. `cc.input_timestamp` is the smallest timestamp of the packets
    taken. The node closes when any stream is done; packets that the other streams hold are dropped::

        a        10  30  20
        b        0   1   done
        c        0   0   5
        calls    0   0   close
                 a10 a30
                 b0  b1
                 c0  c0

    The input sets do not depend on the order in which streams get their packets.

    Source of the rules: MediaPipe `framework/stream_handler/barrier_input_stream_handler.cc`.
    """

    ignores_timestamps = True

    def look(self) -> int:
        """Return the smallest of the oldest timestamps, NOT_READY or READY_FOR_CLOSE."""
        if any(stream.is_done() for stream in self.inputs):
            return READY_FOR_CLOSE
        least = min(stream.head_or_bound() for stream in self.inputs)
        if all(stream.queue for stream in self.inputs):
            return least
        self.waits_at = least
        return NOT_READY

    def blocking(self) -> Sequence[InputStream]:
        """Return the streams without a packet."""
        return [stream for stream in self.inputs if not stream.queue]

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:  # noqa: ARG002  # packets keep theirs
        """Take the oldest packet of every stream."""
        for port in inputs:
            port.fill(port.stream.pop())
