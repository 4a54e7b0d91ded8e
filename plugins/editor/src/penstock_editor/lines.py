"""A text with its lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final


class TextLines:
    """One version of a text. Never changes."""

    def __init__(self, text: str) -> None:
        #: The text; lines end as they do.
        self.text: Final = text

    @cached_property
    def lines(self) -> list[int]:
        """The offsets at which lines begin."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line_of(self, offset: int) -> int:
        """Return the number of the line of an offset, from 0."""
        return bisect_right(self.lines, offset) - 1

    def line_text(self, line: int) -> str:
        """Return a line without its end; "" beyond the last one."""
        if not 0 <= line < len(self.lines):
            return ""
        end = self.lines[line + 1] if line + 1 < len(self.lines) else len(self.text)
        return self.text[self.lines[line] : end].rstrip("\r\n")
