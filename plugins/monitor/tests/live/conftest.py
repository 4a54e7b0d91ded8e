"""A monitor that a test holds in its hands, a server of it, and requests that nothing beautifies."""

from __future__ import annotations

import http.client
import threading
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from attrs import evolve

pytest.importorskip("msgspec", reason="penstock-monitor[live] is not installed")
pytest.importorskip("starlette", reason="penstock-monitor[live] is not installed")

import penstock
from penstock.errors import NotFoundError
from penstock_live.listening import listen
from penstock_live.picture_site import PictureSite
from penstock_live.server import Server
from penstock_live.video_site import VideoSite
from penstock_monitor import LatencyReading, NodeReading, Reading, StreamReading

GRAPH = """
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" name: "first" input_stream: "in" output_stream: "between" }
node { calculator: "PassThroughCalculator" name: "second" input_stream: "between" output_stream: "out" }
"""


def node(name, **others):
    """Return a node that is at work."""
    said = {"state": "opened", "steps": 100, "steps_per_s": 29.9, "busy": 0.45, "running": 0, "ready": 0}
    return NodeReading(name, "PassThroughCalculator", **{**said, **others})


def stream(name, writer, *readers, **others):
    """Return a stream that flows."""
    said = {
        "packets": 100, "per_s": 29.9, "queued": 3, "limit": 100, "queued_bytes": 4096,
        "dropped": 0, "drops": {}, "bound": "at least 101", "age_s": 0.1,
    }  # fmt: skip
    return StreamReading(name, writer, readers, **{**said, **others})


#: The graph above, at work.
READING = Reading(
    number=1,
    state="running",
    elapsed_s=3.3,
    nodes=(node("first"), node("second", busy=None, place="worker 1 (pid 4711)")),
    streams=(
        stream("in", "", "first", is_input=True),
        stream(
            "between",
            "first",
            "second",
            dropped=12,
            drops={"late": 10, "queue full": 2},
            dropped_at={"second": {"late": 10, "queue full": 2}},
        ),
        stream("out", "second", is_output=True, limit=None, queued=0),
    ),
    latencies=(LatencyReading("out", 30, 5.2, 5.0, 9.1, 30.5),),
)


class HandMonitor:
    """A monitor whose readings and packets a test gives."""

    def __init__(self, first=READING):
        self.lock = threading.Condition()
        self.newest = first
        self.packets = dict.fromkeys(("in", "between", "out"))
        self.peeked = []
        self.is_closed = False

    def give(self, **changes):
        """Show the same reading with these changes, under the next number."""
        with self.lock:
            self.newest = evolve(self.newest, number=self.newest.number + 1, **changes)
            self.lock.notify_all()

    def reading(self):
        with self.lock:
            return self.newest

    def wait(self, number, timeout=None):
        with self.lock:
            self.lock.wait_for(lambda: self.newest.number > number or self.is_closed, timeout)
            return self.newest if self.newest.number > number and not self.is_closed else None

    def peek_all(self, names, timeout=0.0):
        with self.lock:
            self.peeked += [name for name in names if name in self.packets]
            return {
                name: self.packets.get(name, NotFoundError(f"there is no stream {name!r}")) for name in names
            }

    def close(self):
        with self.lock:
            self.is_closed = True
            self.lock.notify_all()


class Client:
    """Requests to a server, with every header as the test says."""

    def __init__(self, url):
        self.url = urlsplit(url)
        self.token = self.url.query.removeprefix("token=")

    def request(self, path, *, method="GET", given=None, host=None, **headers):
        """Return status, headers and body of an answer."""
        connection, answer = self.open(path, method=method, given=given, host=host, **headers)
        with connection:
            return answer.status, answer.headers, answer.read()

    def open(self, path, *, method="GET", given=None, host=None, **headers):
        """Return a connection, and an answer whose body is not read yet."""
        token = self.token if given is None else given
        mark = "&" if "?" in path else "?"
        connection = _Connection(self.url.hostname, self.url.port, timeout=20)
        connection.putrequest(method, f"{path}{mark}token={token}" if token else path, skip_host=True)
        connection.putheader("Host", self.url.netloc if host is None else host)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection, connection.getresponse()


class _Connection(http.client.HTTPConnection):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def events(answer):
    """Yield the events of an answer as (kind, data), and comments as ("", text)."""
    kind, data = "message", []
    for raw in answer:
        line = raw.decode().rstrip("\n")
        if line.startswith(":"):
            yield "", line[1:].strip()
        elif line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data.append(line.removeprefix("data: "))
        elif not line and data:
            yield kind, "\n".join(data)
            kind, data = "message", []


def serve_by_hand(monitor, graph=GRAPH, **options):
    """Return a server of a graph that never runs, with what a monitor says of it."""
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    return Server(listening, address, penstock.CalculatorGraph(graph).binary_config, monitor, **options)


#: Kind of site → the path that goes on without an end, and the name of its thread.
SITES = {
    PictureSite: ("events", "penstock-picture-site"),
    VideoSite: ("video.mjpeg", "penstock-video-site"),
}
PATIENCE_S = 10.0


@contextmanager
def site_by_hand(kind, **given):
    """Yield a site, and look afterwards that it leaves no thread."""
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    made = kind(listening, address, **{"title": "a <b> & c", **given})
    try:
        yield made
    finally:
        made.close()
        made.close()
    assert not [one for one in threading.enumerate() if one.name.startswith(SITES[kind][1])]


@contextmanager
def viewer_of(site, path=None, *, method="GET", query=None, **headers):
    """Yield the answer to a request with the token, or with another query."""
    path = SITES[type(site)][0] if path is None else path
    url = urlsplit(site.url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE_S)
    connection.request(method, f"/{path}?{url.query if query is None else query}", headers=headers)
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


@pytest.fixture(scope="session")
def site_of():
    return site_by_hand


@pytest.fixture(scope="session")
def viewer():
    return viewer_of


@pytest.fixture(autouse=True)
def short_wait(monkeypatch):
    """Let no server wait long for a last reading: the monitors here give one only when a test does."""
    monkeypatch.setattr("penstock_live.server._LAST_S", 0.05)


@pytest.fixture(scope="session")
def hand():
    """Return the names above: tests import no module of their directory."""
    return SimpleNamespace(
        GRAPH=GRAPH,
        READING=READING,
        Client=Client,
        Monitor=HandMonitor,
        events=events,
        node=node,
        serve=serve_by_hand,
        stream=stream,
    )


@pytest.fixture
def stack():
    with ExitStack() as entered:
        yield entered


@pytest.fixture
def monitor():
    return HandMonitor()


@pytest.fixture
def server(monitor):
    with serve_by_hand(monitor) as made:
        yield made


@pytest.fixture
def client(server):
    return Client(server.url)
