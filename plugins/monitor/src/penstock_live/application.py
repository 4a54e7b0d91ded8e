"""The paths of the server, each read only.

`/` the page; `/graph.svg` the picture of the graph, with `layout=across` or `layout=down` and any number of
`open=GROUP` the picture of the first screen; `/reading` the newest reading as JSON; `/events` readings as
server-sent events; `/minute` the numbers of the last minute, `/node?name=NAME` all about one node, as JSON;
`/thumbnails?stream=NAME&stream=NAME` the newest packets of streams as JSON, pictures as data URLs, with
`pixels=N` of another size, and with `large=NAME` and `large_pixels=N` one of them larger.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from penstock.errors import NotFoundError, PenstockError, UnavailableError
from penstock_live.drawing import Look, picture
from penstock_live.guard import Guard
from penstock_live.page import page
from penstock_live.thumbnails import SIZES
from penstock_views.draw import Painter

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from penstock_live.about import About
    from penstock_live.feed import Feed
    from penstock_live.listening import Address
    from penstock_live.thumbnails import Thumbnails

_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_UNAVAILABLE: Final = 503
#: Pictures that are kept, and groups that one request may open.
_PICTURES: Final = 16
_GROUPS: Final = 200
_LAYOUTS: Final = {"across": True, "down": False}
#: The most pixels of a side of pictures, where the request names none.
_USUAL: Final = {"pixels": 320, "large_pixels": 640}


class Application:
    """What is served of one graph.

    Args:
        config: the graph as it was checked, in binary form.
        title: of the page.
        feed: its readings.
        thumbnails: what flows.
        about: what is asked once.
    """

    def __init__(self, config: bytes, title: str, feed: Feed, thumbnails: Thumbnails, about: About) -> None:
        self._config: Final = config
        self._title: Final = title
        self._feed: Final = feed
        self._thumbnails: Final = thumbnails
        self._about: Final = about
        #: The newest ones, each as it was asked for.
        self._pictures: Final[dict[Look | None, str]] = {}
        #: Held while one is drawn: each is a process that may take seconds.
        self._drawing: Final = asyncio.Lock()
        self._painter: Final = Painter()
        #: How often the page was opened.
        self.opened = 0

    def guarded(self, address: Address, token: str) -> ASGIApp:
        """Return the application, behind a guard."""
        routes = [
            Route("/", self._page),
            Route("/graph.svg", self._svg),
            Route("/reading", self._reading),
            Route("/events", self._events),
            Route("/minute", self._minute),
            Route("/node", self._node),
            Route("/thumbnails", self._newest_packets),
        ]
        paths = ", ".join(route.path for route in routes)

        async def not_found(request: Request, _error: Exception) -> Response:
            said = f"there is no page {request.url.path[:100]!r}; there are {paths}"
            return PlainTextResponse(f"{said}\n", _NOT_FOUND)

        return Guard(Starlette(routes=routes, exception_handlers={_NOT_FOUND: not_found}), address, token)

    def close(self) -> None:
        """Give up the picture that is being drawn, and draw no other. Called by any thread."""
        self._painter.close()

    async def _page(self, request: Request) -> Response:
        self.opened += request.method == "GET"
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return HTMLResponse(page(self._title, nonce), headers={"content-security-policy": policy})

    async def _svg(self, request: Request) -> Response:
        layout, opened = request.query_params.get("layout"), request.query_params.getlist("open")
        if layout is not None and layout not in _LAYOUTS:
            said = f"there is no layout {layout[:100]!r}; there are {' and '.join(_LAYOUTS)}"
            return PlainTextResponse(f"{said}\n", _BAD_REQUEST)
        if len(opened) > _GROUPS:
            said = f"the request opens {len(opened)} groups; it may open {_GROUPS}"
            return PlainTextResponse(f"{said}\n", _BAD_REQUEST)
        look = None if layout is None else Look(_LAYOUTS[layout], tuple(sorted(set(opened))))
        try:
            return Response(await self._drawn(look), media_type="image/svg+xml")
        except UnavailableError as error:
            return PlainTextResponse(f"{error}\n", _UNAVAILABLE)

    async def _drawn(self, look: Look | None) -> str:
        """Return a picture, the same one again if it was asked for lately.

        Raises:
            UnavailableError: it cannot be drawn; says why.
        """
        async with self._drawing:
            made = self._pictures.pop(look, None)
            if made is None:
                made = await run_in_threadpool(picture, self._config, look, self._painter)
            self._pictures[look] = made  # the last one now
            while len(self._pictures) > _PICTURES:
                del self._pictures[next(iter(self._pictures))]
        return made

    async def _minute(self, _request: Request) -> Response:
        return Response(await run_in_threadpool(self._about.minute), media_type="application/json")

    async def _node(self, request: Request) -> Response:
        try:
            found = await run_in_threadpool(self._about.node, request.query_params.get("name", ""))
        except NotFoundError as error:
            return PlainTextResponse(f"{error}\n", _NOT_FOUND)
        return Response(found, media_type="application/json")

    async def _reading(self, _request: Request) -> Response:
        try:
            return Response(await self._feed.newest(), media_type="application/json")
        except PenstockError as error:
            return PlainTextResponse(f"{error}\n", _UNAVAILABLE)

    async def _events(self, request: Request) -> Response:
        if request.method == "HEAD":  # an answer without an end, which has no body
            return Response(media_type="text/event-stream")
        return StreamingResponse(self._feed.events(), media_type="text/event-stream")

    async def _newest_packets(self, request: Request) -> Response:
        query = request.query_params
        sizes = {name: query.get(name, str(usual)) for name, usual in _USUAL.items()}
        for name, given in sizes.items():
            if given not in map(str, SIZES):
                said = f"{name} {given[:100]!r}: must be one of {', '.join(map(str, SIZES))}"
                return PlainTextResponse(f"{said}\n", _BAD_REQUEST)
        streams = dict.fromkeys(filter(None, query.getlist("stream")), int(sizes["pixels"]))
        streams |= dict.fromkeys(filter(None, query.getlist("large")[:1]), int(sizes["large_pixels"]))
        if not streams:
            return PlainTextResponse(
                "the request names no stream; add &stream=NAME to the address\n", _BAD_REQUEST
            )
        try:
            return Response(await self._thumbnails.of(streams), media_type="application/json")
        except PenstockError as error:
            return PlainTextResponse(f"{error}\n", _UNAVAILABLE)
