"""Feeding a graph from iterables, in order of time across its inputs.

Iterables are taken one packet ahead and never further, so they may be generators without end.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from penstock.engine.packet import Packet
from penstock.errors import InvalidArgumentError, WaitTimeoutError
from penstock.shown import shown
from penstock.timestamp import PRESTREAM, UNSET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from penstock.runtime.graph import CalculatorGraph


class Feed:
    """Feeds the inputs of a graph while a run is under way.

    Args:
        graph: with a run under way.
        inputs: graph input → packets, or pairs of timestamp and payload, in order.
        promises: whether the bound of an input is raised as soon as its next packet is known, and the input
            closed as soon as its end is known.
        paced: whether the graph is idle before the packets of the next timestamp are added.
        left: returns how many seconds a wait may take; None for no limit.
    """

    def __init__(
        self,
        graph: CalculatorGraph,
        inputs: Mapping[str, Iterable[object]],
        *,
        promises: bool,
        paced: bool,
        left: Callable[[], float | None],
    ) -> None:
        self._graph: Final = graph
        self._inputs: Final = [_Input(name, items) for name, items in inputs.items()]
        self._promises: Final = promises
        self._paced: Final = paced
        self._left: Final = left
        self._coming: Final[list[tuple[int, int]]] = []
        #: Whether an iterable is being asked for its next item: an exception is then its own.
        self.is_reading = False

    def run(self) -> None:
        """Add all packets.

        Raises:
            InvalidArgumentError: an item is neither a packet nor a pair.
            WaitTimeoutError: no time is left; checked without a wait too, since iterables may be endless.
            As `add_packet_to_input_stream` and `wait_until_idle`, and whatever an iterable raises.
        """
        for place in range(len(self._inputs)):
            self._go_to_next(place)
        while self._coming:
            if self._left() == 0:
                raise WaitTimeoutError("feeding the graph took longer than the time-out")
            self._add_all_at(self._coming[0][0])
            if self._paced:
                self._graph.wait_until_idle(self._left())

    def _add_all_at(self, stamp: int) -> None:
        coming = self._coming
        now: list[int] = []
        while coming and coming[0][0] == stamp:
            now.append(heapq.heappop(coming)[1])
        if self._promises:
            self._promise(stamp)
        for place in now:
            one = self._inputs[place]
            assert one.packet is not None  # it is in the queue  # noqa: S101
            self._graph.add_packet_to_input_stream(one.name, one.packet, timeout=self._left())
            one.promised = stamp + 1
        for place in now:
            self._go_to_next(place)

    def _promise(self, stamp: int) -> None:
        """Raise the bounds of the inputs whose next packet is later than `stamp`."""
        for later, place in self._coming:
            one = self._inputs[place]
            if one.promised <= stamp:
                self._graph.set_input_stream_timestamp_bound(one.name, Packet(timestamp=later).timestamp)
                one.promised = later

    def _go_to_next(self, place: int) -> None:
        one = self._inputs[place]
        self.is_reading = True
        one.packet = next(one.packets, None)
        self.is_reading = False
        if one.packet is not None:
            heapq.heappush(self._coming, (one.packet.stamp, place))
        elif self._promises:
            self._graph.close_input_stream(one.name)


class _Input:
    """The packets for one graph input: the next one, None at the end, and those after it."""

    __slots__ = ("name", "packet", "packets", "promised")

    def __init__(self, name: str, items: Iterable[object]) -> None:
        self.name: Final = name
        self.packets: Final = (feed_packet(name, number, item) for number, item in enumerate(items))
        self.packet: Packet | None = None
        self.promised = PRESTREAM


def check_iterable(name: str, items: object) -> None:
    """Raise InvalidArgumentError if the object given for a graph input is no iterable."""
    if not hasattr(items, "__iter__") and not hasattr(items, "__getitem__"):
        raise InvalidArgumentError(
            f"graph input {name!r}: {shown(items)} is no iterable of packets to feed; write [(timestamp, "
            "payload)]",
            stream=name,
        )


def feed_packet(name: str, number: int, item: object) -> Packet:
    """Return an item of an input as a packet.

    Args:
        name: of the graph input, for error messages.
        number: of the item, counted from 0, for error messages.
        item: a Packet, or a pair of timestamp and payload.

    Raises:
        InvalidArgumentError: it is neither, or has no timestamp.
    """
    try:
        packet = item if isinstance(item, Packet) else _pair(item)
    except (TypeError, ValueError):
        packet = None
    if packet is None or packet.stamp == UNSET:
        raise InvalidArgumentError(
            f"graph input {name!r}, item {number}: {shown(item)} cannot be fed: it is neither a Packet with "
            "a timestamp nor a pair of timestamp and payload; write (timestamp, payload), the timestamp a "
            "whole number",
            stream=name,
        )
    return packet


def _pair(item: object) -> Packet | None:
    if not isinstance(item, (tuple, list)):
        return None
    timestamp, payload = item
    return Packet(payload, timestamp)
