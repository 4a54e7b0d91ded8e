"""Offsets of a text as the protocol's positions, and back. Columns count what the editor counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol.types import Position, Range

if TYPE_CHECKING:
    from pygls.workspace import PositionCodec

    from penstock_editor.graph_text import GraphText


class Positions:
    """Of one version of a text; `codec` knows the units of the editor."""

    def __init__(self, graph: GraphText, codec: PositionCodec) -> None:
        self._graph: Final = graph
        self._codec: Final = codec

    def offset(self, position: Position) -> int:
        """Return the offset of a position; what is beyond a line or the text is at its end."""
        graph = self._graph
        if position.line >= len(graph.lines):
            return len(graph.text)
        line = graph.line_text(position.line)
        column = position.character
        if not line.isascii():
            inside = self._codec.position_from_client_units([line], Position(0, column))
            column = inside.character
        return graph.lines[max(position.line, 0)] + min(column, len(line))

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        line = self._graph.line_of(offset)
        before = self._graph.text[self._graph.lines[line] : offset]
        return Position(line, len(before) if before.isascii() else self._codec.client_num_units(before))

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))
