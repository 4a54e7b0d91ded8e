"""A file that is open in the editor, and the graphs that are written in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlparse

from penstock.packs import default_registry
from penstock_cli.api import registry_with_subgraphs
from penstock_editor.forms import JSON, TEXT
from penstock_editor.graph_text import GraphText
from penstock_editor.knowledge import Knowledge
from penstock_editor.lines import TextLines
from penstock_editor.positions import Positions
from penstock_editor.python_text import graphs_in, own_names

if TYPE_CHECKING:
    from pygls.workspace import PositionCodec

    from penstock import Registry
    from penstock_editor.diagnosis import Remark
    from penstock_editor.python_text import GraphString

_PYTHON: Final = (".py", ".pyi")
_JSON: Final = (".json",)
#: What a JSON file has that is a graph, or is about to be one.
_IS_GRAPH: Final = re.compile(r'"node"\s*:\s*[\[{]|"calculator"\s*:')


class WrittenGraph:
    """One graph of a file, in one version of it.

    Args:
        graph: the graph.
        lines: of the whole file.
        string: where the graph stands in a Python file; None where it is the whole file.
    """

    def __init__(self, graph: GraphText, lines: TextLines, string: GraphString | None = None) -> None:
        self.graph: Final = graph
        self._lines: Final = lines
        self._string: Final = string

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self._string is None

    def positions(self, codec: PositionCodec) -> Positions:
        """Return the positions in the file of the graph's offsets."""
        return Positions(self._lines, codec, None if self._string is None else self._string.to_file)

    def offset(self, in_file: int) -> int | None:
        """Return the offset in the graph of one in the file; None where that is not in the graph."""
        return in_file if self._string is None else self._string.from_file(in_file)

    def written(self, text: str) -> str:
        """Return a piece of graph text as the file must have it."""
        return text if self._string is None else self._string.written(text)


class OpenFile:
    """A file that is open in the editor."""

    def __init__(self, uri: str) -> None:
        self.uri: Final = uri
        self.path: Final = path_of(uri)
        suffix = Path(urlparse(uri).path).suffix.lower()
        self.is_python: Final = suffix in _PYTHON
        self.is_json: Final = suffix in _JSON
        self.lines = TextLines("")
        self.graphs: list[WrittenGraph] = []
        #: Counts the versions of the text.
        self.number = 0
        self.remarks: list[tuple[WrittenGraph, Remark]] = []
        self.is_checked = True
        self.knowledge = Knowledge(default_registry())
        #: Calculators that the file may define itself.
        self.own: frozenset[str] = frozenset()

    def take(self, text: str) -> None:
        """Take a new version of the text."""
        self.number += 1
        before = [one.graph for one in self.graphs]
        if self.is_python:
            self.lines = TextLines(text)
            strings = graphs_in(text)
            old = [*before, *[None] * len(strings)]
            self.graphs = [
                WrittenGraph(GraphText(one.text, was), self.lines, one)
                for one, was in zip(strings, old, strict=False)
            ]
            self.own = own_names(text) if strings else frozenset()
            return
        if self.is_json and not _IS_GRAPH.search(text):
            self.lines, self.graphs = TextLines(text), []
            return
        graph = GraphText(text, before[0] if before else None, JSON if self.is_json else TEXT)
        self.lines = graph
        self.graphs = [WrittenGraph(graph, graph)]

    @property
    def can_be_loaded(self) -> bool:
        """Whether there is a graph without mistakes of its text."""
        return any(not one.graph.mistakes for one in self.graphs)

    def at(self, offset: int) -> tuple[WrittenGraph, int] | None:
        """Return the graph at an offset of the file, and the offset in it; None where there is none."""
        for one in self.graphs:
            inside = one.offset(offset)
            if inside is not None:
                return one, inside
        return None

    def registry(self) -> Registry:
        """Return the registry with the subgraphs that lie beside the file."""
        if self.is_python or self.path is None or not self.path.is_file():
            return default_registry()
        return registry_with_subgraphs(self.path)


def path_of(uri: str) -> Path | None:
    """Return the path of a file's address; None for other addresses."""
    parsed = urlparse(uri)
    if parsed.scheme != "file":
        return None
    path = unquote(parsed.path)
    return Path(path[1:] if re.match(r"/[A-Za-z]:", path) else path)
