"""The nodes that could run now, and which of them runs first.

The order is total, so that a graph on one thread always takes the same steps: `open` before all
else, lower ids first; then nodes with inputs, higher ids (nearer the outputs) first; then `process`
of sources, lower layer first, then the one whose outputs are furthest behind, then the lower id.
Source: MediaPipe `framework/scheduler_queue.h`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.node import Node
    from penstock.engine.step import Step


class ReadyQueue:
    """The ready steps of all nodes that share an executor."""

    __slots__ = ("_by_key", "is_fresh", "name", "others", "sources")

    def __init__(self, name: str, by_key: list[Node]) -> None:
        #: The name of the executor.
        self.name = name
        #: All nodes of the graph in descending order of their ids, so that a node's `ready_key` is
        #: its place here, and ~id too. Filled while the run is built.
        self._by_key: Final = by_key
        #: `ready_key` of ready nodes with inputs, and ~ready_key of nodes that can open: these are
        #: negative. The smallest comes first: ids in ascending order, then ids in descending order.
        self.others: list[int] = []
        #: (layer, smallest bound of the outputs, id) of ready sources.
        self.sources: list[tuple[int, int, int]] = []
        #: Something was put in since the runtime last looked.
        self.is_fresh = False

    def executor_name(self) -> str:
        """Return what users call the executor of the queue."""
        return f"executor {self.name!r}" if self.name else "the default executor"

    def __len__(self) -> int:
        return len(self.others) + len(self.sources)

    def push_open(self, node: Node) -> None:
        """Make `open` of a node ready."""
        heappush(self.others, ~node.ready_key)
        self.is_fresh = True

    def push(self, node: Node) -> None:
        """Make a step of a node with inputs ready."""
        heappush(self.others, node.ready_key)
        self.is_fresh = True

    def push_source(self, node: Node, behind: int) -> None:
        """Make a source ready; `behind` is the smallest bound of its outputs."""
        heappush(self.sources, (node.layer, behind, node.id))
        self.is_fresh = True

    def pop(self) -> Step | None:
        """Take the step that comes first; None where nothing is ready."""
        others = self.others
        if others:
            key = heappop(others)
            node = self._by_key[key if key >= 0 else ~key]
        elif self.sources:
            node = self._by_key[~heappop(self.sources)[2]]
        else:
            return None
        # only nodes with several steps at a time need a queue for them
        return node.step if node.in_order is None else node.prepared.popleft()

    def pop_any(self, choose: Callable[[int], int]) -> Step | None:
        """Take any step: `choose(n)` returns a number below n. For exploring schedules."""
        if not self:
            return None
        chosen = choose(len(self))
        others = sorted(self.others)
        if chosen < len(others):
            key = others.pop(chosen)
            self.others = others
            node = self._by_key[key if key >= 0 else ~key]
        else:
            sources = sorted(self.sources)
            node = self._by_key[~sources.pop(chosen - len(others))[2]]
            self.sources = sources
        return node.step if node.in_order is None else node.prepared.popleft()

    def nodes(self) -> list[Node]:
        """Return the nodes of the waiting steps, first to run first."""
        keys = [key if key >= 0 else ~key for key in sorted(self.others)]
        keys.extend(~source for _, _, source in sorted(self.sources))
        return [self._by_key[key] for key in keys]
