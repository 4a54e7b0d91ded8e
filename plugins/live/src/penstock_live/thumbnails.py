"""Thumbnails of streams on demand: of a stream that nobody looks at no packet is taken.

However many clients ask, at most two a second are made of each stream, and fewer if the budget asks for that;
in between they get the last one.
"""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Final

import msgspec

from penstock.errors import PenstockError
from penstock_live.helpers import Helpers
from penstock_live.thumbnail import error_card, thumbnail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Packet
    from penstock_live.feed import Watched
    from penstock_monitor import Budget

#: How old a thumbnail may be that is given out again.
FRESH_S: Final = 0.5
#: How long to wait for a packet that passes; then the last one is taken.
_WAIT_S: Final = 0.3
_THREADS: Final = 4


class Thumbnails:
    """Makes thumbnails, on threads of its own.

    Args:
        monitor: gives the packets.
        budget: of all that looks at the graph.
    """

    def __init__(self, monitor: Watched, budget: Budget) -> None:
        self._monitor: Final = monitor
        self._budget: Final = budget
        self._helpers: Final = Helpers(_THREADS, "penstock-live-thumbnail")
        #: Stream → when its newest thumbnail was begun, and the thumbnail as JSON.
        self._newest: Final[dict[str, tuple[float, asyncio.Future[msgspec.Raw]]]] = {}
        #: Stream → the packet that was shown last, and how.
        self._shown: Final[dict[str, tuple[Packet | None, msgspec.Raw]]] = {}

    async def of(self, streams: Sequence[str]) -> bytes:
        """Return the newest thumbnails of streams as JSON: {"again_s": ..., "thumbnails": {stream: card}}.

        Before `again_s` seconds have passed there are no newer ones. Of a stream that there is not, or whose
        packets cannot be had, the card says why.
        """
        fresh_s = max(FRESH_S, self._budget.cycle_s())
        cards = await asyncio.gather(*(self._card(stream, fresh_s) for stream in streams))
        return msgspec.json.encode({"again_s": fresh_s, "thumbnails": dict(zip(streams, cards, strict=True))})

    async def _card(self, stream: str, fresh_s: float) -> msgspec.Raw | dict[str, str]:
        began, found = self._newest.get(stream, (0.0, None))
        if found is None or (found.done() and monotonic() - began >= fresh_s):
            found = self._helpers.call(partial(self._make, stream))
            self._newest[stream] = (monotonic(), found)
        try:
            return await asyncio.shield(found)
        except PenstockError as error:
            self._newest.pop(stream, None)  # names that are no streams are not kept
            return error_card(error)

    def close(self) -> None:
        """Make no more. Those under way are finished."""
        self._helpers.close()

    def _make(self, stream: str) -> msgspec.Raw:
        began_s = thread_time()
        packet = self._monitor.peek(stream, timeout=_WAIT_S)
        before = self._shown.get(stream)
        if before is not None and before[0] is packet:
            made = before[1]
        else:
            made = msgspec.Raw(msgspec.json.encode(thumbnail(packet).card()))
            self._shown[stream] = (packet, made)
        self._budget.spent(f"thumbnail of {stream}", thread_time() - began_s)
        return made
