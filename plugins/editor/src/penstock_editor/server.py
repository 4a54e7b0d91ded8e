"""The language server: the protocol's requests, answered from the texts that are open.

Requests are answered on the thread of the event loop. Graphs are loaded in full on one other thread, one at a
time and only in their newest version, so that typing waits for none.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

import penstock
from penstock.errors import PenstockError
from penstock.log import get_logger, place
from penstock.packs import default_registry
from penstock_cli.api import registry_for
from penstock_editor import completion, diagnosis, outline
from penstock_editor.graph_text import GraphText
from penstock_editor.hover import hover
from penstock_editor.knowledge import Knowledge
from penstock_editor.positions import Positions
from penstock_format import formatted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Registry
    from penstock_editor.diagnosis import Remark
    from penstock_editor.graph_text import Name

_logger: Final = get_logger(__name__)
#: Of this many characters on, a text is first looked at quickly, and its graph is loaded afterwards.
_LARGE: Final = 20_000
#: So long nothing must be typed before a large graph is loaded.
_QUIET_S: Final = 0.5
#: Objects that are made before the garbage collector looks at them: trees of large texts have no circles.
_COLLECTED: Final = 100_000
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_ICONS: Final = {
    "component": lsp.CompletionItemKind.Class,
    "port": lsp.CompletionItemKind.Property,
    "name": lsp.CompletionItemKind.Variable,
    "field": lsp.CompletionItemKind.Field,
    "value": lsp.CompletionItemKind.EnumMember,
    "type": lsp.CompletionItemKind.Struct,
}
_LEVELS: Final = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


class OpenGraph:
    """A graph file that is open in the editor."""

    def __init__(self, uri: str) -> None:
        self.uri: Final = uri
        self.path: Final = _path_of(uri)
        self.graph = GraphText("")
        #: Counts the versions of the text.
        self.number = 0
        self.remarks: list[Remark] = []
        self.is_checked = True
        self.knowledge = Knowledge(default_registry())

    def take(self, text: str) -> None:
        """Take a new version of the text."""
        self.graph = GraphText(text, self.graph)
        self.number += 1

    def registry(self) -> Registry:
        """Return the registry with the subgraphs that lie beside the file."""
        if self.path is None or not self.path.is_file():
            return default_registry()
        return registry_for(self.path)


class GraphServer(LanguageServer):
    """Serves one editor."""

    def __init__(self) -> None:
        super().__init__("penstock", penstock.__version__)
        self._open: dict[str, OpenGraph] = {}
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="penstock-editor")
        self._checks: set[asyncio.Task[None]] = set()

    def shut_down(self) -> None:
        """End the thread that loads graphs; what waits for it is left out."""
        self._loader.shutdown(wait=True, cancel_futures=True)

    # --- texts --------------------------------------------------------------------------------------

    def opened(self, uri: str) -> OpenGraph:
        """Return the file of an address, with its newest text."""
        found = self._open.get(uri)
        if found is None:
            found = self._open[uri] = OpenGraph(uri)
            found.take(self.workspace.get_text_document(uri).source)
        return found

    def changed(self, uri: str) -> None:
        """Take the newest text of a file, and look for faults in it."""
        one = self._open.get(uri)
        if one is None:
            one = self.opened(uri)
        else:
            one.take(self.workspace.get_text_document(uri).source)
        one.is_checked = False
        found = diagnosis.quick(one.graph, one.knowledge)
        if one.graph.mistakes or len(one.graph.text) >= _LARGE:
            self._publish(one, found)
        if not one.graph.mistakes and not self._checks:
            task = asyncio.get_running_loop().create_task(self._check())
            self._checks.add(task)
            task.add_done_callback(self._checks.discard)

    def closed(self, uri: str) -> None:
        """Forget a file."""
        if self._open.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def places(self, one: OpenGraph) -> Positions:
        """Return the positions of a file's newest text."""
        return Positions(one.graph, self.workspace.position_codec)

    async def _check(self) -> None:
        """Load each graph that has changed, until none has."""
        loop = asyncio.get_running_loop()
        while (one := self._unchecked()) is not None:
            if len(one.graph.text) >= _LARGE and await self._is_typed(one):
                continue
            one.is_checked, number = True, one.number
            try:
                registry, found = await loop.run_in_executor(self._loader, _loaded, one, one.graph)
            except Exception:  # of a component's own code, as its contract; typing goes on
                _logger.exception("%s cannot be checked", one.uri, extra=place())
                continue
            if number == one.number and one.uri in self._open:
                if registry is not one.knowledge.registry:
                    one.knowledge = Knowledge(registry)
                self._publish(one, found)

    def _unchecked(self) -> OpenGraph | None:
        """Return a file whose newest text can be loaded and was not."""
        waiting = (one for one in self._open.values() if not (one.is_checked or one.graph.mistakes))
        return next(waiting, None)

    @staticmethod
    async def _is_typed(one: OpenGraph) -> bool:
        """Wait a little, and return whether the text has changed meanwhile."""
        number = one.number
        await asyncio.sleep(_QUIET_S)
        return one.number != number

    def _publish(self, one: OpenGraph, found: Sequence[Remark]) -> None:
        one.remarks = list(found)
        places = self.places(one)
        diagnostics = [
            lsp.Diagnostic(
                places.range(each.start, each.end),
                each.words,
                severity=_LEVELS[each.level],
                code=each.code or None,
                source="penstock lint" if each.code else "penstock",
            )
            for each in found
        ]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(one.uri, diagnostics))


