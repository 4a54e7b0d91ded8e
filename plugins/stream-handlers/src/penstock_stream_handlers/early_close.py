"""The input policy of nodes in cycles: as the default one, but any finished stream ends the node."""

from __future__ import annotations

from penstock import READY_FOR_CLOSE, InputStreamHandler


class EarlyCloseInputStreamHandler(InputStreamHandler):
    """Keeps all streams in step as the default policy does, and closes when any one is done.

    In a cycle the stream that loops back ends only after this node has closed; so the node closes when
    the stream from outside the cycle is done::

        integers  1 2 3 done
        old_sum   0 1 3 (6)
        sets      1 2 3 close

    Packets that other streams still hold are dropped. So what the node still sees depends on the order of
    arrival: a packet that is settled on all streams is seen if it arrives before the first of them is done,
    and dropped if it arrives later. In any order the packets of each stream come in order, the ledger counts
    those that are dropped, as "the reader had closed", and the node closes. Source of the rule: MediaPipe
    `framework/stream_handler/early_close_input_stream_handler.cc`.
    """

    depends_on_arrival = True

    def look(self) -> int:
        """Return the timestamp at which the node is ready, NOT_READY or READY_FOR_CLOSE."""
        if any(stream.is_done() for stream in self.inputs):
            return READY_FOR_CLOSE
        return super().look()
