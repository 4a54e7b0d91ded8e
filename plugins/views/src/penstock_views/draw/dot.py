"""A drawing as DOT text, for Graphviz and other programs that read its language.

Input streams come in at the top of a node, outputs leave at its bottom; side packets are dashed, error
streams dotted, back edges bold. https://graphviz.org/doc/info/lang.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_views.draw.drawing import GRAPH_PORTS, NodeKind
from penstock_views.draw.groups import Group, grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_views.draw.drawing import Drawing, DrawnNode, End, Wire

_STYLES: Final = {
    NodeKind.CALCULATOR: "",
    NodeKind.SUBGRAPH: ", peripheries=2",
    NodeKind.UNKNOWN: ", style=dashed",
}


def dot(drawing: Drawing) -> str:
    """Return a digraph. Equal drawings give equal text; it ends with a newline."""
    lines = [
        f"digraph {_quoted(drawing.name or 'graph')} {{",
        '  graph [rankdir=TB, fontname="Helvetica", fontsize=11]',
        '  node [shape=box, fontname="Helvetica", fontsize=11]',
        '  edge [fontname="Helvetica", fontsize=9]',
    ]
    for kind, attribute in GRAPH_PORTS.items():
        ports = getattr(drawing, attribute)
        style = ', style="rounded,dashed"' if "side" in kind else ", style=rounded"
        lines += [f"  {kind}{i} [label={_quoted(port.entry)}{style}]" for i, port in enumerate(ports)]
    lines += _group_lines(drawing, grouped(drawing), "  ", [0])
    for number, wire in enumerate(drawing.wires()):
        lines += _wire_lines(wire, number)
    return "\n".join((*lines, "}")) + "\n"


def _group_lines(drawing: Drawing, group: Group, indent: str, count: list[int]) -> Iterator[str]:
    for number in group.nodes:
        yield f"{indent}{_node(number, drawing.nodes[number])}"
    for inner in group.groups:
        yield f"{indent}subgraph cluster_{count[0]} {{"
        count[0] += 1
        yield f"{indent}  label={_quoted(drawing.group_title(inner.path))}"
        yield from _group_lines(drawing, inner, indent + "  ", count)
        yield f"{indent}}}"


def _node(number: int, node: DrawnNode) -> str:
    return f"n{number} [label={_quoted(*node.lines)}{_STYLES[node.kind]}]"


def _wire_lines(wire: Wire, number: int) -> Iterator[str]:
    start = wire.start() or f"{'given' if wire.is_side else 'missing'}{number}"
    if wire.writer is None and wire.is_side:
        yield f'  {start} [label={_quoted(wire.name)}, style="rounded,dashed"]'
    elif wire.writer is None:
        yield f'  {start} [label="?", shape=circle]'
    for end in wire.readers:
        yield f"  {start} -> {wire.target(end)} [{_style(wire, end)}]"
    if wire.writer is not None and wire.writer.node >= 0 and not wire.readers:
        yield f"  unread{number} [shape=point]"
        yield f"  {start} -> unread{number} [{_style(wire, wire.writer)}, arrowhead=none]"


def _style(wire: Wire, end: End) -> str:
    label = f"label={_quoted(end.entry)}"
    if wire.is_side:
        return f"{label}, style=dashed"
    if wire.is_error:
        return f"{label}, style=dotted"
    # with a constraint a back edge would turn the drawing upside down
    return f"{label}, style=bold, constraint=false" if end.back_edge else label


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    text = "\\n".join(escaped)
    return f'"{text}"'
