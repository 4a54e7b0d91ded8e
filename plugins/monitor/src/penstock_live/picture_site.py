"""The picture of a graph file for browsers, sent again whenever it changes, with one node marked.

`/` is a page that shows it; `/events` a stream of Server-Sent Events: `picture` with the SVG and the faults,
`mark` with the name of a node. A POST to `/choice` says which node a viewer has clicked. Each request needs
the token, as requests for the page of a run do.

Nobody waits for a client: one that is slow misses the pictures between, and gets the newest.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import attrs
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from penstock_live.guard import Guard, checked_token
from penstock_live.web import WebServer

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.requests import Request

    from penstock_live.listening import Address

#: Without news for so long a comment is sent, so that both ends notice when the other one is gone.
HEARTBEAT_S: Final = 10.0
_NOT_FOUND: Final = 404
_UNAVAILABLE: Final = 503
_NO_CONTENT: Final = 204
_CHOICE: Final = "/choice"
_PAGE: Final = Path(__file__).with_name("picture_page.html")


@attrs.frozen
class _Shown:
    """What the page shows."""

    #: Counts the pictures.
    number: int = 0
    svg: str = ""
    notes: tuple[str, ...] = ()
    #: The name of the node that is marked; "" for none.
    node: str = ""


class PictureSite:
    """Serves the picture of one graph file, from the moment it is made until `close`.

    Args:
        listening: the socket, bound and listening. Closed with the site.
        address: where that is.
        title: of the page.
        token: what requests must have in their query; None makes one.
        most_viewers: how many may look at once; the next one is answered with 503.
        on_choice: called with the name of a node that a viewer has clicked, on the thread of the server, and
            soon returns; None where clicks lead nowhere.

    Raises:
        InvalidArgumentError: the token is shorter than 16 characters. The socket is not closed.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        listening: socket.socket,
        address: Address,
        *,
        title: str,
        token: str | None = None,
        most_viewers: int = 16,
        on_choice: Callable[[str], None] | None = None,
    ) -> None:
        token = checked_token(token)
        #: The address of the page, with the token.
        self.url: Final = f"{address.origin}/?token={quote(token, safe='')}"
        self._title: Final = title
        self._most: Final = most_viewers
        self._on_choice: Final = on_choice
        self._shown = _Shown()
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False
        #: How many look at the picture now.
        self.viewers = 0

        async def not_found(request: Request, _error: Exception) -> Response:
            words = f"there is no page {request.url.path[:100]!r}; there are / and /events\n"
            return PlainTextResponse(words, _NOT_FOUND)

        routes = [Route("/", self._page), Route("/events", self._events)]
        posts = () if on_choice is None else (_CHOICE,)
        routes += [Route(path, self._choice, methods=["POST"]) for path in posts]
        application = Starlette(routes=routes, exception_handlers={_NOT_FOUND: not_found})
        self._web: Final = WebServer(
            Guard(application, address, token, posts), listening, None, self._end, "penstock-picture-site"
        )

    def show(self, svg: str, notes: Sequence[str] = ()) -> None:
        """Send a picture to all viewers. Called by any one thread.

        Args:
            svg: as `penstock_views.draw.svg` makes it with `marked`; "" keeps the picture that there is.
            notes: what is wrong with the graph, shown below it.
        """
        shown = self._shown
        self._take(attrs.evolve(shown, number=shown.number + 1, svg=svg or shown.svg, notes=tuple(notes)))

    def mark(self, node: str) -> None:
        """Mark a node by its name, and no other; "" marks none. Called by the thread that calls `show`."""
        if node != self._shown.node:
            self._take(attrs.evolve(self._shown, node=node))

    def close(self) -> None:
        """End the answers and all connections, and wait for the thread. May be called again."""
        self._web.close()

    def _take(self, shown: _Shown) -> None:
        self._shown = shown
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody looks any more
                self._loop.call_soon_threadsafe(self._tell)

    async def _end(self) -> None:
        self._is_closed = True
        self._tell()

    def _tell(self) -> None:
        told, self._news = self._news, asyncio.Event()
        told.set()

    # --- answers, on the thread of the server -------------------------------------------------------

    async def _page(self, _request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        text = _PAGE.read_text(encoding="utf-8")
        page = text.replace("{NONCE}", nonce).replace("{LEADS}", str(self._on_choice is not None).lower())
        page = page.replace("{TITLE}", escape(self._title))
        return HTMLResponse(page, headers={"content-security-policy": policy})

    async def _choice(self, request: Request) -> Response:
        if self._on_choice is not None:
            self._on_choice(request.query_params.get("node", ""))
        return Response(status_code=_NO_CONTENT)

    async def _events(self, request: Request) -> Response:
        kind = "text/event-stream"
        if request.method == "HEAD":  # an answer without an end, which has no body
            return Response(media_type=kind)
        if self.viewers >= self._most:
            words = f"{self._most} viewers look at this picture, and no more may\n"
            return PlainTextResponse(words, _UNAVAILABLE, {"retry-after": "10"})
        self._loop = asyncio.get_running_loop()
        return StreamingResponse(self._told(), media_type=kind)

    async def _told(self) -> AsyncIterator[str]:
        """Yield the events of one viewer, until the site is closed."""
        self.viewers += 1
        try:
            number, node = -1, ""
            while not self._is_closed:
                shown, news = self._shown, self._news
                if shown.number != number:
                    number = shown.number
                    yield _event("picture", {"svg": shown.svg, "notes": shown.notes})
                if shown.node != node:
                    node = shown.node
                    yield _event("mark", {"node": node})
                if shown is not self._shown:
                    continue
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        await news.wait()
                except TimeoutError:
                    yield ": still here\n\n"
            yield _event("end", {})
        finally:
            self.viewers -= 1


def _event(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
