"""Offsets of a text as the protocol's positions, and back. Columns count what the editor counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol.types import Position, Range

if TYPE_CHECKING:
    from collections.abc import Callable

    from pygls.workspace import PositionCodec

    from penstock_editor.lines import TextLines


class Positions:
    """Of one version of a file.

    Args:
        lines: of the file.
        codec: knows the units of the editor.
        to_file: makes an offset in the file of one in the graph; None where they are the same.
    """

    def __init__(
        self, lines: TextLines, codec: PositionCodec, to_file: Callable[[int], int] | None = None
    ) -> None:
        self._lines: Final = lines
        self._codec: Final = codec
        self._to_file: Final = to_file

    @property
    def is_moved(self) -> bool:
        """Whether offsets in the graph are others than in the file."""
        return self._to_file is not None

    def offset(self, position: Position) -> int:
        """Return the offset in the file of a position; what is beyond a line or the text is at its end."""
        lines = self._lines
        if position.line >= len(lines.lines):
            return len(lines.text)
        line = lines.line_text(position.line)
        column = position.character
        if not line.isascii():
            inside = self._codec.position_from_client_units([line], Position(0, column))
            column = inside.character
        return lines.lines[max(position.line, 0)] + min(column, len(line))

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 0."""
        return self._lines.line_of(self._in_file(offset))

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        offset = self._in_file(offset)
        line = self._lines.line_of(offset)
        return Position(line, self._units(self._lines.text[self._lines.lines[line] : offset]))

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))

    def pieces(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Return line, column and length of a range; one for each line that it spans."""
        start, end = self._in_file(start), self._in_file(end)
        found = []
        for line in range(self._lines.line_of(start), self._lines.line_of(max(end - 1, start)) + 1):
            begin = self._lines.lines[line]
            first, last = max(start, begin), min(end, begin + len(self._lines.line_text(line)))
            if last > first:
                before = self._units(self._lines.text[begin:first])
                found.append((line, before, self._units(self._lines.text[first:last])))
        return found

    def _in_file(self, offset: int) -> int:
        return offset if self._to_file is None else self._to_file(offset)

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else self._codec.client_num_units(text)
