"""Servers of video on 127.0.0.1, with faults, and graphs that read them."""

from __future__ import annotations

import functools
import http.server
import socket
import subprocess
import sys
import threading
import time
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError

HERE = Path(__file__).parent
TIMEOUT = 20.0
PYTHON = "/usr/bin/python3"
OPTIONS = "type.googleapis.com/penstock_video.LiveVideoCalculatorOptions"


def free_port(kind=socket.SOCK_STREAM) -> int:
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(condition, what: str, timeout: float = TIMEOUT) -> None:
    """Wait until a condition holds; other threads bring it about, and have nobody to tell."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"in {timeout:g} s not: {what}"
        time.sleep(0.005)


def sockets() -> set[str]:
    """Return the sockets that this process has open."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


@pytest.fixture(autouse=True)
def nothing_left():
    """Fail where a test leaves a thread of a source, or a socket."""
    before = sockets() if sys.platform == "linux" else set()
    yield
    left = [one.name for one in threading.enumerate() if one.name.startswith("penstock-video")]
    assert not left
    if sys.platform == "linux":
        until(lambda: not sockets() - before, "all sockets are closed", 3)


class Run:
    """A graph with one live source, and what came out of it."""

    def __init__(self, calculator: str, options: str, rest: str = "", *, registry=None, access=None):
        side = "SOURCE" if calculator == "LiveVideoCalculator" else "INPUT_FILE_PATH"
        events = 'output_stream: "EVENTS:events"' if side == "SOURCE" else ""
        said = f"node_options {{ [{OPTIONS}] {{ {options} }} }}" if options else ""
        self.graph = penstock.CalculatorGraph(
            f"""input_side_packet: "source" output_stream: "frames"
            {'output_stream: "events"' if events else ""} {rest}
            node {{ calculator: "{calculator}" name: "camera" input_side_packet: "{side}:source"
                   output_stream: "VIDEO:frames" {events} {said} }}""",
            registry=registry,
            access=access,
        )
        self.changed = threading.Condition()
        self.stamps: list[int] = []
        self.came: list[int] = []
        self.frames: list[object] = []
        self.bounds: list[int] = []
        self.events: list[object] = []
        self.graph.observe_output_stream("frames", self._frame, observe_timestamp_bounds=True)
        if events:
            self.graph.observe_output_stream("events", self._event)

    def _frame(self, _: str, packet: penstock.Packet) -> None:
        with self.changed:
            if packet.is_empty():
                self.bounds.append(int(packet.timestamp))
            else:
                self.stamps.append(int(packet.timestamp))
                self.came.append(time.time_ns() // 1000)
                self.frames.append(packet.payload)
            self.changed.notify_all()

    def _event(self, _: str, packet: penstock.Packet) -> None:
        with self.changed:
            self.events.append(packet.payload)
            self.changed.notify_all()

    def start(self, source: str) -> Run:
        self.graph.start_run({"source": source})
        return self

    def wait(self, condition, what: str, timeout: float = TIMEOUT) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, timeout), (
                f"in {timeout:g} s not: {what}; {len(self.stamps)} frames, {self.events}"
            )

    def wait_for_frames(self, count: int) -> None:
        """Wait for so many further frames."""
        goal = len(self.stamps) + count
        self.wait(lambda: len(self.stamps) >= goal, f"{count} further frames")

    def wait_for_events(self, kind: str, count: int) -> None:
        """Wait until an event has come so often."""
        self.wait(lambda: self.kinds().count(kind) >= count, f"{kind} {count} times")

    def kinds(self) -> list[str]:
        return [event.kind.value for event in self.events]

    def error(self, timeout: float = TIMEOUT) -> str:
        """Wait for the end, which must be an error; return what it says."""
        with pytest.raises(GraphRunError) as failed:
            self.graph.wait_until_done(timeout)
        return str(failed.value)

    def cancel(self) -> float:
        """Cancel, and return how long the end took, in seconds."""
        began = time.monotonic()
        self.graph.cancel()
        with pytest.raises(GraphRunError, match="cancelled"):
            self.graph.wait_until_done(TIMEOUT)
        return time.monotonic() - began


@pytest.fixture
def runs():
    """Return a maker of graphs with one source; all end with the test, and their ledgers must add up."""
    made: list[Run] = []

    def make(calculator="LiveVideoCalculator", options="", rest="", **given) -> Run:
        made.append(Run(calculator, options, rest, **given))
        return made[-1]

    yield make
    for run in made:
        if run.graph.is_running:
            run.cancel()
    for run in made:
        assert run.graph.ledger().adds_up, str(run.graph.ledger())
        assert run.stamps == sorted(set(run.stamps))


