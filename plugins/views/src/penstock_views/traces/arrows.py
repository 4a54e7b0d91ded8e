"""From which write each read of a packet comes: the arrows of a trace.

A mark names a packet where it is written and where it is read, but the same mark may be written again
when the packet is gone. So a read belongs to the last write before it. An input policy that gives
packets other timestamps changes their marks; such a read belongs to the oldest packet of the same
stream and key that this reader has not had. Where records were lost, that could be a wrong one, so no write
is found.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.tracing import Mark

#: When a packet was written, in nanoseconds, and on which track.
Write: TypeAlias = tuple[int, int]


class Writes:
    """The packets that were written in one run.

    Args:
        writes: mark, moment and track of each.
        is_complete: whether no record was lost.
    """

    def __init__(self, writes: Iterable[tuple[Mark, int, int]], *, is_complete: bool) -> None:
        self._by_mark: dict[Mark, list[Write]] = {}
        self._by_key: dict[tuple[str, int], list[Write]] | None = {} if is_complete else None
        for mark, at_ns, track in sorted(writes, key=lambda one: one[1]):
            write = (at_ns, track)
            self._by_mark.setdefault(mark, []).append(write)
            if self._by_key is not None:
                self._by_key.setdefault((mark[0], mark[2]), []).append(write)
        #: Reader, stream and key → how many of these were given out.
        self._given: Final[dict[tuple[str, str, int], int]] = {}

    def before(self, at_ns: int, mark: Mark, reader: str) -> Write | None:
        """Return the write of a packet that `reader` had at `at_ns`; None where it is not known.

        To be called in the order of time.
        """
        written = self._by_mark.get(mark, ())
        found = bisect_right(written, at_ns, key=lambda one: one[0])
        if found:
            return written[found - 1]
        if self._by_key is None:
            return None
        stream, _, key = mark
        moved = self._by_key.get((stream, key), ())
        given = self._given.get((reader, stream, key), 0)
        if given == len(moved) or moved[given][0] > at_ns:
            return None
        self._given[reader, stream, key] = given + 1
        return moved[given]
