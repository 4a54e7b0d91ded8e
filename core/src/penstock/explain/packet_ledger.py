"""The ledger: where every packet of a run went.

For each reader of a stream: written - dropped at the writer = taken + dropped on the way + queued. The engine
counts while it runs; this module reads the counts under the run's lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from penstock.engine.packet import NO_PAYLOAD
from penstock.port_tags import port_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import OutputStream, Queue, StreamObserver

#: How often an observer that is being called is read, until nothing has changed meanwhile.
_ATTEMPTS: Final = 1000


@attrs.frozen
class Drop:
    """Packets that were thrown away for one reason in one place."""

    #: On which they were.
    stream: str
    #: "graph input", "node 'X'" for its writer, or the place of a reader.
    place: str
    #: Why, in words that stay the same.
    reason: str
    #: How many.
    count: int


@attrs.frozen
class LedgerCut:
    """Elements that a node has left out of lists because of a limit; the lists themselves went on."""

    #: On which the lists came.
    stream: str
    #: The place of the reader that cut them: `"node 'X' input 0"`.
    place: str
    #: Which limit, with the option's name and value.
    reason: str
    #: How many elements in all.
    count: int

    def __str__(self) -> str:
        noun = "element" if self.count == 1 else "elements"
        return f"cut {self.count} {noun} from lists on {self.stream!r} at {self.place}: {self.reason}"


@attrs.frozen
class ReaderAccount:
    """What became of a stream's packets at one reader."""

    #: `"node 'X' input 'TAG:1'"` or "node 'X' input 0", "observer", "poller" or "rows".
    place: str
    #: Name of the reading node; "" for the others.
    node: str
    #: Packets that it took and did not throw away.
    delivered: int
    #: Reason → number of packets thrown away on the way to it, or by it.
    dropped: dict[str, int]
    #: Packets that wait for it. Once the run is over: those that nobody took from a poller.
    in_flight: int
    #: Reason → number of elements that it left out of lists; their packets count as delivered.
    cut: dict[str, int] = attrs.field(factory=dict)

    @property
    def seen(self) -> int:
        """All packets that this reader accounts for."""
        return self.delivered + sum(self.dropped.values()) + self.in_flight


@attrs.frozen
class StreamAccount:
    """What became of the packets of one stream."""

    #: The name of the stream.
    name: str
    #: Its writer: "node 'X'" or "graph input".
    place: str
    #: Packets that were written.
    added: int
    #: Reason → number of them thrown away before any reader could see them.
    dropped: dict[str, int]
    #: Nodes in the order of the graph, then observers, pollers and rows.
    readers: tuple[ReaderAccount, ...]

    @property
    def adds_up(self) -> bool:
        """Whether every reader accounts for every packet that came through."""
        through = self.added - sum(self.dropped.values())
        return through >= 0 and all(reader.seen == through for reader in self.readers)

    @property
    def drops(self) -> tuple[Drop, ...]:
        """What was dropped, before and at the readers."""
        places = [(self.place, self.dropped), *((reader.place, reader.dropped) for reader in self.readers)]
        return tuple(
            Drop(self.name, place, reason, count)
            for place, dropped in places
            for reason, count in dropped.items()
        )

    @property
    def cuts(self) -> tuple[LedgerCut, ...]:
        """What readers have left out of the stream's lists."""
        return tuple(
            LedgerCut(self.name, reader.place, reason, count)
            for reader in self.readers
            for reason, count in reader.cut.items()
        )


@attrs.frozen
class Ledger:
    """Where the packets of a run went, or are. `str()` of it is a table.

    Totals count a packet once for each reader: with two readers one packet is added once and delivered
    twice. `added` less what was dropped before any reader equals the rest for each reader of a stream,
    not for the totals.
    """

    #: In the order of the plan, graph inputs first.
    streams: tuple[StreamAccount, ...]

    @property
    def adds_up(self) -> bool:
        """Whether every packet is accounted for, at every reader of every stream."""
        return all(stream.adds_up for stream in self.streams)

    @property
    def added(self) -> int:
        """Packets written to all streams."""
        return sum(stream.added for stream in self.streams)

    @property
    def delivered(self) -> int:
        """Packets that readers took, to use them."""
        return sum(reader.delivered for reader in self._readers())

    @property
    def dropped(self) -> int:
        """Packets that were thrown away, before and at the readers."""
        return sum(drop.count for drop in self.drops)

    @property
    def in_flight(self) -> int:
        """Packets that wait for readers."""
        return sum(reader.in_flight for reader in self._readers())

    @property
    def drops(self) -> tuple[Drop, ...]:
        """Everything that was thrown away: stream, place, reason and count."""
        return tuple(drop for stream in self.streams for drop in stream.drops)

    @property
    def cuts(self) -> tuple[LedgerCut, ...]:
        """What was left out of lists because of limits: stream, place, reason and count of elements."""
        return tuple(cut for stream in self.streams for cut in stream.cuts)

    def _readers(self) -> Iterator[ReaderAccount]:
        for stream in self.streams:
            yield from stream.readers

    def __str__(self) -> str:
        rows = [("stream", "place", "added", "delivered", "dropped", "in flight")]
        for stream in self.streams:
            before = sum(stream.dropped.values())
            rows.append((stream.name, stream.place, str(stream.added), "", str(before or ""), ""))
            for reader in stream.readers:
                dropped = str(sum(reader.dropped.values()) or "")
                waiting = str(reader.in_flight or "")
                rows.append(("", f"  to {reader.place}", "", str(reader.delivered), dropped, waiting))
        lines = _table(rows)
        lines.extend(f"dropped {d.count} of {d.stream!r} at {d.place}: {d.reason}" for d in self.drops)
        lines.extend(str(cut) for cut in self.cuts)
        wrong = [repr(stream.name) for stream in self.streams if not stream.adds_up]
        lines.append(f"does not add up: {', '.join(wrong)}" if wrong else "every packet is accounted for")
        return "\n".join(lines)