class Rtsp:
    """GStreamer's RTSP server, as a process that can be killed and started again."""

    def __init__(self, *options: str):
        self.port = free_port()
        self.url = f"rtsp://127.0.0.1:{self.port}/cam"
        self._options = options
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self, *options: str) -> None:
        command = [PYTHON, str(HERE / "rtsp_server.py"), str(self.port), *(options or self._options)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        said = self._process.stdout.readline()
        if said != "ready\n":
            error = self._process.communicate()[1]
            if "gi" in error or "Namespace" in error:
                pytest.skip(
                    "GStreamer's RTSP server is not here: apt-get install gir1.2-gst-rtsp-server-1.0 "
                    "gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly python3-gi "
                    f"({error.splitlines()[-1]})"
                )
            raise AssertionError(error)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture
def rtsp():
    """Return a maker of RTSP servers."""
    made: list[Rtsp] = []
    if not Path(PYTHON).exists():
        pytest.skip(f"there is no {PYTHON} with GStreamer's bindings")

    def make(*options: str) -> Rtsp:
        made.append(Rtsp(*options))
        return made[-1]

    yield make
    for server in made:
        server.kill()


@functools.cache
def jpeg(width: int, height: int, grey: int) -> bytes:
    context = av.CodecContext.create("mjpeg", "w")
    context.width, context.height, context.pix_fmt = width, height, "yuvj420p"
    context.time_base = Fraction(1, 25)
    frame = av.VideoFrame.from_ndarray(np.full((height, width, 3), grey, np.uint8), format="rgb24")
    frame = frame.reformat(format="yuvj420p")
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*context.encode(frame), *context.encode(None)])


@functools.cache
def transport_stream(frames: int, rate: int = 25, size: tuple[int, int] = (64, 48), start: int = 0) -> bytes:
    """Return MPEG-TS; grey level 5 * i, times from `start` frames on."""
    target = BytesIO()
    with av.open(target, "w", format="mpegts") as container:
        stream = container.add_stream("mpeg2video", rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.gop_size = 5
        stream.codec_context.max_b_frames = 0
        for i in range(frames):
            picture = np.full((size[1], size[0], 3), 5 * i % 256, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = start + i, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return target.getvalue()


class Web:
    """A web server whose pages are functions that get the handler, and may send what they like."""

    def __init__(self):
        self.pages: dict[str, object] = {}
        #: Set when the server goes down: pages that send without end look at it.
        self.closing = threading.Event()
        self.requests: list[str] = []
        self._server: http.server.ThreadingHTTPServer | None = None
        self.port = free_port()
        self.start()

    def url(self, page: str, user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.port}/{page}"

    def start(self) -> None:
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.requests.append(self.path)
                page = web.pages.get(self.path.strip("/").partition("?")[0])
                try:
                    if page is None:
                        self.send_error(404)
                    else:
                        page(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = False
            block_on_close = True
            allow_reuse_address = True

        self.closing.clear()
        self._server = Server(("127.0.0.1", self.port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), name="web")
        self._thread.start()

    def stop(self) -> None:
        if self._server is not None:
            self.closing.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(TIMEOUT)
            self._server = None


def camera(web: Web, *, count: int | None = None, rate: float = 100, sizes=((64, 48),), half=False):
    """Return a page that sends MJPEG: `count` frames, or without end.

    Then it ends, or with `half` falls silent in the middle of a frame.
    """

    def page(handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        handler.end_headers()
        i = 0
        while count is None or i < count:
            picture = jpeg(*sizes[min(i * len(sizes) // (count or 1), len(sizes) - 1)], i * 10 % 256)
            handler.wfile.write(_part(picture))
            i += 1
            if web.closing.wait(1 / rate):
                return
        if half:
            picture = jpeg(*sizes[-1], 0)
            handler.wfile.write(_part(picture)[: -len(picture) // 2])
            web.closing.wait(TIMEOUT)

    return page


def _part(picture: bytes) -> bytes:
    head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
    return head.encode() + picture + b"\r\n"


@pytest.fixture
def web():
    server = Web()
    server.camera = functools.partial(camera, server)
    server.transport_stream = transport_stream
    yield server
    server.stop()


@pytest.fixture
def silent():
    """Return a maker of addresses where a server accepts and sends nothing."""
    made: list[socket.socket] = []

    def make(pattern: str = "rtsp://127.0.0.1:{port}/cam") -> str:
        kind = socket.SOCK_DGRAM if pattern.startswith("udp") else socket.SOCK_STREAM
        if kind == socket.SOCK_DGRAM:
            return pattern.format(port=free_port(kind))
        listening = socket.socket()
        made.append(listening)
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)  # the system accepts; nobody answers
        return pattern.format(port=listening.getsockname()[1])

    make.sockets = made
    yield make
    for one in made:
        one.close()


@pytest.fixture
def udp_sender():
    """Return a maker of senders of MPEG-TS by UDP through a proxy that loses some datagrams."""
    made: list[UdpSender] = []

    def make(**given) -> UdpSender:
        made.append(UdpSender(**given))
        return made[-1]

    yield make
    for sender in made:
        sender.stop()


class UdpSender:
    """Sends a transport stream again and again, in real time; every `lose`th datagram is lost."""

    def __init__(self, lose: int = 0, rate: int = 50):
        self.port = free_port(socket.SOCK_DGRAM)
        self.sent = self.lost = 0
        self._lose, self._rate = lose, rate
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send, name="udp sender")
        self._thread.start()

    def _send(self) -> None:
        content = transport_stream(100, self._rate)
        size = 188 * 2
        pieces = [content[i : i + size] for i in range(0, len(content), size)]
        pause = 100 / self._rate / len(pieces)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            while True:
                for piece in pieces:
                    self.sent += 1
                    if self._lose and self.sent % self._lose == 0:
                        self.lost += 1
                    else:
                        out.sendto(piece, ("127.0.0.1", self.port))
                    if self._over.wait(pause):
                        return

    def stop(self) -> None:
        self._over.set()
        self._thread.join(TIMEOUT)
