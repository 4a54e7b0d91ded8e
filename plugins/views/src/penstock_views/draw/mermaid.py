"""A drawing as Mermaid text, which GitHub, many wikis and notebooks draw by themselves.

Graph inputs are on top, streams are arrows with the connection as the reader writes it, side packets are
dashed, back edges are thick. https://mermaid.js.org/syntax/flowchart.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_views.draw.drawing import GRAPH_PORTS, NodeKind
from penstock_views.draw.groups import Group, grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_views.draw.drawing import Drawing, DrawnNode, End, Wire

_SHAPES: Final = {
    NodeKind.CALCULATOR: ("[", "]"),
    NodeKind.SUBGRAPH: ("[[", "]]"),
    NodeKind.UNKNOWN: ("[", "]"),
}
_ESCAPED: Final = {"#": "#35;", "&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "\n": " ", "`": "#96;"}


def mermaid(drawing: Drawing) -> str:
    """Return a flowchart. Equal drawings give equal text; it ends with a newline."""
    lines = ["flowchart TB"]
    for kind, ports in GRAPH_PORTS.items():
        opening, closing = ("([", "])") if "side" not in kind else ("[/", "/]")
        lines += [
            f"  {kind}{i}{opening}{_quoted(port.entry)}{closing}"
            for i, port in enumerate(getattr(drawing, ports))
        ]
    lines += _group_lines(drawing, grouped(drawing), "  ", [0])
    for number, wire in enumerate(drawing.wires()):
        lines += _wire_lines(wire, number)
    unknown = [f"n{i}" for i, node in enumerate(drawing.nodes) if node.kind is NodeKind.UNKNOWN]
    if unknown:
        lines += ["  classDef unknown stroke-dasharray: 4 3", f"  class {','.join(unknown)} unknown"]
    return "\n".join(lines) + "\n"


def _group_lines(drawing: Drawing, group: Group, indent: str, count: list[int]) -> Iterator[str]:
    for number in group.nodes:
        yield f"{indent}{_node(number, drawing.nodes[number])}"
    for inner in group.groups:
        yield f'{indent}subgraph group{count[0]}["{_escaped(drawing.group_title(inner.path))}"]'
        count[0] += 1
        yield from _group_lines(drawing, inner, indent + "  ", count)
        yield f"{indent}end"


def _node(number: int, node: DrawnNode) -> str:
    opening, closing = _SHAPES[node.kind]
    return f'n{number}{opening}"{"<br/>".join(map(_escaped, node.lines))}"{closing}'


def _wire_lines(wire: Wire, number: int) -> Iterator[str]:
    start = wire.start() or f"{'given' if wire.is_side else 'missing'}{number}"
    if wire.writer is None:
        yield f"  {start}[/{_quoted(wire.name)}/]" if wire.is_side else f'  {start}(("?"))'
    for end in wire.readers:
        yield f"  {start} {_arrow(wire, end)} {wire.target(end)}"
    if wire.writer is not None and wire.writer.node >= 0 and not wire.readers:
        yield f'  {start} {_arrow(wire, wire.writer)} unread{number}((" "))'


def _arrow(wire: Wire, end: End) -> str:
    label = _quoted(end.entry)
    if wire.is_side:
        return f"-. {label} .->"
    return f"== {label} ==>" if end.back_edge else f"-- {label} -->"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)
