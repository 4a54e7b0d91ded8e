"""The requests for pictures: of editors with a view of their own, and the command that opens a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from penstock.errors import PenstockError
from penstock_editor.picture import pictured

if TYPE_CHECKING:
    from penstock_editor.open_file import OpenFile, WrittenGraph
    from penstock_editor.picture import Placed
    from penstock_editor.server import GraphServer

PICTURE: Final = "penstock/picture"
NODE_AT: Final = "penstock/nodeAt"
OPEN: Final = "penstock.openPicture"


def add_picture_requests(server: GraphServer) -> None:
    """Let a server answer requests for pictures."""

    @server.feature(PICTURE)
    async def draw(params: Any) -> dict[str, object]:
        one, graph, _ = _graph(server, params)
        picture = pictured(graph.graph, one.knowledge, one.path.name if one.path else "")
        places = server.places(graph)
        try:
            svg = await server.viewing.drawn(picture, across=bool(getattr(params, "across", False)))
        except PenstockError as error:
            raise JsonRpcInvalidParams(str(error)) from error
        nodes = [
            {"name": each.name, "range": _plain(places.range(each.start, each.end))} for each in picture.nodes
        ]
        return {"svg": svg, "nodes": nodes}

    @server.feature(NODE_AT)
    def find(params: Any) -> dict[str, str] | None:
        one, graph, offset = _graph(server, params)
        node = pictured(graph.graph, one.knowledge).node_at(offset)
        server.viewing.looked_at(one, graph, offset)
        return {"name": node} if node else None

    @server.command(OPEN)
    async def open_picture(uri: str) -> str | None:
        one = server.opened(uri)
        if not one.graphs:
            raise JsonRpcInvalidParams(f"{uri} has no graph")
        shows = server.client_capabilities.window
        can_show = shows is not None and shows.show_document is not None and shows.show_document.support

        def lead(file: OpenFile, graph: WrittenGraph, node: Placed) -> None:
            place = server.places(graph).range(node.start, node.start)
            server.window_show_document(lsp.ShowDocumentParams(file.uri, take_focus=True, selection=place))

        try:
            url = server.viewing.open(one, 0, lead if can_show else None)
        except PenstockError as error:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, str(error)))
            return None
        if can_show:
            await server.window_show_document_async(lsp.ShowDocumentParams(url, external=True))
        return url


def _graph(server: GraphServer, params: Any) -> tuple[OpenFile, WrittenGraph, int]:
    """Return the file, the graph and the offset in it that a request is about; the first graph elsewhere.

    Raises:
        JsonRpcInvalidParams: the file has no graph.
    """
    one = server.opened(params.textDocument.uri)
    if not one.graphs:
        raise JsonRpcInvalidParams(f"{one.uri} has no graph")
    position = getattr(params, "position", None)
    if position is not None:
        places = server.places(one.graphs[0])
        found = one.at(places.offset(lsp.Position(position.line, position.character)))
        if found is not None:
            return one, *found
    return one, one.graphs[0], -1


def _plain(found: lsp.Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": found.start.line, "character": found.start.character},
        "end": {"line": found.end.line, "character": found.end.character},
    }
