"""`closed`: a drawing whose groups are one box each, until they are opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from penstock_views.draw.drawing import SEPARATOR, DrawnNode, NodeKind, Port

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from penstock_views.draw.drawing import Drawing


def closed(drawing: Drawing, opened: Collection[str] = ()) -> Drawing:
    """Return a drawing in which each group is one node, of the kind SUBGRAPH, at the place of its first node.

    Its ports are the streams that lead into the group and out of it, without places. Its name is the group's,
    and so is the name of its calculator, without the groups around it.

    Args:
        drawing: the graph, its subgraphs expanded.
        opened: names of groups whose contents are drawn, in a frame; a group inside of another is
            "outer__inner", and is drawn where the outer one is opened too. Others are ignored.
    """
    places = [_closed_at(node.groups, opened) for node in drawing.nodes]
    members: dict[tuple[str, ...], list[DrawnNode]] = {}
    for node, place in zip(drawing.nodes, places, strict=True):
        if place:
            members.setdefault(place, []).append(node)
    readers = _readers(drawing)
    found: dict[tuple[str, ...], DrawnNode] = {}
    nodes: list[DrawnNode] = []
    for node, place in zip(drawing.nodes, places, strict=True):
        if not place:
            nodes.append(node)
        elif place not in found:
            found[place] = _box(SEPARATOR.join(place), members[place], readers)
            nodes.append(found[place])
    return attrs.evolve(drawing, nodes=tuple(nodes))


def _closed_at(groups: tuple[str, ...], opened: Collection[str]) -> tuple[str, ...]:
    """Return the outermost group of some that is closed; () for none."""
    for depth in range(1, len(groups) + 1):
        if SEPARATOR.join(groups[:depth]) not in opened:
            return groups[:depth]
    return ()


def _readers(drawing: Drawing) -> dict[str, set[str]]:
    """Return stream or side packet → names of the nodes that read it, and "" for the graph."""
    found: dict[str, set[str]] = {}
    for port in (*drawing.outputs, *drawing.output_side_packets):
        found.setdefault(port.name, set()).add("")
    for node in drawing.nodes:
        for port in (*node.inputs, *node.input_side_packets):
            found.setdefault(port.name, set()).add(node.name)
    return found


def _box(name: str, members: Sequence[DrawnNode], readers: dict[str, set[str]]) -> DrawnNode:
    inside = {node.name for node in members}

    def entering(inputs: Iterable[Port], outputs: Iterable[Port]) -> tuple[Port, ...]:
        written = {port.name for port in outputs}
        back = {port.name: port.back_edge for port in inputs if port.name not in written}
        return tuple(Port("", name, back_edge) for name, back_edge in back.items())

    def leaving(outputs: Iterable[Port]) -> tuple[Port, ...]:
        errors = {port.name: port.is_error for port in outputs}
        return tuple(
            Port("", one, is_error=is_error)
            for one, is_error in errors.items()
            if readers.get(one, {""}) - inside
        )

    inputs = [port for node in members for port in node.inputs]
    outputs = [port for node in members for port in node.outputs]
    side_inputs = [port for node in members for port in node.input_side_packets]
    side_outputs = [port for node in members for port in node.output_side_packets]
    return DrawnNode(
        name,
        name.rpartition(SEPARATOR)[2],
        NodeKind.SUBGRAPH,
        inputs=entering(inputs, outputs),
        outputs=leaving(outputs),
        input_side_packets=entering(side_inputs, side_outputs),
        output_side_packets=leaving(side_outputs),
    )
