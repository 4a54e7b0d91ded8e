"""The order of the nodes in a plan, and the cycles for which there is no order."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def stable_order(above: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Sort nodes so that each comes after those above it, and the order changes as little as possible.

    Of the nodes that could come next, the one with the lowest number does; so nodes that are in order
    already stay where they are. Linear in the edges, except for the heap; does not recurse.

    Args:
        above: for each node, the nodes that must come before it, any of them any number of times.

    Returns:
        The nodes that are in no cycle and not below one, in order; and cycles, each once, along its edges
        from its lowest node. Each further cycle shares a node with one of them.
    """
    if all(one < node for node, ones in enumerate(above) for one in ones):
        return list(range(len(above))), []
    work = _Sorting(above)
    work.take_ready()
    order = list(work.order)
    return order, list(work.cycles())


class _Sorting:
    """Kahn's algorithm, able to go on past a cycle by taking its nodes out."""

    def __init__(self, above: Sequence[Sequence[int]]) -> None:
        self._above = above
        self._below: list[list[int]] = [[] for _ in above]
        self._missing = [len(ones) for ones in above]
        for node, ones in enumerate(above):
            for one in ones:
                self._below[one].append(node)
        self._ready = [node for node, missing in enumerate(self._missing) if not missing]
        heapify(self._ready)
        self._done = [False] * len(above)
        self.order: list[int] = []

    def take_ready(self) -> None:
        while self._ready:
            node = heappop(self._ready)
            if not self._done[node]:
                self.order.append(node)
                self._take_out(node)

    def _take_out(self, node: int) -> None:
        self._done[node] = True
        for below in self._below[node]:
            self._missing[below] -= 1
            if not self._missing[below]:
                heappush(self._ready, below)

    def cycles(self) -> list[list[int]]:
        """Walk up from the nodes that are left until a node is met again; take that cycle out; go on."""
        found = []
        for start in range(len(self._above)):
            path = [start]
            place = {start: 0}
            while path:
                if self._done[path[-1]]:
                    del place[path.pop()]
                    continue
                # Not ready, so something above it is not done either.
                one = next(one for one in self._above[path[-1]] if not self._done[one])
                if one not in place:
                    place[one] = len(path)
                    path.append(one)
                    continue
                cycle = path[place[one] :]
                found.append(_along_edges(cycle))
                for node in cycle:
                    self._take_out(node)
                self.take_ready()
        return sorted(found)


def _along_edges(cycle: list[int]) -> list[int]:
    """Turn a cycle that was walked upwards around, and let it begin with its lowest node."""
    cycle.reverse()
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