#: Why packets are dropped, as the ledger says it.
INTERRUPTED: Final = "an interrupt came in the middle of a change"
#: What rows are called as the place of a reader.
ROWS: Final = "rows"


def place_of(queue: Queue) -> str:
    """Return what a reader outside of the graph is called: observer, poller or rows."""
    if not getattr(queue, "is_poller", False):
        return "observer"
    return str(getattr(queue.target, "place", "poller"))  # type: ignore[attr-defined]  # it is an StreamObserver


def ledger(schedule: Schedule, *, is_half_changed: bool = False) -> Ledger:
    """Return where the packets of a run are. Call it with the run's lock held.

    Args:
        schedule: the engine of the run.
        is_half_changed: whether an interrupt came in the middle of a change. What some readers then lack of a
            stream counts as dropped there.
    """
    places = _places(schedule)
    accounts = tuple(_account(stream, places) for stream in schedule.streams)
    return Ledger(tuple(map(_settled, accounts)) if is_half_changed else accounts)


def ledger_cuts(schedule: Schedule) -> tuple[LedgerCut, ...]:
    """Return what nodes have left out of lists. Call it with the run's lock held."""
    if not any(stream.cut for node in schedule.nodes for stream in node.inputs):
        return ()
    return ledger(schedule).cuts


def _places(schedule: Schedule) -> dict[int, str]:
    """Return for each reading end of a node, by identity, its name for users."""
    return {
        id(stream): f"node {node.name!r} input {port_name(tag, index)}"
        for node in schedule.nodes
        for (tag, index), stream in zip(node.step.inputs.ids(), node.inputs, strict=True)
    }


def _account(stream: OutputStream, places: dict[int, str]) -> StreamAccount:
    readers = [
        ReaderAccount(
            place=places[id(reader)],
            node=reader.node.name if reader.node is not None else "",
            delivered=reader.delivered,
            dropped=dict(reader.dropped),
            in_flight=len(reader.queue),
            cut=dict(reader.cut),
        )
        for reader in stream.readers
    ]
    through = stream.added - sum(stream.dropped.values())
    readers.extend(_observer_account(one, through) for one in stream.observers if one.watches is None)
    return StreamAccount(
        name=stream.name,
        place="graph input" if stream.node is None else f"node {stream.node.name!r}",
        added=stream.added,
        dropped=dict(stream.dropped),
        readers=tuple(readers),
    )


def _settled(account: StreamAccount) -> StreamAccount:
    """Return an account of a half changed stream that adds up."""
    if account.adds_up:
        return account
    through = account.added - sum(account.dropped.values())
    readers = tuple(_reader_settled(reader, through - reader.seen) for reader in account.readers)
    return attrs.evolve(account, readers=readers)


def _reader_settled(reader: ReaderAccount, lacks: int) -> ReaderAccount:
    if lacks > 0:  # the interrupt came before they were queued or counted
        return attrs.evolve(reader, dropped={**reader.dropped, INTERRUPTED: lacks})
    # they were counted, and not yet taken out of the queue
    return attrs.evolve(reader, in_flight=reader.in_flight + lacks)


def _observer_account(observer: StreamObserver, through: int) -> ReaderAccount:
    """Return the account of a callback or poller.

    A callback's queue is emptied without the lock: a packet is taken out, then counted. So its count is
    read before and after, until it has not changed; then at most one packet is between the two, in hand.
    """
    delivered = waiting = 0
    for _ in range(_ATTEMPTS):
        delivered = observer.delivered
        try:
            # a copy, as another thread may take packets out; bounds without packet do not count
            waiting = sum(packet.value is not NO_PAYLOAD for packet in observer.queue.copy())
        except RuntimeError:  # taken out while it was copied: on Pythons without the interpreter's lock
            continue
        if observer.delivered == delivered:
            break
    dropped = dict(observer.dropped)
    if observer.is_claimed and delivered + sum(dropped.values()) + waiting == through - 1:
        waiting += 1
    return ReaderAccount(
        place=place_of(observer), node="", delivered=delivered, dropped=dropped, in_flight=waiting
    )


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows with their columns under one another: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = 2
    return [
        "  ".join(
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
