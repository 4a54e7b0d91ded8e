"""`Answers`: gives the last answer of a WSGI application again where a new one would cost too much."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from penstock_monitor import Budget

if TYPE_CHECKING:
    from collections.abc import Callable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

#: Of one processor, that answers take at most, however often they are asked for.
_SHARE: Final = 0.003
#: An answer that may be made so often, in seconds, is always a new one.
_OFTEN_S: Final = 1.0
#: What an answer depends on.
_ASKED: Final = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING")


class Answers:
    """A WSGI application in front of another one, for any threads.

    Args:
        make: the other one; its answer depends only on method, path, query and what formats are accepted.
        clock: in seconds, never decreases.
    """

    def __init__(self, make: WSGIApplication, clock: Callable[[], float] = time.monotonic) -> None:
        self._make: Final = make
        self._clock: Final = clock
        self._budget: Final = Budget(_SHARE, clock)
        self._lock: Final = threading.Lock()
        self._asked: tuple[Any, ...] = ()
        self._made_s = 0.0
        self._head: tuple[Any, ...] = ()
        self._body: list[bytes] = []

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        with self._lock:
            asked = tuple(environ.get(name, "") for name in _ASKED)
            if asked != self._asked or self._clock() - self._made_s >= self._kept_s():
                self._renew(asked, environ)
            head, body = self._head, self._body
        start_response(*head)
        return body

    def _kept_s(self) -> float:
        cycle_s = self._budget.cycle_s()
        return cycle_s if cycle_s > _OFTEN_S else 0.0

    def _renew(self, asked: tuple[Any, ...], environ: WSGIEnvironment) -> None:
        head: list[tuple[Any, ...]] = []

        def start(*given: Any) -> Callable[[bytes], object]:
            head.append(given)
            return self._body.append  # never called: the other application returns all that it says

        began_s = time.thread_time()
        self._asked = ()  # if it raises, there is none
        self._body = list(self._make(environ, start))
        self._asked, (self._head,), self._made_s = asked, head, self._clock()
        self._budget.spent("answer", time.thread_time() - began_s)
