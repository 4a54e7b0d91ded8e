"""The input policy that waits for late streams for a limited time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import NOT_READY, InputStreamHandler
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import UNSET
from penstock_stream_handlers.messages.timeout_pb2 import TimeoutOptions
from penstock_stream_handlers.tag_index import reading_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

#: The ledger's reason for packets that arrived after their input set was processed.
TOO_LATE: Final = "came after its time-out"


class Timeout(InputStreamHandler):
    """Keeps streams in step as the default policy does, but waits for a limited time.

    When the node has waited `timeout_ms` for the input set at a timestamp, every stream that is not
    settled there counts as empty, and the set is processed without it. Packets that such a stream brings
    later for that timestamp or an earlier one are dropped::

        A      1   2               3
        B      1          .      2 3        nothing for timeout_ms
        calls  1          2        3
        sees   A B        A        A B      b@2 is dropped

    In a graph::

        input_stream_handler {
          input_stream_handler: "Timeout"
          options { [penstock.TimeoutOptions.ext] { timeout_ms: 200 } }
        }

    Time is read from the graph's clock (`set_clock`). It is counted from the moment at which the idle node
    begins to wait for the set: each set has the whole time-out, so a stream that brings nothing slows the
    others down to one set per time-out. A full queue in front of the node is no deadlock while the time
    runs.

    The input sets depend on arrival, by design. Each stream stays in order, timestamps increase from call
    to call, and each packet is delivered or counted as dropped. Offsets, process bounds and the end are
    those of the default policy.

    Options: `timeout_ms`, in milliseconds, required, above 0.
    """

    depends_on_arrival = True

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run.

        Raises:
            InvalidArgumentError: `timeout_ms` is missing, not above 0, or infinite.
        """
        super().prepare(inputs)
        #: The timestamp whose set is to be processed as it is, or UNSET.
        self._given_up = UNSET
        #: Packets before this are dropped.
        self._gone_until = UNSET
        if self.inputs:  # a source has no inputs
            self.patience_s = self._timeout_ms() / 1000

    def _timeout_ms(self) -> float:
        options = self.options.get(TimeoutOptions)
        timeout_ms: float = options.timeout_ms
        if not 0 < timeout_ms < float("inf"):
            node = reading_node(self.inputs).name
            found = f"is {timeout_ms:g}" if options.HasField("timeout_ms") else "is missing"
            raise InvalidArgumentError(
                f"node {node!r}: timeout_ms {found}, but must be given as a number of milliseconds above 0; "
                "to wait without limit, use the default policy",
                node=node,
            )
        return timeout_ms

    def look(self) -> int:
        """Return the timestamp of the next input set, NOT_READY or READY_FOR_CLOSE; drops late packets."""
        for stream in self.inputs:
            stream.drop_below(self._gone_until, TOO_LATE)
        t = super().look()
        if t == NOT_READY and self.waits_with() == self._given_up:
            return self._given_up
        return t

    def lose_patience(self, timestamp: int) -> None:
        """Process the set at `timestamp` without the streams that are not settled there."""
        self._given_up = timestamp

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the packets that are queued at `timestamp`."""
        self._gone_until = timestamp + 1  # a complete set needs no such limit, but it does no harm
        self.sets[0].fill(timestamp, inputs)
