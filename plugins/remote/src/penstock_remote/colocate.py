"""Which nodes of an executor share a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from penstock_remote.node_names import nodes_named
from penstock_remote.regions import region_names, with_regions

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from penstock.lowlevel import NodePlan, Plan


@attrs.frozen
class Together:
    """Nodes that share a process.

    Those that are neighbours form a region: one remote graph, whose inner packets never leave the process.

    Attributes:
        node: their names. The name of a subgraph stands for all nodes in it that are on the executor; without
            names, all nodes on the executor are meant.
        one_by_one: whether they form no region: each call comes from the driver, and calls of different nodes
            overlap.
    """

    node: tuple[str, ...] = ()
    one_by_one: bool = False


def members(together: Together, nodes: Sequence[str]) -> list[str]:
    """Return the names of the nodes that share a process, of those given, in their order."""
    if not together.node:
        return list(nodes)
    named = {one for name in together.node for one in nodes_named(name, nodes)}
    return [node for node in nodes if node in named]


class Places:
    """The places of nodes: those of an executor in order, those together as the first of them.

    Callers see to it that one thread at a time asks.

    Args:
        colocate: which nodes share a place.
    """

    def __init__(self, colocate: Sequence[Together]) -> None:
        self._colocate: Final = colocate
        #: Of the plan and executor that were asked for last: name of each node → its place.
        self._known: tuple[Plan, str, dict[str, int]] | None = None

    def of(self, node: NodePlan, plan: Plan) -> int:
        """Return the number of a node's place."""
        known = self._known
        if known is None or known[0] is not plan or known[1] != node.executor:
            known = self._known = (plan, node.executor, self._numbers(plan, node.executor))
        return known[2][region_names(node)[0]]

    def _numbers(self, plan: Plan, executor: str) -> dict[str, int]:
        mine = [name for one in plan.nodes if one.executor == executor for name in region_names(one)]
        groups = [members(together, mine) for together in self._colocate]
        home = {name: group[0] for group in groups for name in group}
        numbers: dict[str, int] = {}
        for name in mine:
            numbers.setdefault(home.get(name, name), len(numbers))
        return {name: numbers[home.get(name, name)] for name in mine}


def colocated(plan: Plan, executor: str, colocate: Sequence[Together], watched: Collection[int]) -> Plan:
    """Return a plan in which neighbours that share a process are one node; see `Executor.arrange`."""
    mine = [node.name for node in plan.nodes if node.executor == executor]
    groups = [
        (together.node[0] if len(together.node) == 1 else "", members(together, mine))
        for together in colocate
        if not together.one_by_one
    ]
    return with_regions(plan, groups, watched)
