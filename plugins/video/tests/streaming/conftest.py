"""Frames of the test pattern, servers on this machine, and a look at what is left behind."""

from __future__ import annotations

import os
import re
import resource
import shutil
import socket
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock_formats import ImageFormat, ImageFrame
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.pattern import PatternSource

#: Debian's Python, which has the bindings of GStreamer.
SYSTEM_PYTHON = "/usr/bin/python3"
#: A server of RTSP that takes streams, with a user if there are two more arguments; prints its port. Each
#: stream is written as H.264 to a file of the next number.
RTSP_SERVER = """
import sys
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory()
factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
factory.set_latency(0)
factory.set_launch(
    "( rtph264depay name=depay0 ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au"
    " ! filesink buffer-mode=2 location=" + sys.argv[2] + " )"
)
if len(sys.argv) > 3:
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "user")
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(sys.argv[3], sys.argv[4]), token)
    server.set_auth(auth)
    permissions = GstRtspServer.RTSPPermissions()
    permissions.add_permission_for_role("user", "media.factory.access", True)
    permissions.add_permission_for_role("user", "media.factory.construct", True)
    factory.set_permissions(permissions)
server.get_mount_points().add_factory("/camera", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
"""
PATIENCE_S = 20.0


def frames(count, width=64, height=48, fps=25.0, first=0):
    """Yield (frame, timestamp) of the test pattern, from timestamp `first` on."""
    pattern = VideoDecoderCalculatorOptions.TestPattern(width=width, height=height, fps=fps, frames=count)
    source = PatternSource(pattern)
    for _ in range(count):
        at, picture = source.read()
        yield ImageFrame(picture, ImageFormat.SRGB), first + at


def until(condition, what, patience_s=PATIENCE_S):
    """Ask again until there is an answer, and return it."""
    end = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {patience_s} s: {what}"
        time.sleep(0.02)
    return found


def own():
    """Return what this process has: threads of the pack, sockets, processes."""
    threads = {one.name for one in threading.enumerate() if one.name.startswith("penstock-")}
    descriptors = []
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the listing itself has one
            descriptors.append(str(path.readlink()))
    sockets = [one for one in descriptors if one.startswith(("socket:", "pipe:"))]
    return threads, sorted(sockets), children()


def left_behind(before):
    """Return what this process has beyond what it had before."""
    (threads, descriptors, processes), now = before, own()
    new = Counter(now[1]) - Counter(descriptors)
    return [*(now[0] - threads), *new.elements(), *(now[2] - processes)]


def children():
    """Return the process ids of this process's children."""
    return (
        set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
        if os.name == "posix"
        else set()
    )


@contextmanager
def nothing_left():
    """Check that a block leaves no thread, socket, pipe or process behind. What was there before may end."""
    before = own()
    yield
    until(lambda: not left_behind(before), f"left behind: {left_behind(before)}", 3.0)


@contextmanager
def largest_file(count):
    """Let this process write no file of more bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def rtsp_server(path, port=0, user=()):
    """Run a server of RTSP that writes what it gets to a file; yields its port, and what kills it."""
    command = [SYSTEM_PYTHON, "-c", RTSP_SERVER, str(port), str(path), *user]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline()
        assert re.fullmatch(r"\d+\n", line), "the server of RTSP did not start"
        yield SimpleNamespace(port=int(line), kill=process.kill)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def rtmp_server(path, port):
    """Run ffmpeg as a server of RTMP that takes one stream, and writes it to a file."""
    command = ["ffmpeg", "-v", "error", "-y", "-listen", "1", "-i", f"rtmp://127.0.0.1:{port}/live/key"]
    process = subprocess.Popen([*command, "-c", "copy", str(path)], stdin=subprocess.DEVNULL)
    try:
        until(lambda: is_listening(port), f"ffmpeg listens on port {port}")
        yield process
    finally:
        process.kill()
        process.wait()


def is_listening(port):
    """Return whether a server has a port of this machine: it listens there, or has its one connection."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] in {"0A", "01"} for row in rows)


def free_port():
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@contextmanager
def peer(talk):
    """Run a server that calls `talk(connection)` for each connection, on threads; yields its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    taken = []

    def accept():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            taken.append(connection)
            threading.Thread(target=quietly, args=(talk, connection), name="peer", daemon=True).start()

    thread = threading.Thread(target=accept, name="peer", daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(port=listening.getsockname()[1], taken=taken)
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for connection in taken:
            connection.close()
        thread.join()


def quietly(talk, connection):
    """Talk; the other end may go at any time."""
    try:
        talk(connection)
    except OSError:
        return


@pytest.fixture(scope="session")
def gst():
    """Skip where GStreamer's server of RTSP is not installed."""
    if not Path(SYSTEM_PYTHON).exists():
        pytest.skip(f"no {SYSTEM_PYTHON}")
    script = (
        "import gi; gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0'); "
        "from gi.repository import Gst, GstRtspServer; Gst.init(None); "
        "assert all(map(Gst.ElementFactory.find, ('rtph264depay', 'h264parse')))"
    )
    done = subprocess.run([SYSTEM_PYTHON, "-c", script], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(
            "no GStreamer server of RTSP: apt install gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good "
            "gstreamer1.0-plugins-bad python3-gi"
        )


@pytest.fixture(scope="session")
def ffmpeg():
    """Skip where the program ffmpeg is not installed."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg: apt install ffmpeg")


@pytest.fixture(scope="session")
def aid():
    """Return the names above: tests import no module of their directory."""
    return SimpleNamespace(
        frames=frames, until=until, nothing_left=nothing_left, rtsp_server=rtsp_server,
        rtmp_server=rtmp_server, largest_file=largest_file, free_port=free_port, peer=peer,
    )  # fmt: skip
