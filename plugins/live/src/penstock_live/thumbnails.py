"""Thumbnails of streams on demand: of a stream that nobody looks at no packet is taken.

However many clients ask, at most two a second are made of each stream; in between they get the last one.
"""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock_live.helpers import Helpers
from penstock_live.thumbnail import Thumbnail, thumbnail

if TYPE_CHECKING:
    from penstock import Packet
    from penstock_live.feed import Watched

#: How old a thumbnail may be that is given out again.
FRESH_S: Final = 0.5
#: How long to wait for a packet that passes; then the last one is taken.
_WAIT_S: Final = 0.3
_THREADS: Final = 4


class Thumbnails:
    """Makes thumbnails, on threads of its own.

    Args:
        monitor: gives the packets.
    """

    def __init__(self, monitor: Watched) -> None:
        self._monitor: Final = monitor
        self._helpers: Final = Helpers(_THREADS, "penstock-live-thumbnail")
        #: Stream → when its newest thumbnail was begun, and the thumbnail.
        self._newest: Final[dict[str, tuple[float, asyncio.Future[Thumbnail]]]] = {}
        #: Stream → the packet that was shown last, and how.
        self._shown: Final[dict[str, tuple[Packet | None, Thumbnail]]] = {}

    async def of(self, stream: str) -> Thumbnail:
        """Return the newest thumbnail of a stream.

        Raises:
            NotFoundError: the graph has no such stream.
            PenstockError: whatever else the monitor raises.
        """
        began, found = self._newest.get(stream, (0.0, None))
        if found is None or (found.done() and monotonic() - began >= FRESH_S):
            found = self._helpers.call(partial(self._make, stream))
            self._newest[stream] = (monotonic(), found)
        try:
            return await asyncio.shield(found)
        except Exception:
            self._newest.pop(stream, None)  # names that are no streams are not kept
            raise

    def close(self) -> None:
        """Make no more. Those under way are finished."""
        self._helpers.close()

    def _make(self, stream: str) -> Thumbnail:
        packet = self._monitor.peek(stream, timeout=_WAIT_S)
        before = self._shown.get(stream)
        if before is not None and before[0] is packet:
            return before[1]
        made = thumbnail(packet)
        self._shown[stream] = (packet, made)
        return made
