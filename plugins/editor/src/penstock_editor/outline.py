"""The nodes of a graph as an editor lists them, and the brackets that it can fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import DocumentSymbol, FoldingRange, SymbolKind

from penstock_editor.graph_text import single
from penstock_format import Block, Field, Items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_editor.graph_text import GraphText
    from penstock_editor.positions import Positions

_KINDS = {
    "node": SymbolKind.Class,
    "executor": SymbolKind.Object,
    "input_stream": SymbolKind.Interface,
    "output_stream": SymbolKind.Interface,
    "input_side_packet": SymbolKind.Constant,
    "output_side_packet": SymbolKind.Constant,
}


def outline(graph: GraphText, positions: Positions) -> list[DocumentSymbol]:
    """Return the nodes, executors, streams and side packets of a graph, in its order."""
    found = []
    for by, whole in graph.fields():
        for field in single(whole) if whole.name in _KINDS else ():
            value = field.value
            if value is None:
                continue
            end = max(field.end, field.name_end)
            if isinstance(value, Block):
                title = value.text_of("name") or value.text_of("calculator") or field.name
                detail = value.text_of("calculator") if value.text_of("name") else ""
            else:
                title = graph.text[value.start + by : value.end + by].strip("\"'") or field.name
                detail = field.name
            found.append(
                DocumentSymbol(
                    title,
                    _KINDS[field.name],
                    positions.range(field.start + by, end + by),
                    positions.range(field.start + by, field.name_end + by),
                    detail=detail,
                )
            )
    return found


def folds(graph: GraphText, positions: Positions) -> list[FoldingRange]:
    """Return the brackets that span lines."""
    found = []
    for by, field in graph.fields():
        for start, end in _spans(field):
            first, last = positions.line(start + by), positions.line(end + by - 1)
            if last > first:
                found.append(FoldingRange(first, max(last - 1, first)))
    return found


def _spans(field: Field) -> Iterator[tuple[int, int]]:
    value = field.value
    if isinstance(value, Block | Items):
        yield field.start, value.end
        for one in value.entries if isinstance(value, Block) else value.items:
            if isinstance(one, Field):
                yield from _spans(one)
