"""The nodes of a plan while groups of them become one node each.

A node keeps the number that it has in the plan. A group gets the highest number of its nodes, and one place
in the topological order. To join a group costs what lies between its first and its last node in that order:
nothing else can stand between two of its nodes, or has to move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from penstock.lowlevel import Plan


class JoinedNodes:
    """Which nodes of a plan are one, and their order."""

    def __init__(self, plan: Plan) -> None:
        #: As it was; never changed.
        self.plan: Final = plan
        #: For each node of the plan the number of what it is in now: its own, or that of its group.
        self.home: Final = [node.id for node in plan.nodes]
        #: Number → its place in the order; only of those that are a home. Places may be left out.
        self.place: Final = {number: number for number in self.home}
        #: For each stream of the plan the nodes that read it.
        self.stream_readers: Final[list[list[int]]] = [[] for _ in plan.streams]
        for node in plan.nodes:
            for port in node.inputs:
                self.stream_readers[port.stream].append(node.id)
        self._members: Final[dict[int, Sequence[int]]] = {}
        self._above: Final = _above(plan)
        #: The number at each place; None where there is none any more.
        self._order: Final[list[int | None]] = list(self.home)

    def is_alone(self, number: int) -> bool:
        """Return whether a node of the plan is in no group."""
        return self.home[number] == number and number not in self._members

    def order(self) -> list[int]:
        """Return all numbers that are a home, in topological order; back edges do not count."""
        return [number for number in self._order if number is not None]

    def ordered(self, numbers: Collection[int]) -> list[int]:
        """Return some of them in that order."""
        return sorted(numbers, key=self.place.__getitem__)

    def between(self, numbers: Collection[int]) -> Iterator[int]:
        """Yield all from the first to the last of some in that order, both included."""
        places = [self.place[number] for number in numbers]
        if places:
            yield from (one for one in self._order[min(places) : max(places) + 1] if one is not None)

    def above(self, number: int) -> set[int]:
        """Return those that write streams and side packets of one; back edges do not count."""
        members = self._members.get(number, (number,))
        return {self.home[one] for member in members for one in self._above[member]} - {number}

    def readers(self, number: int) -> set[int]:
        """Return those that read the streams of one, over back edges too."""
        members = self._members.get(number, (number,))
        outputs = [port.stream for member in members for port in self.plan.nodes[member].outputs]
        return {self.home[reader] for stream in outputs for reader in self.stream_readers[stream]}

    def join(self, group: Sequence[int]) -> int:
        """Make one of a group, which is in order; return its number.

        No way from one of the group to another may lead over one that is not of the group.
        """
        window = list(self.between(group))
        begin, end = self.place[group[0]], self.place[group[-1]] + 1
        members = frozenset(group)
        below = set(members)
        for number in window:
            if not self.above(number).isdisjoint(below):
                below.add(number)
        joined = max(group)
        kept = [
            *(one for one in window if one not in below),
            joined,
            *(one for one in window if one in below and one not in members),
        ]
        for number in group:
            self.home[number] = joined
            del self.place[number]
        self._members[joined] = group
        self._order[begin:end] = [*kept, *([None] * (end - begin - len(kept)))]
        self.place.update((number, begin + n) for n, number in enumerate(kept))
        return joined


def _above(plan: Plan) -> list[set[int]]:
    """Return for each node those that write its streams and side packets; back edges do not count."""
    makers: dict[str, int] = {port.name: node.id for node in plan.nodes for port in node.output_side_packets}
    above: list[set[int]] = []
    for node in plan.nodes:
        streams = {plan.streams[port.stream].producer for port in node.inputs if not port.back_edge}
        sides = {makers.get(port.name) for port in node.input_side_packets}
        above.append({number for number in streams | sides if number is not None})
    return above
