"""The requests of an editor, answered from the files that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from penstock.errors import PenstockError
from penstock_editor import colours, completion, outline, project_names
from penstock_editor.forms import TEXT
from penstock_editor.hover import hover
from penstock_format import formatted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock_editor.graph_text import Name
    from penstock_editor.open_file import OpenFile, WrittenGraph
    from penstock_editor.project_names import Found
    from penstock_editor.server import GraphServer

_ICONS: Final = {
    "component": lsp.CompletionItemKind.Class,
    "port": lsp.CompletionItemKind.Property,
    "name": lsp.CompletionItemKind.Variable,
    "field": lsp.CompletionItemKind.Field,
    "value": lsp.CompletionItemKind.EnumMember,
    "type": lsp.CompletionItemKind.Struct,
}
_TRIGGERS: Final = ['"', ":", "[", "'", "/"]


def add_features(server: GraphServer) -> None:
    """Let a server answer all requests about texts."""
    _add_help(server)
    _add_places(server)
    _add_renaming(server)
    _add_whole(server)


def _add_help(server: GraphServer) -> None:
    """Answer requests for completion, pages and cures."""

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=_TRIGGERS))
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        one, found = _at(server, params.text_document.uri, params.position)
        if found is None:
            return lsp.CompletionList(is_incomplete=False, items=[])
        graph, offset = found
        places = server.places(graph)
        items = [
            lsp.CompletionItem(
                each.label,
                kind=_ICONS[each.kind],
                detail=each.detail or None,
                sort_text=f"{number:05}",
                filter_text=each.label,
                text_edit=lsp.TextEdit(places.range(each.start, offset), graph.written(each.text)),
            )
            for number, each in enumerate(completion.proposals(graph.graph, offset, one.knowledge))
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        one, found = _at(server, params.text_document.uri, params.position)
        said = "" if found is None else hover(found[0].graph, found[1], one.knowledge)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said)) if said else None

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    def act(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        one = server.opened(params.text_document.uri)
        return [
            lsp.CodeAction(
                cure.title,
                kind=lsp.CodeActionKind.QuickFix,
                edit=lsp.WorkspaceEdit(
                    {one.uri: [lsp.TextEdit(places.range(cure.start, cure.end), graph.written(cure.text))]}
                ),
            )
            for graph, remark in one.remarks
            for places in [server.places(graph)]
            if _overlap(places.range(remark.start, remark.end), params.range)
            for cure in remark.cures
        ]


def _add_places(server: GraphServer) -> None:
    """Answer where things are made and used, and rename them."""

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(params: lsp.DefinitionParams) -> list[lsp.Location] | None:
        one, found = _at(server, params.text_document.uri, params.position)
        if found is None:
            return None
        return _definition(server, one, *found)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def refer(params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        found = _places(server, params.text_document.uri, params.position)
        if found is None:
            return None
        whole = params.context.include_declaration
        return _locations(server, [each for each in found if whole or not each.is_origin])

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def mark(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight] | None:
        _, at = _at(server, params.text_document.uri, params.position)
        found = None if at is None else _places(server, params.text_document.uri, params.position)
        if at is None or found is None:
            return None
        read, written = lsp.DocumentHighlightKind.Read, lsp.DocumentHighlightKind.Write
        return [
            lsp.DocumentHighlight(
                server.places(each.graph).range(each.start, each.end), written if each.is_origin else read
            )
            for each in found
            if each.graph is at[0]
        ]


def _add_renaming(server: GraphServer) -> None:
    """Answer requests for other names."""

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        found = _renamed(server, params.text_document.uri, params.position)
        if found is None:
            return None
        graph, _, port, name = found
        one = port or name
        return None if one is None else server.places(graph).range(one.start, one.end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        found = _renamed(server, params.text_document.uri, params.position)
        if found is None:
            return None
        graph, files, port, name = found
        if port is not None:
            project_names.check_new_tag(files, port, params.new_name)
            return _edit(server, project_names.tags_of(files, port), params.new_name)
        if name is None:
            return None
        places = project_names.places_of(files, graph, name)
        project_names.check_new_name(places, name, params.new_name, files)
        return _edit(server, places, params.new_name)


def _add_whole(server: GraphServer) -> None:
    """Answer what is asked of a whole file: outline, folding, colours, layout."""

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def list_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        graphs = server.opened(params.text_document.uri).graphs
        return [each for one in graphs for each in outline.outline(one.graph, server.places(one))]

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def fold(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        graphs = server.opened(params.text_document.uri).graphs
        return [each for one in graphs for each in outline.folds(one.graph, server.places(one))]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, colours.LEGEND)
    def colour(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        graphs = server.opened(params.text_document.uri).graphs
        return lsp.SemanticTokens(colours.encoded((one.graph, server.places(one)) for one in graphs))

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, colours.LEGEND)
    def colour_range(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        graphs = server.opened(params.text_document.uri).graphs
        between = params.range.start.line, params.range.end.line
        return lsp.SemanticTokens(
            colours.encoded(((one.graph, server.places(one)) for one in graphs), between)
        )

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def lay_out(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        one = server.opened(params.text_document.uri)
        if not one.graphs or not one.graphs[0].is_whole or one.graphs[0].graph.form is not TEXT:
            return None
        graph = one.graphs[0]
        text = graph.graph.text
        try:
            new = formatted(text, one.knowledge.registry, label=one.path.name if one.path else None)
        except PenstockError as error:
            said = lsp.ShowMessageParams(lsp.MessageType.Warning, f"not formatted: {error}")
            server.window_show_message(said)
            return None
        if new == text:
            return []
        return [lsp.TextEdit(server.places(graph).range(0, len(text)), new)]


def _renamed(
    server: GraphServer, uri: str, position: lsp.Position
) -> tuple[WrittenGraph, list[OpenFile], project_names.Port | None, Name | None] | None:
    """Return what has another name after a rename: a graph, the files beside it, and a port or a name in it.

    Both are None where nothing can be renamed, such as the name of a calculator that is not a file's.
    """
    one, at = _at(server, uri, position)
    if at is None:
        return None
    graph, offset = at
    files = server.beside(one)
    port = project_names.port_at(files, graph, offset)
    name = graph.graph.name_at(offset)
    if name is not None and name.kind == "calculator" and project_names.defining(files, name.name) is None:
        name = None
    return graph, files, port, name


def _overlap(one: lsp.Range, other: lsp.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


def _at(
    server: GraphServer, uri: str, position: lsp.Position
) -> tuple[OpenFile, tuple[WrittenGraph, int] | None]:
    """Return a file, and the graph at a position with the offset in it; None where there is none."""
    one = server.opened(uri)
    if not one.graphs:
        return one, None
    found = one.at(server.places(one.graphs[0]).offset(position))
    if found is not None:
        server.viewing.looked_at(one, *found)
    return one, found


def _places(server: GraphServer, uri: str, position: lsp.Position) -> list[Found] | None:
    """Return the places of the name at a position; None where there is none."""
    one, found = _at(server, uri, position)
    if found is None:
        return None
    graph, offset = found
    files = server.beside(one)
    port = project_names.port_at(files, graph, offset)
    if port is not None:
        return project_names.tags_of(files, port)
    name = graph.graph.name_at(offset)
    return None if name is None else project_names.places_of(files, graph, name)


def _definition(
    server: GraphServer, one: OpenFile, graph: WrittenGraph, offset: int
) -> list[lsp.Location] | None:
    """Return where the thing at an offset is made: for a port of a subgraph, in the subgraph's file."""
    files = server.beside(one)
    name = graph.graph.name_at(offset)
    port = project_names.port_at(files, graph, offset)
    if port is None and name is not None and name.is_origin and name.node >= 0:
        port = project_names.port_of(files, graph.graph, name)
    inner = None if port is None else project_names.inner_entry(files, port)
    if inner is not None:
        return _locations(server, [inner])
    if name is None:
        return None
    if name.kind == "calculator":
        return _source_of(server, one, files, name)
    return _locations(
        server, [each for each in project_names.places_of(files, graph, name) if each.is_origin]
    )


def _source_of(
    server: GraphServer, one: OpenFile, files: list[OpenFile], name: Name
) -> list[lsp.Location] | None:
    """Return where a calculator or subgraph is: in a file beside, as it is edited, or installed."""
    defined = project_names.defining(files, name.name)
    if defined is not None:
        return _locations(
            server, [each for each in project_names.places_of(files, defined[1], name) if each.is_origin]
        )
    source = one.knowledge.source_of(name.name)
    if source is None:
        return None
    file, line = source
    start = lsp.Position(line, 0)
    return [lsp.Location(file.resolve().as_uri(), lsp.Range(start, start))]


def _locations(server: GraphServer, found: Iterable[Found]) -> list[lsp.Location]:
    return [
        lsp.Location(each.file.uri, server.places(each.graph).range(each.start, each.end)) for each in found
    ]


def _edit(server: GraphServer, found: Sequence[Found], new: str) -> lsp.WorkspaceEdit:
    changes: dict[str, list[lsp.TextEdit]] = {}
    for each in found:
        edit = lsp.TextEdit(server.places(each.graph).range(each.start, each.end), each.graph.written(new))
        changes.setdefault(each.file.uri, []).append(edit)
    return lsp.WorkspaceEdit(changes)
