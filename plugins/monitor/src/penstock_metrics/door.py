"""`Door`: answers only requests that may be answered, before numbers are collected."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

#: A `Host` header: an address of IPv6 in brackets, or a name or other address; and a port.
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
_SCHEME: Final = "bearer "


class Door:
    """A WSGI application in front of another one, for any threads.

    Args:
        inner: the other one; sees only requests that may be answered.
        token: what requests must have; None for no token.
    """

    def __init__(self, inner: WSGIApplication, token: str | None) -> None:
        self._inner: Final = inner
        self._token: Final = None if token is None else token.encode()
        #: The names under which requests may come, in lower case; empty for all.
        self.names: frozenset[str] = frozenset()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        fault = self._fault(environ)
        if not fault:
            return self._inner(environ, start_response)
        status = "401 Unauthorized" if "token" in fault else "403 Forbidden"
        headers = [("Content-Type", "text/plain; charset=utf-8")]
        if status.startswith("401"):
            headers.append(("WWW-Authenticate", "Bearer"))
        start_response(status, headers)
        return [f"{fault}\n".encode()]

    def _fault(self, environ: WSGIEnvironment) -> str:
        """Return why a request is refused; "" where it is not."""
        if self.names:
            host = _HOST.fullmatch(str(environ.get("HTTP_HOST", "")))
            if host is None or (host[1] or host[2]).lower() not in self.names:
                return f"this server answers only for {' and '.join(sorted(self.names))}"
        if self._token is not None:
            given = str(environ.get("HTTP_AUTHORIZATION", ""))
            has_scheme = given[: len(_SCHEME)].lower() == _SCHEME
            sent = given[len(_SCHEME) :].strip().encode("latin-1", "replace")
            if not has_scheme or not secrets.compare_digest(sent, self._token):
                return "the token is missing or wrong: send it as Authorization: Bearer TOKEN"
        return ""
