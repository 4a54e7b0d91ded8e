"""The paths of the server, each read only.

`/` the page; `/graph.svg` the picture of the graph; `/reading` the newest reading as JSON; `/events` readings
as server-sent events; `/thumbnails?stream=NAME&stream=NAME` the newest packets of streams as JSON, pictures
as data URLs.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from penstock.errors import PenstockError, UnavailableError
from penstock_live.drawing import picture
from penstock_live.guard import Guard
from penstock_live.page import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from penstock_live.address import Address
    from penstock_live.feed import Feed
    from penstock_live.thumbnails import Thumbnails

_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_UNAVAILABLE: Final = 503


class Application:
    """What is served of one graph.

    Args:
        config: the graph as it was checked, in binary form.
        title: of the page.
        feed: its readings.
        thumbnails: what flows.
    """

    def __init__(self, config: bytes, title: str, feed: Feed, thumbnails: Thumbnails) -> None:
        self._config: Final = config
        self._title: Final = title
        self._feed: Final = feed
        self._thumbnails: Final = thumbnails
        self._picture: str | None = None
        #: How often the page was opened.
        self.opened = 0

    def guarded(self, address: Address, token: str) -> ASGIApp:
        """Return the application, behind a guard."""
        routes = [
            Route("/", self._page),
            Route("/graph.svg", self._svg),
            Route("/reading", self._reading),
            Route("/events", self._events),
            Route("/thumbnails", self._newest_packets),
        ]
        paths = ", ".join(route.path for route in routes)

        async def not_found(request: Request, _error: Exception) -> Response:
            said = f"there is no page {request.url.path[:100]!r}; there are {paths}"
            return PlainTextResponse(f"{said}\n", _NOT_FOUND)

        return Guard(Starlette(routes=routes, exception_handlers={_NOT_FOUND: not_found}), address, token)

    async def _page(self, request: Request) -> Response:
        self.opened += request.method == "GET"
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return HTMLResponse(page(self._title, nonce), headers={"content-security-policy": policy})

    async def _svg(self, _request: Request) -> Response:
        if self._picture is None:
            try:
                self._picture = await run_in_threadpool(picture, self._config)
            except UnavailableError as error:
                return PlainTextResponse(f"{error}\n", _UNAVAILABLE)
        return Response(self._picture, media_type="image/svg+xml")

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
        streams = list(dict.fromkeys(filter(None, request.query_params.getlist("stream"))))
        if not streams:
            return PlainTextResponse(
                "the request names no stream; add &stream=NAME to the address\n", _BAD_REQUEST
            )
        try:
            return Response(await self._thumbnails.of(streams), media_type="application/json")
        except PenstockError as error:
            return PlainTextResponse(f"{error}\n", _UNAVAILABLE)
