"""The input policy that delivers complete input sets only: a packet from every stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
from penstock.lowlevel import ONE_OVER_POSTSTREAM, UNSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input

#: The ledger's reason for packets whose timestamp some stream left out.
NO_PARTNER: Final = "no partner on every stream"


class InnerJoin(InputStreamHandler):
    """Makes the node ready at each timestamp at which every stream has a packet, and at no other.

    A packet whose timestamp another stream has passed, by a later packet or by its bound, is dropped at
    once. The node closes as soon as any stream is done, since no further set can be complete; packets
    that the other streams hold are dropped::

        A      1  2  .  4  5
        B      1  .  3  4  .  done
        calls  1        4     close
        A sees a1       a4
        B sees b1       b4           a2, b3 and a5 are dropped

    In a graph::

        input_stream_handler { input_stream_handler: "InnerJoin" }

    The input sets do not depend on the order of arrival. Settled timestamps without packets never make
    the node ready, not even with process bounds.
    """

    def look(self) -> int:
        """Return the timestamp of a complete set, NOT_READY or READY_FOR_CLOSE; drops unpaired packets."""
        while True:
            first, last, is_complete = self._heads()
            if is_complete and first == last:
                return last
            # sets before `last` lack the stream of `last`
            if first == last or not sum([one.drop_below(last, NO_PARTNER) for one in self.inputs]):
                break
        if last >= ONE_OVER_POSTSTREAM:
            return READY_FOR_CLOSE
        self.waits_at = last
        return NOT_READY

    def _heads(self) -> tuple[int, int, bool]:
        """Return the least and the greatest of all heads or bounds, and whether every stream has a packet."""
        first, last, is_complete = ONE_OVER_POSTSTREAM, UNSET, True
        for stream in self.inputs:
            queue = stream.queue
            t = queue[0].stamp if queue else stream.bound
            is_complete = is_complete and bool(queue)
            if t < first:  # min() and max() cost a call  # noqa: PLR1730
                first = t
            if t > last:  # noqa: PLR1730
                last = t
        return first, last, is_complete

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:  # noqa: ARG002  # all heads are there
        """Take the oldest packet of every stream; `look` has found them at one timestamp."""
        for port in inputs:
            port.fill(port.stream.pop())
