"""The language server: the files that are open, and the looks for faults in them.

Requests are answered on the thread of the event loop, by `features`. Graphs are loaded in full on one other
thread, one at a time and only in their newest version, so that typing waits for none.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

import penstock
from penstock.errors import PenstockError
from penstock.log import get_logger, place
from penstock.packs import default_registry
from penstock_editor import diagnosis
from penstock_editor.knowledge import Knowledge
from penstock_editor.open_file import OpenFile
from penstock_editor.project_names import Folder
from penstock_editor.viewing import Viewing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Registry
    from penstock_editor.diagnosis import Remark
    from penstock_editor.open_file import WrittenGraph
    from penstock_editor.positions import Positions

_logger: Final = get_logger(__name__)
#: Of this many characters on, a text is first looked at quickly, and its graph is loaded afterwards.
_LARGE: Final = 20_000
#: So long nothing must be typed before a large graph is loaded.
_QUIET_S: Final = 0.5
_LEVELS: Final = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


class GraphServer(LanguageServer):
    """Serves one editor."""

    def __init__(self) -> None:
        super().__init__("penstock", penstock.__version__)
        self._open: dict[str, OpenFile] = {}
        self._folder = Folder()
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="penstock-editor")
        self._checks: set[asyncio.Task[None]] = set()
        #: The pictures of graphs in browsers.
        self.viewing = Viewing()

    def shut_down(self) -> None:
        """End the thread that loads graphs; what waits for it is left out."""
        self.viewing.shut_down()
        self._loader.shutdown(wait=True, cancel_futures=True)

    # --- texts --------------------------------------------------------------------------------------

    def opened(self, uri: str) -> OpenFile:
        """Return the file of an address, with its newest text."""
        found = self._open.get(uri)
        if found is None:
            found = self._open[uri] = OpenFile(uri)
            found.take(self.workspace.get_text_document(uri).source)
        return found

    def beside(self, one: OpenFile) -> list[OpenFile]:
        """Return a file, and then the graph files that lie beside it."""
        return self._folder.beside(one, self._open)

    def changed(self, uri: str) -> None:
        """Take the newest text of a file, and look for faults in it."""
        one = self._open.get(uri)
        if one is None:
            one = self.opened(uri)
        else:
            one.take(self.workspace.get_text_document(uri).source)
        one.is_checked = False
        self.viewing.changed(one)
        if len(one.lines.text) >= _LARGE or not one.can_be_loaded:
            self._publish(
                one, [(each, diagnosis.quick(each.graph, one.knowledge, one.own)) for each in one.graphs]
            )
        if one.can_be_loaded and not self._checks:
            task = asyncio.get_running_loop().create_task(self._check())
            self._checks.add(task)
            task.add_done_callback(self._checks.discard)

    def closed(self, uri: str) -> None:
        """Forget a file."""
        self.viewing.closed(uri)
        if self._open.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def places(self, graph: WrittenGraph) -> Positions:
        """Return the positions of a graph in its file."""
        return graph.positions(self.workspace.position_codec)

    async def _check(self) -> None:
        """Load each file that has changed, until none has."""
        loop = asyncio.get_running_loop()
        while (one := self._unchecked()) is not None:
            if len(one.lines.text) >= _LARGE and await self._is_typed(one):
                continue
            one.is_checked, number = True, one.number
            try:
                registry, found = await loop.run_in_executor(self._loader, _loaded, one, one.graphs)
            except Exception:  # of a component's own code, as its contract; typing goes on
                _logger.exception("%s cannot be checked", one.uri, extra=place())
                continue
            if number == one.number and one.uri in self._open:
                if registry is not one.knowledge.registry:
                    one.knowledge = Knowledge(registry)
                self._publish(one, found)

    def _unchecked(self) -> OpenFile | None:
        """Return a file whose newest text can be loaded and was not."""
        waiting = (one for one in self._open.values() if not one.is_checked and one.can_be_loaded)
        return next(waiting, None)

    @staticmethod
    async def _is_typed(one: OpenFile) -> bool:
        """Wait a little, and return whether the text has changed meanwhile."""
        number = one.number
        await asyncio.sleep(_QUIET_S)
        return one.number != number

    def _publish(self, one: OpenFile, found: Sequence[tuple[WrittenGraph, Sequence[Remark]]]) -> None:
        one.remarks = [(graph, each) for graph, remarks in found for each in remarks]
        diagnostics = [
            lsp.Diagnostic(
                self.places(graph).range(each.start, each.end),
                each.words,
                severity=_LEVELS[each.level],
                code=each.code or None,
                source="penstock lint" if each.code else "penstock",
            )
            for graph, each in one.remarks
        ]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(one.uri, diagnostics))
        self.viewing.changed(one)


def _loaded(
    one: OpenFile, graphs: Sequence[WrittenGraph]
) -> tuple[Registry, list[tuple[WrittenGraph, list[Remark]]]]:
    try:
        registry = one.registry()
    except PenstockError as error:
        return default_registry(), [(graphs[0], [diagnosis.Remark(0, 0, str(error), "error")])]
    knowledge = Knowledge(registry)
    return registry, [
        (
            each,
            diagnosis.quick(each.graph, knowledge, one.own)
            if each.graph.mistakes
            else diagnosis.full(each.graph, registry, one.path, one.own),
        )
        for each in graphs
    ]
