"""`serve(graph)`: a server of one graph, on a thread of its own.

The server reads the graph through a `penstock_monitor.Monitor` and never waits for it, nor the graph for
the server. It keeps the graph alive no longer than the application does.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, Self

from penstock.errors import PenstockError
from penstock_live.about import About
from penstock_live.application import Application
from penstock_live.feed import SHORTEST_S, Feed
from penstock_live.guard import checked_token
from penstock_live.journal import Journal
from penstock_live.listening import TlsFiles, listen
from penstock_live.log_lines import LogLines
from penstock_live.node_pages import NodePages, type_of
from penstock_live.thumbnails import Thumbnails
from penstock_live.web import WebServer
from penstock_monitor import Budget, Monitor

if TYPE_CHECKING:
    import socket
    from types import TracebackType

    from penstock import CalculatorGraph
    from penstock_live.feed import Watched
    from penstock_live.listening import Address

#: How long to wait for the last reading, which is due after a third of a second but for large graphs.
_LAST_S: Final = 2.0
#: Of the page of a graph without a name.
_TITLE: Final = "Penstock"
#: Of one processor, that server and monitor take at most. A graph loses up to twice as much: to threads that
#: wake up, to the start of a connection, to the caches that it finds cold (`benchmarks/live.py`).
_SHARE: Final = 0.009


def serve(  # noqa: PLR0913  # keywords with defaults
    graph: CalculatorGraph,
    port: int = 0,
    address: str = "127.0.0.1",
    token: str | None = None,
    tls: TlsFiles | None = None,
    *,
    title: str | None = None,
) -> Server:
    """Serve a graph to browsers, before, during or after its runs, until `close`.

    The page shows how busy each node is only of runs that are timed: call `graph.set_timing()` before the
    run. `penstock run --serve` does.

    Args:
        graph: is only looked at, and not kept alive.
        port: 0 for any that is free.
        address: of this machine, where it listens; others than loopback ones need `tls`.
        token: what requests must have in their query; None makes one of 32 random characters.
        tls: certificate and key; None for plain HTTP.
        title: what the page calls the graph; None for its `type`.

    Raises:
        InvalidArgumentError: the port is not between 0 and 65535, the token is shorter than 16 characters,
            the TLS files cannot be used, or others can reach the address and there are none. Nothing is left
            behind.
        UnavailableError: the port is taken, or the machine has no such address. Nothing is left behind.
    """
    token = checked_token(token)
    if tls is not None:
        tls.check()
    listening, place = listen(address, port, is_tls=tls is not None)
    try:
        return serve_on(listening, place, graph, token, tls, title=title)
    except BaseException:
        listening.close()
        raise


def serve_on(  # noqa: PLR0913  # keywords with defaults
    listening: socket.socket,
    place: Address,
    graph: CalculatorGraph,
    token: str | None = None,
    tls: TlsFiles | None = None,
    *,
    title: str | None = None,
) -> Server:
    """Serve a graph on a socket that listens already; see `serve`. The server closes the socket."""
    budget = Budget(_SHARE)
    config = graph.binary_config
    lines = LogLines(NodePages(config).names)
    journal = Journal(lines)
    with contextlib.ExitStack() as made:
        made.callback(lines.close)
        monitor = Monitor(
            graph,
            interval_s=SHORTEST_S,
            budget=budget,
            on_reading=lambda reading, graph: journal.take(reading, graph.counters, graph.failures),
        )
        made.callback(monitor.close)
        server = Server(
            listening,
            place,
            config,
            monitor,
            budget=budget,
            token=token,
            tls=tls,
            title=title or type_of(config) or _TITLE,
            journal=journal,
            lines=lines,
        )
        made.pop_all()
        return server


class Server:
    """Serves one graph. Made by `serve`; a context manager, which closes it.

    Args:
        listening: the socket, bound and listening. Closed with the server.
        address: where that is.
        config: the graph as it was checked, in binary form.
        monitor: of the graph. Closed with the server.
        budget: shared with the monitor; None for one of its own.
        token: what requests must have in their query; None makes one.
        tls: certificate and key; None for plain HTTP.
        title: of the page, which names the graph.
        journal: of the graph, which the monitor writes; None for one that stays empty.
        lines: of the log about the graph's nodes. Closed with the server; None for some of its own.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        listening: socket.socket,
        address: Address,
        config: bytes,
        monitor: Watched,
        *,
        budget: Budget | None = None,
        token: str | None = None,
        tls: TlsFiles | None = None,
        title: str = _TITLE,
        journal: Journal | None = None,
        lines: LogLines | None = None,
    ) -> None:
        token = checked_token(token)
        #: The address of the page, with the token. A browser that has it shows all that the graph handles.
        self.url: Final = f"{address.origin}/?token={token}"
        self._monitor: Final = monitor
        budget = Budget(_SHARE) if budget is None else budget
        journal = Journal() if journal is None else journal
        self._feed: Final = Feed(monitor, budget, journal)
        self._thumbnails: Final = Thumbnails(monitor, budget)
        pages = NodePages(config)
        self._lines: Final = LogLines(pages.names) if lines is None else lines
        self._application: Final = Application(
            config, title, self._feed, self._thumbnails, About(pages, self._lines, journal)
        )
        try:
            self._web: Final = WebServer(
                self._application.guarded(address, token), listening, tls, self._feed.close, "penstock-live"
            )
        except BaseException:
            self._lines.close()
            raise

    @property
    def was_opened(self) -> bool:
        """Whether a browser has opened the page."""
        return self._application.opened > 0

    def close(self) -> None:
        """Stop: tell the pages, close all connections, and wait for the thread. May be called again.

        Pages that are open get a reading that is taken now. The graph goes on.
        """
        if self._feed.has_clients:
            with contextlib.suppress(PenstockError):  # a monitor that has failed has no last reading
                self._monitor.wait(self._monitor.reading().number, _LAST_S)
        self._monitor.close()
        self._application.close()
        self._web.close()
        self._thumbnails.close()
        self._lines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
