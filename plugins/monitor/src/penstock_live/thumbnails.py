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
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from penstock import Packet
    from penstock_live.feed import Watched
    from penstock_monitor import Budget

    #: What is shown of a stream: a thumbnail as JSON, or a card that says why there is none.
    Card: TypeAlias = msgspec.Raw | dict[str, str]
    Cards: TypeAlias = dict[str, Card]
    #: A stream, and the most pixels of a side of its picture.
    Wanted: TypeAlias = tuple[str, int]

#: The most pixels of a side of a picture: in a strip, in a card, large, and as large as the whole screen.
SIZES: Final = (160, 320, 640, 1280)
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
        #: Stream and size → when its newest thumbnail was begun, and what will be the thumbnails that were
        #: begun then.
        self._newest: Final[dict[Wanted, tuple[float, asyncio.Future[Cards]]]] = {}
        #: Stream and size → the packet that was shown last, and how.
        self._shown: Final[dict[Wanted, tuple[Packet | None, msgspec.Raw]]] = {}

    async def of(self, streams: Mapping[str, int]) -> bytes:
        """Return thumbnails as JSON: {"again_s": ..., "kept": [stream, ...], "thumbnails": {stream: card}}.

        Before `again_s` seconds have passed there are no newer ones. The thumbnails of `kept` were begun
        before this request, so a packet that came in between is not in them. Of a stream that there is not,
        or whose packets cannot be had, the card says why.

        Args:
            streams: name → the most pixels of a side of its picture, one of `SIZES`.

        Raises:
            UnavailableError: `close` was called.
        """
        fresh_s = max(FRESH_S, self._budget.cycle_s())
        begun = [wanted for wanted in streams.items() if not self._is_fresh(wanted, fresh_s)]
        self._begin(begun)
        under_way = {wanted: self._newest[wanted][1] for wanted in streams.items()}
        cards = {wanted[0]: (await asyncio.shield(made))[wanted[0]] for wanted, made in under_way.items()}
        for stream, card in cards.items():
            if isinstance(card, dict):
                self._newest.pop((stream, streams[stream]), None)  # names that are no streams are not kept
        kept = [stream for stream, pixels in streams.items() if (stream, pixels) not in begun]
        return msgspec.json.encode({"again_s": fresh_s, "kept": kept, "thumbnails": cards})

    def _is_fresh(self, wanted: Wanted, fresh_s: float) -> bool:
        began, made = self._newest.get(wanted, (0.0, None))
        return made is not None and (not made.done() or monotonic() - began < fresh_s)

    def _begin(self, wanted: Sequence[Wanted]) -> None:
        """Make the thumbnails of streams, all on one thread: each switch of threads slows the graph."""
        if wanted:
            made = self._helpers.call(partial(self._make, dict(wanted)))
            self._newest.update(dict.fromkeys(wanted, (monotonic(), made)))

    def close(self) -> None:
        """Make no more. Those under way are finished."""
        self._helpers.close()

    def _make(self, streams: Mapping[str, int]) -> Cards:
        began_s = thread_time()
        packets = self._monitor.peek_all(list(streams), timeout=_WAIT_S)
        cards = {stream: self._card((stream, streams[stream]), packet) for stream, packet in packets.items()}
        for stream, pixels in streams.items():
            self._budget.spent(f"{pixels} pixels of {stream}", (thread_time() - began_s) / len(streams))
        return cards

    def _card(self, wanted: Wanted, packet: Packet | PenstockError | None) -> Card:
        if isinstance(packet, PenstockError):
            return error_card(packet)
        before = self._shown.get(wanted)
        if before is not None and before[0] is packet:
            return before[1]
        made = msgspec.Raw(msgspec.json.encode(thumbnail(packet, wanted[1]).card()))
        self._shown[wanted] = (packet, made)
        return made
