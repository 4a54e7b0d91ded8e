"""The nodes that could run now, and which of them runs first.

The order is total, so that a graph on one thread always takes the same steps: `open` before all
else, lower ids first; then nodes with inputs, higher ids (nearer the outputs) first; then `process`
of sources, lower layer first, then the one whose outputs are furthest behind, then the lower id.
Source: MediaPipe `framework/scheduler_queue.h`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.node import Node, Step


class ReadyQueue:
    """The ready steps of all nodes that share an executor.

    Attributes:
        name: of the executor.
        is_fresh: something was put in since the runtime last looked.
    """

    __slots__ = ("_nodes", "is_fresh", "name", "others", "sources")

    def __init__(self, name: str, nodes: dict[int, Node]) -> None:
        self.name = name
        #: Nodes of the whole graph by id; grows while the run is built.
        self._nodes = nodes
        #: Keys of `open`, which are negative, and of the steps of nodes with inputs. The smallest
        #: comes first: ids in ascending order, then ids in descending order.
        self.others: list[int] = []
        #: (layer, smallest bound of the outputs, id) of ready sources.
        self.sources: list[tuple[int, int, int]] = []
        self.is_fresh = False

    def __len__(self) -> int:
        return len(self.others) + len(self.sources)

    def push_open(self, node: Node) -> None:
        """Make `open` of a node ready."""
        heappush(self.others, node.id - len(self._nodes))
        self.is_fresh = True

    def push(self, node: Node) -> None:
        """Make a step of a node with inputs ready."""
        heappush(self.others, node.ready_key)
        self.is_fresh = True

    def push_source(self, node: Node, behind: int) -> None:
        """Make a source ready; `behind` is the smallest bound of its outputs."""
        heappush(self.sources, (node.layer, behind, node.id))
        self.is_fresh = True

    def pop(self) -> Step:
        """Take the step that comes first; there must be one."""
        others = self.others
        if others:
            key = heappop(others)
            count = len(self._nodes)
            node = self._nodes[count - 1 - key if key >= 0 else key + count]
        else:
            node = self._nodes[heappop(self.sources)[2]]
        # only nodes with several steps at a time need a queue for them
        return node.step if node.in_order is None else node.prepared.popleft()

    def pop_any(self, choose: Callable[[int], int]) -> Step:
        """Take any step: `choose(n)` returns a number below n. For exploring schedules."""
        chosen = choose(len(self))
        others = sorted(self.others)
        if chosen < len(others):
            key = others.pop(chosen)
            self.others = others
            count = len(self._nodes)
            node = self._nodes[key + count if key < 0 else count - 1 - key]
            return node.step if node.in_order is None else node.prepared.popleft()
        sources = sorted(self.sources)
        _, _, source = sources.pop(chosen - len(others))
        self.sources = sources
        return self._nodes[source].step

    def nodes(self) -> list[Node]:
        """Return the nodes of the waiting steps, first to run first."""
        count = len(self._nodes)
        ids = [key + count if key < 0 else count - 1 - key for key in sorted(self.others)]
        return [self._nodes[i] for i in [*ids, *(source for _, _, source in sorted(self.sources))]]
