"""Whether all that came of some packets has been delivered, by what the graph's ledger says."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.explain import GraphView, Ledger, ReaderAccount, StreamAccount


class Sweep:
    """Goes down the graph behind the packets that a node has written so far.

    A stream's packets reach each reader in order. So once a reader accounts for as many packets as the
    stream had at some moment, it has all of that moment, however many have followed. When that holds for all
    inputs of a node, and the calls that were due then have returned, its outputs have all results
    of them, and the same is checked for their readers. The graph need not stand still for it.

    What a calculator keeps to itself, to write it with a later packet, is not seen. Neither is what goes
    back on a back edge. In a run that has an error a sweep is never over: the ledger counts a packet whose
    call failed as delivered, and the call as completed.
    """

    def __init__(self, view: GraphView, node: str) -> None:
        self._view: Final = view
        ledger = view.ledger()
        by_writer: defaultdict[str, list[StreamAccount]] = defaultdict(list)
        for stream in ledger.streams:
            by_writer[stream.place].append(stream)
        self._written: Final[dict[str, list[str]]] = {}
        self._order: Final = _order_below(node, by_writer)
        for name in (node, *self._order):
            self._written[name] = [stream.name for stream in by_writer[f"node {name!r}"]]
        #: Node → streams that it reads and whose mark is not known yet, but for back edges.
        self._unmarked: Final[dict[str, set[str]]] = {name: set() for name in self._order}
        #: Stream → how many packets its readers must account for.
        self._marks: Final[dict[str, int]] = {}
        #: Node → number of calls begun when it was first looked at: so many must have ended in their order.
        self._steps: Final[dict[str, int]] = {}
        rank = {name: number for number, name in enumerate((node, *self._order))}
        for writer, streams in self._written.items():
            for name in streams:
                for reader in _stream(ledger, name).readers:
                    if reader.node and rank[reader.node] > rank[writer]:
                        self._unmarked[reader.node].add(name)
        #: Nodes that may have more to write, those first that come first in the graph.
        self._open: Final = list(self._order)
        #: Streams whose readers outside of the graph have not all they must.
        self._outside: Final[set[str]] = set()
        self._mark(node, ledger)

    def is_over(self) -> bool:
        """Look again; return whether all has been delivered."""
        ledger = self._view.ledger()
        # After the ledger: each call that took what the ledger says was taken is among these.
        states = {state.name: state for state in self._view.snapshot().nodes}
        for name in list(self._open):
            if self._unmarked[name]:
                continue
            reads = [
                (stream, reader)
                for stream in (_stream(ledger, one) for one in self._marks)
                for reader in stream.readers
                if reader.node == name
            ]
            if not all(_has(reader, self._marks[stream.name]) for stream, reader in reads):
                continue
            state = states[name]
            under_way = state.running + state.ready
            # Calls that overlap may end before earlier ones; their outputs wait for the earlier calls.
            ended = state.steps - state.held
            if under_way and ended < self._steps.setdefault(name, state.steps + under_way):
                continue
            self._open.remove(name)
            # What the calls wrote may have come after `ledger` was taken.
            self._mark(name, self._view.ledger())
        self._outside.difference_update(
            [
                name
                for name in self._outside
                if all(_has(reader, self._marks[name]) for reader in _stream(ledger, name).readers)
            ]
        )
        # Last of all: a call that failed before anything above was read has left its error here.
        return not (self._open or self._outside or self._view.snapshot().errors)

    def _mark(self, node: str, ledger: Ledger) -> None:
        for name in self._written[node]:
            stream = _stream(ledger, name)
            self._marks[name] = stream.added - sum(stream.dropped.values())
            if any(not reader.node for reader in stream.readers):
                self._outside.add(name)
            for waiting in self._unmarked.values():
                waiting.discard(name)


def _has(reader: ReaderAccount, count: int) -> bool:
    return reader.delivered + sum(reader.dropped.values()) >= count


def _stream(ledger: Ledger, name: str) -> StreamAccount:
    return next(stream for stream in ledger.streams if stream.name == name)


def _order_below(node: str, by_writer: Mapping[str, list[StreamAccount]]) -> list[str]:
    """Return the nodes that packets of a node can get to, each after those that it reads from.

    Back edges do not count: they lead to a node whose readers are still being looked at.
    """
    done: list[str] = []
    seen = {node}
    stack = [(node, iter(_readers(node, by_writer)))]
    while stack:
        name, readers = stack[-1]
        following = next((reader for reader in readers if reader not in seen), None)
        if following is None:
            stack.pop()
            done.append(name)
        else:
            seen.add(following)
            stack.append((following, iter(_readers(following, by_writer))))
    done.remove(node)
    return done[::-1]


def _readers(node: str, by_writer: Mapping[str, list[StreamAccount]]) -> list[str]:
    streams = by_writer.get(f"node {node!r}", [])
    return [reader.node for stream in streams for reader in stream.readers if reader.node]
