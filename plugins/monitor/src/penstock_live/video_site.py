"""A video stream for browsers: pictures one after another (MJPEG), a single picture, or the files of HLS.

`/` is a page that shows it; `/video.mjpeg` pictures that replace each other, which every browser shows in an
`<img>`; `/picture.jpg` the newest one. With files: `/NAME` the playlist and its segments. Each request needs
the token, as requests for the page of a graph do, and has the same limits.

Nobody waits for a client. One that is slow gets the newest picture when it is ready for one, and misses those
between; one that reads nothing for ten seconds is let go. Where no picture comes the last one is sent again
every ten seconds, so that both ends notice when the other one is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from html import escape
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from penstock_live.guard import Guard, checked_token
from penstock_live.helpers import Helpers
from penstock_live.web import WebServer

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from penstock_live.listening import Address, TlsFiles

#: Without a new picture for so long the last one is sent again.
HEARTBEAT_S: Final = 10.0
#: And once sooner: Chromium shows a picture when the head of the next one has come.
AGAIN_S: Final = 0.1
_BOUNDARY: Final = "penstock-picture"
_NEXT: Final = f"\r\n--{_BOUNDARY}\r\n".encode()
_NOT_FOUND: Final = 404
_UNAVAILABLE: Final = 503
_THREADS: Final = 2
_PLAYLIST: Final = "application/vnd.apple.mpegurl"
_SEGMENT: Final = "video/mp2t"
_STYLE: Final = (
    "body{margin:0;background:#111;color:#eee;font:1rem system-ui,sans-serif}"
    "h1{font-size:1rem;margin:.75rem}p{margin:.75rem}code{overflow-wrap:anywhere}"
    "img,video{display:block;max-width:100vw;max-height:85vh;margin:0 auto}"
)


class Files(Protocol):
    """The files of HLS."""

    @property
    def playlist(self) -> str:
        """The name of the playlist."""

    def read(self, name: str) -> bytes | None:
        """Return the content of the playlist or of a segment; None where there is no such file."""


class VideoSite:
    """Serves one stream, from the moment it is made until `close`.

    Args:
        listening: the socket, bound and listening. Closed with the site.
        address: where that is.
        title: of the page.
        newest: returns the newest picture as JPEG, or None before the first; called on a thread of the site.
        files: of HLS, served instead of pictures; None for pictures.
        token: what requests must have in their query; None makes one.
        tls: certificate and key; None for plain HTTP.
        most_viewers: how many may look at once; the next one is answered with 503.

    Raises:
        InvalidArgumentError: the token is shorter than 16 characters. The socket is not closed.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        listening: socket.socket,
        address: Address,
        *,
        title: str,
        newest: Callable[[], bytes | None] = lambda: None,
        files: Files | None = None,
        token: str | None = None,
        tls: TlsFiles | None = None,
        most_viewers: int = 16,
    ) -> None:
        self._token: Final = checked_token(token)
        #: The address of the page, with the token. It shows the stream in every browser that has it.
        self.url: Final = f"{address.origin}/?token={quote(self._token, safe='')}"
        self._title: Final = title
        self._ask: Final = newest
        self._files: Final = files
        self._most: Final = most_viewers
        self._helpers: Final = Helpers(_THREADS, "penstock-video-site")
        #: Number and JPEG of the newest picture that was shown.
        self._shown: tuple[int, bytes] = (0, b"")
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False
        #: How many look at the pictures now.
        self.viewers = 0
        self._web: Final = WebServer(
            Guard(self._application(), address, self._token), listening, tls, self._end, "penstock-video-site"
        )

    def show(self, picture: bytes) -> None:
        """Send a picture, JPEG, to all viewers that are ready for one. Called by any one thread."""
        self._shown = (self._shown[0] + 1, picture)
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody looks any more
                self._loop.call_soon_threadsafe(self._tell)

    def close(self) -> None:
        """End the answers and all connections, and wait for the thread. May be called again."""
        self._web.close()
        self._helpers.close(waits=True)

    async def _end(self) -> None:
        self._is_closed = True
        self._tell()

    def _tell(self) -> None:
        told, self._news = self._news, asyncio.Event()
        told.set()

    def _application(self) -> Starlette:
        routes = [Route("/", self._page)]
        if self._files is None:
            routes += [Route("/video.mjpeg", self._video), Route("/picture.jpg", self._picture)]
        else:
            routes += [Route("/{name}", self._file)]

        async def not_found(request: Request, _error: Exception) -> Response:
            return self._missing(request.url.path)

        return Starlette(routes=routes, exception_handlers={_NOT_FOUND: not_found})

    def _missing(self, path: str) -> Response:
        there = "/video.mjpeg, /picture.jpg" if self._files is None else f"/{self._files.playlist}"
        return PlainTextResponse(f"there is no page {path[:100]!r}; there are /, {there}\n", _NOT_FOUND)

    # --- answers, on the thread of the server -------------------------------------------------------

    async def _page(self, _request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; style-src 'nonce-{nonce}'; img-src 'self' data:; media-src 'self' blob:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        title = escape(self._title)
        head = (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{title}</title><link rel="icon" href="data:,">'
            f'<style nonce="{nonce}">{_STYLE}</style></head><body><h1>{title}</h1>'
        )
        return HTMLResponse(
            f"{head}{self._shown_part(title)}</body></html>", headers={"content-security-policy": policy}
        )

    def _shown_part(self, title: str) -> str:
        if self._files is None:
            return f'<img src="{self._path("video.mjpeg")}" alt="{title}">'
        source = self._path(self._files.playlist)
        return (
            f'<video src="{source}" controls autoplay muted playsinline></video>'
            "<p>A browser that shows nothing here plays no HLS by itself: open the address of the playlist, "
            f"<code>{source}</code> of this server, in a player such as VLC or mpv.</p>"
        )

    def _path(self, name: str) -> str:
        return escape(f"/{quote(name)}?token={quote(self._token, safe='')}")

    async def _picture(self, _request: Request) -> Response:
        picture = await self._helpers.call(self._ask)
        if picture is None:
            return PlainTextResponse("no frame has come yet\n", _UNAVAILABLE)
        return Response(picture, media_type="image/jpeg")

    async def _video(self, request: Request) -> Response:
        kind = f"multipart/x-mixed-replace; boundary={_BOUNDARY}"
        if request.method == "HEAD":  # an answer without an end, which has no body
            return Response(media_type=kind)
        if self.viewers >= self._most:
            words = f"{self._most} viewers look at this stream, and no more may (max_viewers)\n"
            return PlainTextResponse(words, _UNAVAILABLE, {"retry-after": "10"})
        self._loop = asyncio.get_running_loop()
        return _Viewing(self, kind)

    async def pictures(self) -> AsyncIterator[bytes]:
        """Yield the parts of one answer, the newest picture first, until the site is closed."""
        seen = self._shown[0]  # before asking: what is shown meanwhile comes next
        picture = await self._helpers.call(self._ask) or self._shown[1]
        yield _NEXT.lstrip()
        is_again = not picture
        while not self._is_closed:
            if picture:
                yield _part(picture)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_S if is_again else AGAIN_S):
                    while self._shown[0] == seen and not self._is_closed:
                        await self._news.wait()
            is_again = self._shown[0] == seen
            if not is_again:
                seen, picture = self._shown
        yield f"--{_BOUNDARY}--\r\n".encode()

    async def _file(self, request: Request) -> Response:
        name, files = request.path_params["name"], self._files
        content = None if files is None else await self._helpers.call(lambda: files.read(name))
        if files is None or content is None:
            return self._missing(request.url.path)
        if name != files.playlist:
            return Response(content, media_type=_SEGMENT)
        return Response(self._with_token(content), media_type=_PLAYLIST)

    def _with_token(self, playlist: bytes) -> bytes:
        """Return a playlist whose segments are named with the token, which their requests need."""
        mark = f"?token={quote(self._token, safe='')}".encode()
        lines = playlist.splitlines()
        return (
            b"\n".join(line + mark if line and not line.startswith(b"#") else line for line in lines) + b"\n"
        )


class _Viewing(StreamingResponse):
    """The answer of one viewer, who counts as long as it lasts."""

    def __init__(self, site: VideoSite, kind: str) -> None:
        super().__init__(site.pictures(), media_type=kind)
        self._site: Final = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, until the client goes or the site is closed."""
        self._site.viewers += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._site.viewers -= 1


def _part(picture: bytes) -> bytes:
    """Return one picture with its head, behind a boundary. The next one ends it: browsers wait for that."""
    head = f"Content-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n".encode()
    return b"".join((head, picture, _NEXT))
