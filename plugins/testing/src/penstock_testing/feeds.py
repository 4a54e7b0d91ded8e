"""Random legal feeds for graph inputs: packets, bounds, gaps, early ends, for conformance tests.

A feed is data, and a seed always gives the same one: for each graph input its events, in order. The order
in which the inputs take turns is not part of it. Small seeds give small feeds, so that the first seed that
fails is easy to read.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

import attrs

from penstock import Timestamp
from penstock.lowlevel import MAX, MIN, ONE_OVER_POSTSTREAM, POSTSTREAM, PRESTREAM, next_allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from penstock_testing.payloads import Maker

PACKET: Final = "packet"
BOUND: Final = "bound"
END: Final = "end"

#: One feed of so many has packets at PRESTREAM or POSTSTREAM only.
_ALONE: Final = 7
_NAMED: Final = {
    int(stamp): stamp for stamp in (Timestamp.PRESTREAM, Timestamp.MIN, Timestamp.MAX, Timestamp.POSTSTREAM)
} | {ONE_OVER_POSTSTREAM: Timestamp.ONE_OVER_POSTSTREAM}


@attrs.frozen(eq=False)
class Event:
    """One thing that happens on a graph input."""

    #: PACKET, BOUND or END.
    kind: str
    #: The packet's timestamp, or the bound; DONE for an end.
    at: Timestamp = Timestamp.DONE
    #: The payload of a packet.
    payload: object = None

    def call(self, stream: str) -> str:
        """Return the line of code that brings it to a ScheduleHarness."""
        at = next(
            (
                f"Timestamp.{n}"
                for n in ("PRESTREAM", "MIN", "MAX", "POSTSTREAM", "ONE_OVER_POSTSTREAM")
                if self.at == getattr(Timestamp, n)
            ),
            str(int(self.at)),
        )
        if self.kind == PACKET:
            payload = " ".join(repr(self.payload).split())  # the repr of a message has several lines
            return f"harness.add({stream!r}, {payload}, {at})"
        return (
            f"harness.set_bound({stream!r}, {at})"
            if self.kind == BOUND
            else f"harness.close_input({stream!r})"
        )


def make_feed(
    seed: int, makers: Mapping[str, Maker], prestream: Collection[str] = (), *, ends_of_time: bool = True
) -> dict[str, list[Event]]:
    """Return the events of each graph input.

    Args:
        seed: decides everything; its last digits decide the size and the kind of timestamps.
        makers: graph input → maker of its payloads.
        prestream: graph inputs that have at most one packet, at PRESTREAM.
        ends_of_time: whether MIN and MAX are among the timestamps.
    """
    order = random.Random(seed)  # noqa: S311  # a test's choice
    kind = _TIMELINES[seed % len(_TIMELINES)]
    timeline = (kind if kind is not _far or ends_of_time else _gaps)(order, 1 + seed % 9)
    # independent streams seldom have packets at the same timestamps, which most calculators are for
    is_complete = order.random() < 0.5  # noqa: PLR2004  # shares of the whole, here and below
    if seed % _ALONE == _ALONE - 1:
        # for all streams: a packet at either of these must be alone, also on a stream made of several
        timeline = [order.choice([PRESTREAM, POSTSTREAM])]
    feed: dict[str, list[Event]] = {}
    for stream, maker in makers.items():
        if stream in prestream:
            events = _complete(order, [PRESTREAM] * order.randrange(2), maker)
        elif is_complete:
            events = _complete(order, timeline, maker)
        else:
            events = _events(order, timeline, maker)
        feed[stream] = list(events)
    return feed


def _complete(order: random.Random, timeline: list[int], maker: Maker) -> Iterator[Event]:
    for stamp in timeline:
        at = _timestamp(stamp)
        yield Event(PACKET, at, maker(order, at))
    yield Event(END)


def _events(order: random.Random, timeline: list[int], maker: Maker) -> Iterator[Event]:
    share = order.choice([0.0, 0.3, 0.7, 1.0, 1.0])
    last = order.randrange(len(timeline) + 1) if order.random() < 0.25 else len(timeline)  # noqa: PLR2004
    bound = PRESTREAM
    for stamp in timeline[:last]:
        if order.random() < 0.2 and bound < stamp:  # noqa: PLR2004
            bound = stamp if order.random() < 0.5 or not MIN < stamp < MAX else max(bound, stamp - 1)  # noqa: PLR2004
            if bound >= MIN:
                yield Event(BOUND, _timestamp(bound))
        if order.random() < share:
            at = _timestamp(stamp)
            yield Event(PACKET, at, maker(order, at))
            bound = next_allowed(stamp)
    yield Event(END)


def _timestamp(number: int) -> Timestamp:
    return _NAMED.get(number) or Timestamp(number)


def _dense(order: random.Random, size: int) -> list[int]:
    start = order.choice([0, 0, 1, -2])
    return list(range(start, start + size))


def _gaps(order: random.Random, size: int) -> list[int]:
    return sorted(order.sample(range(-50, 1_000), size))


def _seconds(order: random.Random, size: int) -> list[int]:
    """Return microseconds of today's order of magnitude, about 30 a second."""
    start = 1_700_000_000_000_000 + order.randrange(1_000)
    return [start + i * 33_333 + order.randrange(50) for i in range(size)]


def _far(order: random.Random, size: int) -> list[int]:
    """Return timestamps with the ends of the range among them."""
    return sorted({MIN, MAX, *order.sample(range(-9, 10), size)})


_TIMELINES: Final[tuple[Callable[[random.Random, int], list[int]], ...]] = (
    _dense,
    _gaps,
    _dense,
    _seconds,
    _far,
)
