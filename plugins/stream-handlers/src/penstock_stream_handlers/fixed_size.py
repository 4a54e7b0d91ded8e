"""The input policy of slow nodes on live streams: old packets are dropped in favour of new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import DONE, MAX, MIN, UNSET, next_allowed
from penstock_stream_handlers.messages.fixed_size_pb2 import FixedSizeInputStreamHandlerOptions
from penstock_stream_handlers.tag_index import reading_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

#: The ledger's reason for packets that were cut away.
SURPLUS: Final = "newer packets waited"


class FixedSizeInputStreamHandler(InputStreamHandler):
    """Keeps streams in step as the default policy does, but cuts queues that grow too long.

    When a stream holds `trigger_queue_size` packets (2), it is cut to its newest `target_queue_size`
    (1), and every other stream loses the packets older than those: a timestamp is dropped on all streams
    or on none. A slow node therefore always works on the newest packets::

        A      0 1 2 3 .
        runs   0-----> 3 ->      1 and 2 are dropped
        calls  0       3

    With `fixed_min_size` queues are cut only when every stream holds `trigger_queue_size` packets, to
    the earliest timestamp at which some stream's newest `target_queue_size` begin.

    An input set is chosen when the node starts to run, which may be later than when it became ready:
    the packets that have arrived meanwhile are cut too. `cc.input_timestamp` is then still the one at
    which the node became ready; the packets' own timestamps are newer. At least the newest timestamp
    that was settled on all streams is kept.

    The input sets depend on arrival and on the speed of the node, by design. Each stream stays in order,
    and each packet is delivered or counted as dropped.

    Source of the rules: MediaPipe `framework/stream_handler/fixed_size_input_stream_handler.cc`. The
    reference keeps the time before which packets are dropped for the next run; this policy does not.
    """

    depends_on_arrival = True
    sees_every_packet = True
    takes_late = True

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run.

        Raises:
            InvalidArgumentError: with these options no packet would be delivered.
        """
        super().prepare(inputs)
        options = self.options.get(FixedSizeInputStreamHandlerOptions)
        self._trigger: int = options.trigger_queue_size
        self._target: int = options.target_queue_size
        self._cuts_all: bool = options.fixed_min_size
        #: Packets before this are dropped. Only `fill` lowers it, to keep one packet.
        self._kept_from = UNSET
        #: Whether the node is ready and has not taken its input set.
        self._is_pending = False
        if self.inputs:
            self._check_options()

    def _check_options(self) -> None:
        if self._trigger < 1:
            self._refuse("trigger_queue_size", self._trigger, 1)
        least = 1 if self._cuts_all or self._trigger == 1 else 0
        if self._target < least:
            self._refuse("target_queue_size", self._target, least)

    def _refuse(self, option: str, value: int, least: int) -> None:
        node = reading_node(self.inputs).name
        raise InvalidArgumentError(
            f"node {node!r}: {option} is {value}, but a fixed size must be {least} or more, or no packet "
            "would come through",
            node=node,
        )

    def look(self) -> int:
        """Return the timestamp at which the node is ready, NOT_READY or READY_FOR_CLOSE; cuts queues."""
        if self._is_pending:
            return NOT_READY
        self._cut(keep_one=False)
        only = self.sets[0]
        t = only.look()
        while NOT_READY < t < self._kept_from:  # bounds that settled timestamps that were cut away
            only.last = t
            t = only.look()
        self.waits_at = only.waits_at
        self._is_pending = t not in (NOT_READY, READY_FOR_CLOSE)
        return t

    def packets_came(self) -> None:
        """Cut queues while the node runs: a full queue would throttle a live source."""
        if not self._is_pending:
            self._cut(keep_one=False)

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Cut queues once more, and take the packets of the oldest timestamp left."""
        self._is_pending = False
        self._cut(keep_one=True)
        only = self.sets[0]
        only.fill(min(map(_oldest_or_settled, self.inputs)), inputs)
        only.last = timestamp  # what the node has seen; newer settled timestamps are still to come

    def _cut(self, *, keep_one: bool) -> None:
        if self._cuts_all:
            kept_from = self._surplus_of_all()
        else:
            kept_from = max(self._kept_from, self._surplus_of_any())
            if keep_one:
                kept_from = min(kept_from, *map(_newest_or_settled, self.inputs))
            self._kept_from = kept_from
        for stream in self.inputs:
            stream.drop_below(kept_from, SURPLUS)

    def _surplus_of_any(self) -> int:
        """Return the latest end of the surplus on any stream; UNSET where no stream has a surplus."""
        kept_from = UNSET
        for stream in self.inputs:
            count = len(stream.queue)
            if count >= self._trigger and count > self._target:
                kept_from = max(kept_from, next_allowed(stream.queue[-self._target - 1].stamp))
        return kept_from

    def _surplus_of_all(self) -> int:
        """Return the earliest time at which a stream's newest packets begin; UNSET while one has too few."""
        kept_from = DONE
        for stream in self.inputs:
            count = len(stream.queue)
            if count < self._trigger:
                return UNSET
            kept_from = min(kept_from, stream.queue[-min(self._target, count)].stamp)
        return kept_from


def _before(bound: int) -> int:
    """Return the last time below a bound; special values stay: a finished stream delays nothing."""
    return bound - 1 if MIN < bound <= MAX else bound


def _oldest_or_settled(stream: InputStream) -> int:
    return stream.queue[0].stamp if stream.queue else _before(stream.bound)


def _newest_or_settled(stream: InputStream) -> int:
    return _before(next_allowed(stream.queue[-1].stamp) if stream.queue else stream.bound)
