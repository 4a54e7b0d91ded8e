"""The nodes that names in the options of an executor stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.lowlevel import Plan


def nodes_named(name: str, nodes: Sequence[str]) -> list[str]:
    """Return the nodes that a name stands for: the node of that name, or all nodes of that subgraph.

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
                f"executor {executor!r}: {field} has the node name {name!r}, but no node on this executor "
                f"has that name{did_you_mean(name, mine, 1)}"
            )
