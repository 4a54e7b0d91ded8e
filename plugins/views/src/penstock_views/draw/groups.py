"""The boxes around nodes: subgraphs and prefixes, found from the names of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from penstock_views.draw.drawing import Drawing


@attrs.define
class Group:
    """Nodes and groups that are boxed together."""

    #: Names of the groups that it is in, and its own; () for the whole graph.
    path: tuple[str, ...] = ()
    #: Positions in the drawing.
    nodes: list[int] = attrs.field(factory=list)
    #: Inside of it, in the order of their first nodes.
    groups: list[Group] = attrs.field(factory=list)


def grouped(drawing: Drawing) -> Group:
    """Return the whole graph as a group."""
    found: dict[tuple[str, ...], Group] = {(): Group()}
    for number, node in enumerate(drawing.nodes):
        path = node.groups
        for depth in range(1, len(path) + 1):
            if path[:depth] not in found:
                found[path[:depth]] = Group(path[:depth])
                found[path[: depth - 1]].groups.append(found[path[:depth]])
        found[path].nodes.append(number)
    return found[()]
