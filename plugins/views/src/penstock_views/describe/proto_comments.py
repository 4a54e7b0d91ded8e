"""The comments of a .proto file, by the name of the declaration that they are above or behind.

Generated modules carry no comments, but a pack ships its .proto files beside them. This module
reads what the project's own files use: `//` comments, declarations on one line or several.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_BLOCK: Final = re.compile(r"(message|enum|oneof|extend)\s+([\w.]+)\s*\{")
_MEMBER: Final = re.compile(r"(?:[\w.<>,\s]+\s)?(\w+)\s*=\s*-?(?:0x)?\w+\s*(?:\[|;|$)")


@cache
def comments_of(path: str) -> Mapping[str, str]:
    """Return the comments of a file that is shipped in a package.

    Args:
        path: as `import` statements of .proto files have it: "package/name.proto".

    Returns:
        "Message", "Message.field" or "Message.Enum.VALUE" → comment, without the protobuf package.
        Empty where the file is not shipped.
    """
    package, _, name = path.rpartition("/")
    try:
        file = importlib.resources.files(package.replace("/", ".")).joinpath(name)
        return read_comments(file.read_text(encoding="utf-8"))
    except (ModuleNotFoundError, FileNotFoundError, ValueError):
        return {}


def read_comments(text: str) -> dict[str, str]:
    """Return the comments of the text of a .proto file, as `comments_of`."""
    reader = _Reader()
    for line in text.splitlines():
        reader.line(line.strip())
    return reader.found


class _Reader:
    """Reads lines, and keeps the messages and enums that it is inside of."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        #: Names of the open blocks; None for a block that gives no name to its content.
        self._blocks: list[str | None] = []
        self._pending: list[str] = []
        #: A declaration that continues on the next line.
        self._begun = ""

    def line(self, line: str) -> None:
        if line.startswith("//"):
            self._pending.append(line[2:].strip())
            return
        code, _, behind = _STRING.sub('""', line).partition("//")
        code = f"{self._begun} {code.strip()}".strip()
        self._begun = ""
        if not code:
            self._pending.clear()
            return
        if not code.endswith(("{", "}", ";")):
            self._begun = code
            self._pending += [behind.strip()] * bool(behind)
            return
        self._declaration(code, behind.strip())
        self._pending.clear()

    def _declaration(self, code: str, behind: str) -> None:
        comment = " ".join(self._pending) or behind
        block = _BLOCK.match(code)
        if block is not None:
            name = block[2] if block[1] in ("message", "enum") else None
            if name is not None:
                self._note(name, comment)
            self._blocks.append(name)
            self._close(code[block.end() :])
            return
        member = _MEMBER.match(code)
        if member is not None and self._blocks:
            self._note(member[1], comment)
        self._close(code)

    def _close(self, code: str) -> None:
        for _ in range(code.count("}") - code.count("{")):
            if self._blocks:
                self._blocks.pop()

    def _note(self, name: str, comment: str) -> None:
        if comment:
            self.found[".".join([*filter(None, self._blocks), name])] = comment
