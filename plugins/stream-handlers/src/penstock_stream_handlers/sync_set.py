"""The input policy that keeps streams in step within sets, and lets the sets run freely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import InputStreamHandler
from penstock.errors import InvalidArgumentError
from penstock_stream_handlers.messages.sync_set_pb2 import SyncSetInputStreamHandlerOptions
from penstock_stream_handlers.tag_index import position_of, reading_node

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTION: Final = "sync_set"


class SyncSetInputStreamHandler(InputStreamHandler):
    """Keeps the streams of each set in step as the default policy does; sets do not wait for each other.

    Each call gets packets of exactly one set. Timestamps increase within a set, but not from call to
    call. Where several sets are ready the earliest timestamp goes first; where timestamps are equal, the
    earlier set in the options. The node closes when all sets are done::

        A     1 . 5              set A B
        B     . . 5
        C     . 2 . .            set C
        calls 2   1   5
              C   A   AB

    Options: each `sync_set` lists streams by `tag_index`; streams that no set lists form one more set,
    the last. The input sets of one sync set do not depend on the order of arrival; the order in which
    the sets take turns does.

    Source of the rules: MediaPipe `framework/stream_handler/sync_set_input_stream_handler.cc`. In the
    reference a set that is ready but not chosen can lose a settled timestamp; here it keeps it.
    """

    depends_on_arrival = True

    def sync_sets(self) -> Sequence[Sequence[int]]:
        """Return the sets of the options, and one of all other streams.

        Raises:
            InvalidArgumentError: a set is empty, or a stream is listed twice.
            NotFoundError: a stream is listed that the node does not have.
        """
        if not self.inputs:  # a source has no inputs
            return []
        sets: list[list[int]] = []
        free = list(range(len(self.inputs)))
        for one in self.options.get(SyncSetInputStreamHandlerOptions).sync_set:
            positions = [position_of(tag_index, self.inputs, _OPTION) for tag_index in one.tag_index]
            if not positions:
                raise self._refused("a sync_set lists no stream; name at least one by tag_index")
            for position in positions:
                if position not in free:
                    name = self.inputs[position].name
                    raise self._refused(f"stream {name!r} is listed twice; list it in one set", name)
                free.remove(position)
            sets.append(positions)
        return [*sets, free] if free else sets

    def _refused(self, why: str, stream: str | None = None) -> InvalidArgumentError:
        node = reading_node(self.inputs).name
        return InvalidArgumentError(f"node {node!r}: {_OPTION}: {why}", node=node, stream=stream)
