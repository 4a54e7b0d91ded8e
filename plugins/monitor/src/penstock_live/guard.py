"""Who may read: checks each request before the application sees it, and sets the headers of all answers.

The invariant: without the token, with a foreign `Host` or with a foreign `Origin` nobody learns anything,
not even which paths there are; and no method but GET and HEAD does anything, but for POST where the
application says so.
"""

from __future__ import annotations

import asyncio
import secrets
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from penstock.errors import InvalidArgumentError
from penstock_monitor.api import name_in_host

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from penstock_live.listening import Address

#: Refusals in a second, and how many come without waiting.
_A_SECOND: Final = 80.0
_AT_ONCE: Final = 100.0
FORBIDDEN: Final = 403
NOT_ALLOWED: Final = 405
_SHORTEST_TOKEN: Final = 16
_READING: Final = ("GET", "HEAD")
#: Of every answer. The page adds its own Content-Security-Policy, which wins over this one.
_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def checked_token(token: str | None) -> str:
    """Return a token, or a new one of 32 random characters for None.

    Raises:
        InvalidArgumentError: it is shorter than 16 characters.
    """
    if token is None:
        return secrets.token_urlsafe(24)
    if len(token) < _SHORTEST_TOKEN:
        raise InvalidArgumentError(
            f"a web token of {len(token)} characters could be guessed: it must have at least "
            f"{_SHORTEST_TOKEN}; without any, one is made"
        )
    return token


class _Pace:
    """How many refusals there are in a second, over all connections, so that they cost little.

    A refusal takes up to 0.6 ms of a processor, so the refusals of a second take 5 % at most.
    """

    def __init__(self) -> None:
        #: When the next refusal is due, in seconds of the clock; in the past where there were few.
        self._next_s = 0.0

    def wait_s(self) -> float:
        """Return how long the next refusal has to wait, and count it."""
        now = monotonic()
        self._next_s = max(self._next_s, now - _AT_ONCE / _A_SECOND) + 1 / _A_SECOND
        return max(0.0, self._next_s - now)


class Guard:
    """An ASGI application around another one.

    Args:
        inner: the application; sees only requests that may be answered.
        address: where the server listens.
        token: what each request must have as `token` in its query.
        posts: paths where POST is answered.
    """

    def __init__(
        self, inner: ASGIApp, address: Address, token: str, posts: Collection[str] = frozenset()
    ) -> None:
        self._inner: Final = inner
        self._posts: Final = posts
        self._address: Final = address
        self._token: Final = token.encode()
        self._pace: Final = _Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if fault := self._fault(scope):
            closes = {"connection": "close"} if _has_body(scope) else None  # which nobody reads
            answer = PlainTextResponse(f"{fault}\n", FORBIDDEN, closes)
            await asyncio.sleep(self._pace.wait_s())
        elif scope["method"] not in _READING and not self._is_post(scope):
            answer = PlainTextResponse(
                f"{scope['method']} is not answered: this server is read only\n",
                NOT_ALLOWED,
                {"allow": ", ".join(_READING)},
            )
        else:
            await self._inner(scope, receive, send_guarded)
            return
        await answer(scope, receive, send_guarded)

    def _is_post(self, scope: Scope) -> bool:
        return bool(scope["method"] == "POST" and scope["path"] in self._posts)

    def _fault(self, scope: Scope) -> str:
        """Return why a request is refused; "" where it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        server = scope.get("server") or ("", None)
        names = self._address.names(server[0])
        if len(hosts) != 1 or name_in_host(hosts[0]) not in names:
            return (
                f"the request is for host {_shortened(', '.join(hosts))!r}, but this server answers only for "
                f"{' and '.join(sorted(names))}; open the address that it has printed"
            )
        origins = headers.getlist("origin")
        if any(origin.lower() != f"{self._address.scheme}://{hosts[0]}".lower() for origin in origins):
            page = _shortened(", ".join(origins))
            return f"the request comes from a page of {page!r}, but this server answers only its own"
        tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        # in constant time, so that the time of an answer says nothing of the token
        if len(tokens) != 1 or not secrets.compare_digest(tokens[0].encode(), self._token):
            return (
                "the token is missing or wrong; open the whole address that the server has printed, with "
                "what follows '?token='"
            )
        return ""


def _has_body(scope: Scope) -> bool:
    return any(name in {b"content-length", b"transfer-encoding"} for name, _ in scope["headers"])


def _shortened(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"  # noqa: PLR2004  # as long as is sensible in a sentence
