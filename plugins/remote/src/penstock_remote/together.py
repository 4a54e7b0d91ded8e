"""Which nodes of an executor share a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from penstock.errors import InvalidArgumentError
from penstock.lowlevel import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.lowlevel import NodePlan, Plan


@attrs.frozen
class Together:
    """Nodes that share a process.

    Attributes:
        node: their names. The name of a subgraph stands for all nodes in it that are on the executor.
    """

    node: tuple[str, ...] = ()


def nodes_named(name: str, nodes: Sequence[str]) -> list[str]:
    """Return the nodes that a name stands for: the one of that name, or those of the subgraph of that name.

    Args:
        name: of a node, or of a node that was a subgraph before the graph was loaded.
        nodes: names of nodes, of which some are returned.
    """
    if name in nodes:
        return [name]
    return [node for node in nodes if node.startswith(f"{name.lower()}__")]


def check_names(names: Sequence[str], plan: Plan, executor: str, field: str) -> None:
    """Raise an error if a name is not that of a node of an executor, or of a subgraph with one.

    Args:
        names: those to look at.
        plan: the graph.
        executor: name of the executor in it.
        field: the option that has the names.

    Raises:
        InvalidArgumentError: says which one, and what is near.
    """
    mine = [node.name for node in plan.nodes if node.executor == executor]
    for name in names:
        if not nodes_named(name, mine):
            raise InvalidArgumentError(
                f"executor {executor!r}: {field} names {name!r}, but no node of that name is on it"
                f"{did_you_mean(name, mine, 1)}"
            )


def place_of(node: NodePlan, plan: Plan, colocate: Sequence[Together]) -> int:
    """Return the number of a node's place: the nodes of an executor in order, those together as the first."""
    mine = [one.name for one in plan.nodes if one.executor == node.executor]
    groups = [[one for name in together.node for one in nodes_named(name, mine)] for together in colocate]
    home = {name: group[0] for group in groups for name in group}
    leaders = list(dict.fromkeys(home.get(name, name) for name in mine))
    return leaders.index(home.get(node.name, node.name))