def _loaded(one: OpenGraph, graph: GraphText) -> tuple[Registry, list[Remark]]:
    try:
        registry = one.registry()
    except PenstockError as error:
        return default_registry(), [diagnosis.Remark(0, 0, str(error), "error")]
    return registry, diagnosis.full(graph, registry, one.path)


def _path_of(uri: str) -> Path | None:
    parsed = urlparse(uri)
    if parsed.scheme != "file":
        return None
    path = unquote(parsed.path)
    return Path(path[1:] if re.match(r"/[A-Za-z]:", path) else path)


def made_server() -> GraphServer:  # noqa: C901, PLR0915  # one function for each request
    """Return a server that answers all requests and is not started."""
    server = GraphServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        server.changed(params.text_document.uri)  # files beside it may have been saved

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=['"', ":", "[", "'", "/"])
    )
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        one = server.opened(params.text_document.uri)
        places = server.places(one)
        offset = places.offset(params.position)
        found = completion.proposals(one.graph, offset, one.knowledge)
        items = [
            lsp.CompletionItem(
                each.label,
                kind=_ICONS[each.kind],
                detail=each.detail or None,
                sort_text=f"{number:05}",
                filter_text=each.label,
                text_edit=lsp.TextEdit(places.range(each.start, offset), each.text),
            )
            for number, each in enumerate(found)
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        one = server.opened(params.text_document.uri)
        said = hover(one.graph, server.places(one).offset(params.position), one.knowledge)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said)) if said else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(params: lsp.DefinitionParams) -> list[lsp.Location] | None:
        one, name = _named(server, params.text_document.uri, params.position)
        if name is None:
            return None
        if name.kind != "calculator":
            return _locations(server, one, [each for each in _places(one, name) if each.is_origin])
        source = one.knowledge.source_of(name.name)
        if source is None:
            return None
        file, line = source
        start = lsp.Position(line, 0)
        return [lsp.Location(file.resolve().as_uri(), lsp.Range(start, start))]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def refer(params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        one, name = _named(server, params.text_document.uri, params.position)
        if name is None:
            return None
        whole = params.context.include_declaration
        return _locations(server, one, [each for each in _places(one, name) if whole or not each.is_origin])

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        one, name = _named(server, params.text_document.uri, params.position)
        if name is None or name.kind == "calculator":
            return None
        return server.places(one).range(name.start, name.end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        one, name = _named(server, params.text_document.uri, params.position)
        if name is None or name.kind == "calculator":
            return None
        _check_new_name(one, name, params.new_name)
        places = server.places(one)
        edits = [
            lsp.TextEdit(places.range(each.start, each.end), params.new_name) for each in _places(one, name)
        ]
        return lsp.WorkspaceEdit({one.uri: edits})

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def list_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        one = server.opened(params.text_document.uri)
        return outline.outline(one.graph, server.places(one))

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def fold(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return outline.folds(server.opened(params.text_document.uri).graph)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def lay_out(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        one = server.opened(params.text_document.uri)
        text = one.graph.text
        try:
            new = formatted(text, one.knowledge.registry, label=one.path.name if one.path else None)
        except PenstockError as error:
            said = lsp.ShowMessageParams(lsp.MessageType.Warning, f"not formatted: {error}")
            server.window_show_message(said)
            return None
        if new == text:
            return []
        return [lsp.TextEdit(server.places(one).range(0, len(text)), new)]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    def act(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        one = server.opened(params.text_document.uri)
        places = server.places(one)
        first, last = places.offset(params.range.start), places.offset(params.range.end)
        return [
            lsp.CodeAction(
                cure.title,
                kind=lsp.CodeActionKind.QuickFix,
                edit=lsp.WorkspaceEdit(
                    {one.uri: [lsp.TextEdit(places.range(cure.start, cure.end), cure.text)]}
                ),
            )
            for remark in one.remarks
            if remark.start <= last and first <= remark.end
            for cure in remark.cures
        ]

    return server


def _named(server: GraphServer, uri: str, position: lsp.Position) -> tuple[OpenGraph, Name | None]:
    one = server.opened(uri)
    return one, one.graph.name_at(server.places(one).offset(position))


def _places(one: OpenGraph, name: Name) -> list[Name]:
    return one.graph.places(name.kind, name.name)


def _locations(server: GraphServer, one: OpenGraph, names: Sequence[Name]) -> list[lsp.Location]:
    places = server.places(one)
    return [lsp.Location(one.uri, places.range(each.start, each.end)) for each in names]


def _check_new_name(one: OpenGraph, name: Name, new: str) -> None:
    """Raise an error of the protocol where a name cannot be given.

    Raises:
        JsonRpcInvalidParams: with the reason, which editors show.
    """
    if name.kind != "executor" and not _NAME.fullmatch(new):
        raise JsonRpcInvalidParams(f"{new!r} is no name of a {name.kind}: use small letters, digits and _")
    if new != name.name and one.graph.places(name.kind, new):
        raise JsonRpcInvalidParams(f"there is a {name.kind} {new!r} already; choose another name")


def _is_bug(record: logging.LogRecord) -> bool:
    """Return whether a record is worth a line: the user sees the refusal of a name in the editor."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, JsonRpcInvalidParams)


def serve() -> None:
    """Serve standard input and output until the editor ends it.

    What components print goes to stderr: standard output belongs to the protocol.
    """
    server = made_server()
    gc.set_threshold(_COLLECTED)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_bug)
    protocol: Any = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        server.start_io(sys.stdin.buffer, protocol)
    finally:
        server.shut_down()
        protocol.close()
