"""The picture beside the text: drawn when it is asked for, and in a browser that follows the cursor.

A page of this machine is drawn again as one types. Where the cursor is, the server learns from the requests
that editors send as it moves, such as `textDocument/documentHighlight`.
"""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.log import get_logger, place
from penstock_editor.picture import Pictured, pictured
from penstock_views.draw import Painter

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_editor.open_file import OpenFile, WrittenGraph
    from penstock_editor.picture import Placed
    from penstock_live.api import PictureSite

    #: Shows a node of a graph in the editor.
    Lead = Callable[[OpenFile, WrittenGraph, Placed], None]

_logger: Final = get_logger(__name__)
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

    def open(self, one: OpenFile, number: int, lead: Lead | None = None) -> str:
        """Show a graph of a file in a page; return its address.

        Args:
            one: the file.
            number: which of its graphs.
            lead: called on this event loop for a node that somebody has clicked; None where clicks lead
                nowhere. Only the first call for a file decides.

        Raises:
            UnavailableError: a library of the page is not installed; says how to get it.
        """
        site = self._sites.get(one.uri)
        if site is None:
            from penstock_live.api import PictureSite, check_web, listen  # with the web server

            check_web("the picture of a graph in a browser", _INSTALL, _NEEDED)
            listening, address = listen("127.0.0.1", 0, is_tls=False)
            title = one.path.name if one.path else one.uri
            try:
                site = PictureSite(listening, address, title=title, on_choice=self._chooser(one, lead))
            except BaseException:
                listening.close()
                raise
            self._sites[one.uri] = site
        self._numbers[one.uri] = number
        self.changed(one)
        return site.url

    def _chooser(self, one: OpenFile, lead: Lead | None) -> Callable[[str], None] | None:
        """Return what the thread of a page calls for a node that was clicked."""
        if lead is None:
            return None
        loop = asyncio.get_running_loop()

        def choose(node: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the editor has ended
                loop.call_soon_threadsafe(self._chosen, one, node, lead)

        return choose

    def _chosen(self, one: OpenFile, node: str, lead: Lead) -> None:
        """Lead to a node of the graph that is shown, if it is still there."""
        if one.uri not in self._sites or not one.graphs:
            return
        graph = self._shown(one)
        for placed in pictured(graph.graph, one.knowledge).nodes:
            if placed.name == node:
                self._sites[one.uri].mark(node)
                lead(one, graph, placed)
                return

    def _shown(self, one: OpenFile) -> WrittenGraph:
        """Return the graph of a file that its page shows. The file has graphs."""
        return one.graphs[min(self._numbers[one.uri], len(one.graphs) - 1)]

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
                    name = one.path.name if one.path else ""
                    svg = await self.drawn(pictured(self._shown(one).graph, one.knowledge, name))
            except PenstockError as error:
                notes.append(str(error))
            except Exception:  # of the process that draws: the page keeps what it has
                _logger.exception("%s cannot be drawn", uri, extra=place())
            if uri in self._sites:
                site.show(svg, notes)
