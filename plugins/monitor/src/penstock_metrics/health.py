"""`Health`: the answer to `/healthz`, for programs that start a service again, such as Kubernetes.

The status is 200 while all graphs run and move, else 503. The words name no stream and no node, so that
a client without a token learns no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

    from penstock_metrics.watched_graphs import WatchedGraphs

#: Where it is asked.
PATH: Final = "/healthz"
#: For so long nothing may move, where the request does not say `?stalled=SECONDS`.
STALLED_S: Final = 30.0
_WELL: Final = "200 OK"
_UNWELL: Final = "503 Service Unavailable"


class Health:
    """A WSGI application that says whether graphs are well, for any threads.

    Args:
        graphs: the graphs to look at.
    """

    def __init__(self, graphs: WatchedGraphs) -> None:
        self._graphs: Final = graphs

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        if environ.get("REQUEST_METHOD") != "GET":
            return _answer(start_response, "405 Method Not Allowed", "only GET is answered")
        longest_s = _longest_s(str(environ.get("QUERY_STRING", "")))
        if longest_s is None:
            words = "write ?stalled=SECONDS, a number above 0"
            return _answer(start_response, "400 Bad Request", words)
        fault = self.fault(longest_s)
        return _answer(start_response, _UNWELL if fault else _WELL, fault or "ok")

    def fault(self, longest_s: float) -> str:
        """Return what is wrong; "" where all is well.

        Args:
            longest_s: for how many seconds nothing may move. A graph that waits for packets from the program
                is idle, and well.
        """
        graphs = self._graphs.alive()
        if not graphs:
            return "no graph has begun to run"
        return next(filter(None, (graph.fault(longest_s) for graph in graphs)), "")


def _longest_s(query: str) -> float | None:
    """Return the time that a request allows; None where it is none."""
    given = parse_qs(query, keep_blank_values=True).get("stalled")
    if given is None:
        return STALLED_S
    try:
        longest_s = float(given[-1])
    except ValueError:
        return None
    return longest_s if 0 < longest_s < float("inf") else None


def _answer(start_response: StartResponse, status: str, words: str) -> list[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]
    start_response(status, headers)
    return [f"{words}\n".encode()]
