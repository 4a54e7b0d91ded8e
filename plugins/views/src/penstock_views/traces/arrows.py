"""From which write each read of a packet comes: the arrows of a trace.

A mark names a packet where it is written and where it is read, but the same mark may be written again
when the packet is gone. So a read belongs to the last write before it. An input policy that gives
packets other timestamps changes their marks; such a read belongs to the oldest packet of the same
stream and key that this reader has not had. Where records were lost, that could be a wrong one, so no write
is found.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
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
        #: A packet is written once, but for loops of timestamps: then there is a list, in the order of time.
        self._by_mark: Final[dict[Mark, Write | list[Write]]] = {}
        self._is_complete: Final = is_complete
        for mark, at_ns, track in writes:
            write = (at_ns, track)
            known = self._by_mark.setdefault(mark, write)
            if known is not write:
                self._by_mark[mark] = sorted([*_listed(known), write])
        #: Reader, stream and key → how many of these were given out.
        self._given: Final[dict[tuple[str, str, int], int]] = {}

    def before(self, at_ns: int, mark: Mark, reader: str) -> Write | None:
        """Return the write of a packet that `reader` had at `at_ns`; None where it is not known.

        To be called in the order of time.
        """
        written = _listed(self._by_mark.get(mark, []))
        found = bisect_right(written, at_ns, key=lambda one: one[0])
        if found:
            return written[found - 1]
        if not self._is_complete:
            return None
        stream, _, key = mark
        moved = self._by_key.get((stream, key), ())
        given = self._given.get((reader, stream, key), 0)
        if given == len(moved) or moved[given][0] > at_ns:
            return None
        self._given[reader, stream, key] = given + 1
        return moved[given]

    @cached_property
    def _by_key(self) -> dict[tuple[str, int], list[Write]]:
        """Stream and key → writes. Made where a packet was read at another timestamp."""
        found: dict[tuple[str, int], list[Write]] = {}
        for (stream, _, key), writes in self._by_mark.items():
            found.setdefault((stream, key), []).extend(_listed(writes))
        for writes in found.values():
            writes.sort()
        return found


def _listed(writes: Write | list[Write]) -> list[Write]:
    return writes if isinstance(writes, list) else [writes]
