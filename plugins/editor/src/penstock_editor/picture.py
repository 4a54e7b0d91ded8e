"""The picture of a graph as it is written, broken or not, and where its nodes stand in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.readers import numbered_nodes
from penstock_editor.graph_text import ERROR_STREAM, single
from penstock_editor.project_names import type_of
from penstock_format import Block, Scalar
from penstock_views.draw import Drawing, DrawnNode, NodeKind, Port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_editor.graph_text import GraphText
    from penstock_editor.knowledge import Knowledge
    from penstock_format import Field

_FIELDS: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")
#: What a node is called that has no name and no calculator yet.
_UNNAMED: Final = "node"


class Placed(NamedTuple):
    """A node of the picture, and where it stands."""

    #: As `data-node` of the picture has it.
    name: str
    start: int
    end: int


class Pictured(NamedTuple):
    """A graph to draw."""

    drawing: Drawing
    #: In the order of the text.
    nodes: list[Placed]

    def node_at(self, offset: int) -> str:
        """Return the name of the node at an offset; "" for none."""
        return next((one.name for one in self.nodes if one.start <= offset <= one.end), "")


def pictured(graph: GraphText, knowledge: Knowledge, name: str = "") -> Pictured:
    """Return a graph as it is drawn. Nothing of it is loaded. Rules of templates are drawn as written.

    Args:
        graph: the graph, broken or not.
        knowledge: tells calculators, subgraphs and unknown names apart.
        name: of the graph where it has no type: the name of its file.
    """
    found = list(_nodes(graph))
    written = [_text(one, "name") or _text(one, "calculator") or _UNNAMED for *_, one in found]
    names = numbered_nodes(written)
    package = graph.package
    drawn = tuple(
        _drawn(block, name, knowledge, package) for (*_, block), name in zip(found, names, strict=True)
    )
    ports = {field: tuple(_ports(graph, field)) for field in _FIELDS}
    drawing = Drawing(
        type_of(graph) or name,
        drawn,
        inputs=ports["input_stream"],
        outputs=ports["output_stream"],
        input_side_packets=ports["input_side_packet"],
        output_side_packets=ports["output_side_packet"],
    )
    placed = [
        Placed(name, start, max(end, start)) for (start, end, _), name in zip(found, names, strict=True)
    ]
    return Pictured(drawing, placed)


def _nodes(graph: GraphText) -> Iterator[tuple[int, int, Block]]:
    """Yield the nodes, each with the offsets where it begins and ends."""
    for by, field in graph.fields():
        for one in single(field) if field.name == "node" else ():
            if isinstance(one.value, Block):
                yield one.start + by, one.value.end + by, one.value


def _drawn(block: Block, name: str, knowledge: Knowledge, package: str) -> DrawnNode:
    back = set(_back_edges(block))
    return DrawnNode(
        name,
        _text(block, "calculator"),
        _kind(_text(block, "calculator"), knowledge, package),
        _text(block, "executor"),
        tuple(
            Port(one.place, one.name, back_edge=one.place in back or f"{one.place}:0" in back)
            for one in _entries(block.fields("input_stream"))
        ),
        (*_entries(block.fields("output_stream")), *_error_streams(block)),
        *(tuple(_entries(block.fields(field))) for field in _FIELDS[2:]),
    )


def _error_streams(block: Block) -> Iterator[Port]:
    for failure in block.fields("failure"):
        if isinstance(failure.value, Block):
            for port in _entries(failure.value.fields(ERROR_STREAM)):
                yield Port("", port.name, is_error=True)


def _kind(calculator: str, knowledge: Knowledge, package: str) -> NodeKind:
    if knowledge.registry.has("subgraph", calculator, package):
        return NodeKind.SUBGRAPH
    return NodeKind.CALCULATOR if knowledge.is_known(calculator, package) else NodeKind.UNKNOWN


def _back_edges(block: Block) -> Iterator[str]:
    for info in block.fields("input_stream_info"):
        if isinstance(info.value, Block) and _text(info.value, "back_edge") == "true":
            yield _text(info.value, "tag_index")


def _ports(graph: GraphText, name: str) -> Iterator[Port]:
    for _, field in graph.fields():
        if field.name == name:
            yield from _entries(single(field))


def _entries(fields: list[Field]) -> Iterator[Port]:
    for one in fields:
        if isinstance(one.value, Scalar):
            place, _, name = one.value.string.rpartition(":")
            yield Port(place, name)


def _text(block: Block, name: str) -> str:
    return block.text_of(name)
