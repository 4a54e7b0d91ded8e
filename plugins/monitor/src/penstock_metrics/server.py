"""`serve`: metrics of graphs over HTTP, in the text formats of Prometheus.

prometheus-client answers the requests; here are the socket and its thread. It answers GET alone, and
changes nothing. With a token it answers only requests that have it: "Authorization: Bearer TOKEN", as
Prometheus sends it (`authorization { credentials_file }`). Without one, everyone who reaches the address can
read the numbers, and the names of streams and nodes. `/healthz` says whether all is well, and nothing more,
without a token. On an address of this machine alone it answers only under names of the machine, so that no
page of a browser can read it by another name that leads here.

However often it is asked, answers take at most 0.3 % of a processor: of a graph of hundreds of nodes the same
numbers are given again for some seconds. Prometheus asks every 15 s or less often, and gets new ones. Of more
than 20 connections in a second some wait.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
from socketserver import ThreadingMixIn
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.log import get_logger
from penstock_metrics.answers import Answers
from penstock_metrics.door import Door, check_token
from penstock_metrics.health import Health
from penstock_metrics.prometheus import PrometheusMetrics, client

if TYPE_CHECKING:
    from types import TracebackType

    from penstock import CalculatorGraph

_LOG: Final = get_logger(__name__)
_PORTS: Final = 65536
#: A client that sends nothing for so long is let go.
_PATIENCE_S: Final = 10.0
_LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
#: Connections that are accepted in a second, and how many without waiting.
_A_SECOND: Final = 20.0
_AT_ONCE: Final = 20.0
#: How often the thread looks whether the server is closed.
_LOOK_S: Final = 0.25


class MetricsServer:
    """Serves the metrics of graphs until it is closed; leaving a `with` block closes it.

    Args:
        metrics: what is served; closed with the server.
        port: 0 for any that is free.
        host: an address or a name of this machine.
        token: what requests must have; None for no token.

    Raises:
        InvalidArgumentError: the port is not between 0 and 65535, or the token is shorter than 16 characters.
        UnavailableError: prometheus-client is not installed, the port is taken, or the machine has no such
            address. Nothing is left open, and the metrics are as they were.
    """

    def __init__(
        self, metrics: PrometheusMetrics, port: int = 0, host: str = "127.0.0.1", token: str | None = None
    ) -> None:
        check_token(token)
        registry = client("").CollectorRegistry()
        registry.register(metrics)
        numbers = Answers(client("exposition").make_wsgi_app(registry))
        door = Door(numbers, token, Answers(Health(metrics.graphs)))
        self._server: Final = _listening(door, host, port)
        #: As given; graphs may be added at any time.
        self.metrics: Final = metrics
        #: The port that it has.
        self.port: Final = int(self._server.server_address[1])
        #: Whether only this machine reaches it.
        self.is_local: Final = _is_loopback(str(self._server.server_address[0]))
        #: Whether requests must have a token.
        self.has_token: Final = token is not None
        if self.is_local:
            door.names = _LOCAL_NAMES | {host.lower()}
        #: Where the numbers are: "http://127.0.0.1:9464/metrics".
        self.url: Final = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/metrics"
        self._thread: Final = threading.Thread(
            target=self._server.serve_forever, name="penstock-metrics", args=(_LOOK_S,), daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the server, and what watches the graphs. Closing it again does nothing."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self.metrics.close()

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Return where it is."""
        return f"<MetricsServer {self.url}>"


def serve(
    graph: CalculatorGraph,
    port: int = 0,
    host: str = "127.0.0.1",
    *,
    name: str | None = None,
    token: str | None = None,
) -> MetricsServer:
    """Serve the metrics of a graph, now and in all later runs, until the server is closed.

    Args:
        graph: is not kept alive; may be running. Its times are there if `graph.set_timing()` was called.
        port: 0 for any that is free; `url` of the server says which.
        host: an address of this machine; others can read the numbers where they reach it.
        name: value of the label "graph"; None for the graph's `type`, or "graph" if it has none.
        token: what requests must have, at least 16 characters; None for no token.

    Raises:
        As `MetricsServer`.
    """
    server = MetricsServer(PrometheusMetrics(), port, host, token)
    server.metrics.add(graph, name)
    return server


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each request; one that hangs holds up neither the others nor the end of the process."""

    daemon_threads = True
    #: When the next connection is due, in seconds of the clock.
    _next_s = 0.0

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Clients that ask all the time wait in the system's queue."""
        now = monotonic()
        self._next_s = max(self._next_s, now - _AT_ONCE / _A_SECOND) + 1 / _A_SECOND
        if self._next_s > now:
            sleep(self._next_s - now)
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  # the base class's
        """Log what went wrong; a client that has gone away is no news, and could fill the log."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            _LOG.error("a request from %s failed", client_address, exc_info=error)

    def server_bind(self) -> None:
        """Bind, so that no other program can share the port.

        The base class asks the name service for the name of the address too, which may take seconds.
        """
        host, port = self.server_address[:2]
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(host), int(port)
        self.setup_environ()


class _Handler(WSGIRequestHandler):
    timeout = _PATIENCE_S

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Write nothing: one line for each scrape would hide all else on stderr."""


def _listening(app: Any, host: str, port: int) -> _Server:
    if not 0 <= port < _PORTS:
        raise InvalidArgumentError(
            f"the metrics server's port {port}: must be between 0 and {_PORTS - 1}; 0 takes any free one"
        )
    try:
        family, _, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise UnavailableError(
            f"the metrics server's address {host!r} cannot be used: {error.strerror or error}; give an "
            "address of this machine"
        ) from error
    kind = type("_Server", (_Server,), {"address_family": family})
    try:
        server: _Server = kind(place, _Handler)
    except OSError as error:
        raise UnavailableError(
            f"the metrics server's port {port} of {host!r} cannot be used: {error.strerror or error}; take "
            "another port, or 0 for any that is free"
        ) from error
    server.set_app(app)
    return server


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
