"""`Door`: answers only requests that may be answered, before numbers are collected."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_metrics.health import PATH as HEALTH
from penstock_monitor.api import name_in_host

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_SCHEME: Final = "bearer "
_SHORTEST_TOKEN: Final = 16


def check_token(token: str | None) -> None:
    """Accept a token that cannot be guessed, or None.

    Raises:
        InvalidArgumentError: it is shorter than 16 characters.
    """
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise InvalidArgumentError(
            f"a token of {len(token)} characters for the metrics server could be guessed: it must have "
            f"{_SHORTEST_TOKEN} or more"
        )


class Door:
    """A WSGI application in front of another one, for any threads.

    Args:
        inner: the other one; sees only requests that may be answered.
        token: what requests must have; None for no token.
        health: answers requests of whether all is well, which need no token.
    """

    def __init__(self, inner: WSGIApplication, token: str | None, health: WSGIApplication) -> None:
        self._inner: Final = inner
        self._health: Final = health
        self._token: Final = None if token is None else token.encode()
        #: The names under which requests may come, in lower case; empty for all.
        self.names: frozenset[str] = frozenset()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        fault = self._fault_of_host(environ)
        if fault:
            return _refused(start_response, "403 Forbidden", fault)
        if environ.get("PATH_INFO") == HEALTH:
            return self._health(environ, start_response)
        if not self._has_token(environ):
            words = "the token is missing or wrong: send it as Authorization: Bearer TOKEN"
            return _refused(start_response, "401 Unauthorized", words, ("WWW-Authenticate", "Bearer"))
        return self._inner(environ, start_response)

    def _fault_of_host(self, environ: WSGIEnvironment) -> str:
        """Return why the name of a request is refused; "" where it is not."""
        if not self.names or name_in_host(str(environ.get("HTTP_HOST", ""))) in self.names:
            return ""
        return f"this server answers only for {' and '.join(sorted(self.names))}"

    def _has_token(self, environ: WSGIEnvironment) -> bool:
        """Return whether a request has the token, where one is asked for."""
        if self._token is None:
            return True
        given = str(environ.get("HTTP_AUTHORIZATION", ""))
        sent = given[len(_SCHEME) :].strip().encode("latin-1", "replace")
        return given[: len(_SCHEME)].lower() == _SCHEME and secrets.compare_digest(sent, self._token)


def _refused(
    start_response: StartResponse, status: str, words: str, *headers: tuple[str, str]
) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "text/plain; charset=utf-8"), *headers])
    return [f"{words}\n".encode()]
