"""The picture beside the text: drawn when it is asked for, and in a browser that follows the cursor.

Editors with a view of their own ask `penstock/picture` and `penstock/nodeAt`. For all others the command
`penstock.openPicture` starts a page of this machine, which is drawn again as one types. Where the cursor is,
the server learns from the requests that editors send as it moves, such as `textDocument/documentHighlight`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from penstock.errors import PenstockError
from penstock.log import get_logger, place
from penstock_editor.picture import Pictured, pictured
from penstock_views.draw import Painter

if TYPE_CHECKING:
    from penstock_editor.open_file import OpenFile, WrittenGraph
    from penstock_editor.server import GraphServer
    from penstock_live.api import PictureSite

_logger: Final = get_logger(__name__)
PICTURE: Final = "penstock/picture"
NODE_AT: Final = "penstock/nodeAt"
OPEN: Final = "penstock.openPicture"
#: So long nothing must be typed before a graph is drawn again.
_QUIET_S: Final = 0.15
_NEEDED: Final = ("h11", "pygraphviz", "starlette", "uvicorn")
_INSTALL: Final = 'pip install "penstock-monitor[live]"'


class Viewing:
    """The pages of one server: one for each file whose picture was opened."""

    def __init__(self) -> None:
        self._sites: Final[dict[str, PictureSite]] = {}
        #: Which graph of the file is shown.
        self._numbers: Final[dict[str, int]] = {}
        self._painter: Final = Painter()
        self._pool: Final = ThreadPoolExecutor(1, thread_name_prefix="penstock-editor-picture")
        self._drawings: Final[set[asyncio.Task[None]]] = set()
        self._changed: Final[dict[str, OpenFile]] = {}

    async def drawn(self, picture: Pictured, *, across: bool = False) -> str:
        """Return the picture as SVG; raises as `Painter.svg`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._pool, lambda: self._painter.svg(picture.drawing, across=across)
        )

    def open(self, one: OpenFile, number: int) -> str:
        """Show a graph of a file in a page; return its address.

        Raises:
            UnavailableError: a library of the page is not installed; says how to get it.
        """
        site = self._sites.get(one.uri)
        if site is None:
            from penstock_live.api import PictureSite, check_web, listen  # with the web server

            check_web("the picture of a graph in a browser", _INSTALL, _NEEDED)
            listening, address = listen("127.0.0.1", 0, is_tls=False)
            try:
                site = PictureSite(listening, address, title=one.path.name if one.path else one.uri)
            except BaseException:
                listening.close()
                raise
            self._sites[one.uri] = site
        self._numbers[one.uri] = number
        self.changed(one)
        return site.url

    def changed(self, one: OpenFile) -> None:
        """Draw a file again, if a page shows it, as soon as it is left alone."""
        if one.uri not in self._sites:
            return
        self._changed[one.uri] = one
        if not self._drawings:
            task = asyncio.get_running_loop().create_task(self._draw())
            self._drawings.add(task)
            task.add_done_callback(self._drawings.discard)

    def looked_at(self, one: OpenFile, graph: WrittenGraph, offset: int) -> None:
        """Mark the node at an offset, if a page shows the file."""
        site = self._sites.get(one.uri)
        if site is None:
            return
        number = one.graphs.index(graph)
        if number != self._numbers[one.uri]:
            self._numbers[one.uri] = number
            self.changed(one)
        node = pictured(graph.graph, one.knowledge).node_at(offset)
        if node:
            site.mark(node)

    def closed(self, uri: str) -> None:
        """Close the page of a file, if there is one."""
        self._changed.pop(uri, None)
        site = self._sites.pop(uri, None)
        if site is not None:
            site.close()

    def shut_down(self) -> None:
        """Close all pages, and end the thread that draws."""
        for uri in list(self._sites):
            self.closed(uri)
        self._painter.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _draw(self) -> None:
        """Draw each file that has changed, until none has."""
        while self._changed:
            uri, one = next(iter(self._changed.items()))
            number = one.number
            await asyncio.sleep(_QUIET_S)
            if one.number != number:
                continue
            self._changed.pop(uri, None)
            site = self._sites.get(uri)
            if site is None:
                continue
            notes = [remark.words for _, remark in one.remarks if remark.level == "error"]
            svg = ""
            try:
                if one.graphs:
                    shown = one.graphs[min(self._numbers[uri], len(one.graphs) - 1)]
                    name = one.path.name if one.path else ""
                    svg = await self.drawn(pictured(shown.graph, one.knowledge, name))
            except PenstockError as error:
                notes.append(str(error))
            except Exception:  # of the process that draws: the page keeps what it has
                _logger.exception("%s cannot be drawn", uri, extra=place())
            if uri in self._sites:
                site.show(svg, notes)


def add_viewing(server: GraphServer) -> None:
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
        try:
            url = server.viewing.open(one, 0)
        except PenstockError as error:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, str(error)))
            return None
        shows = server.client_capabilities.window
        if shows is not None and shows.show_document is not None and shows.show_document.support:
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
