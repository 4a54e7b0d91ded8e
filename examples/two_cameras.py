"""Frames of two network cameras in step, of which one is lost and comes back.

    python examples/two_cameras.py rtsp://10.0.0.5/cam rtsp://10.0.0.6/cam     (until Ctrl-C)
    python examples/two_cameras.py

Without addresses it plays both cameras itself, with GStreamer's RTSP server (on Debian: apt-get install
gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly python3-gi), kills the right
one for some seconds, and ends.

Each frame of the left camera gets the frame of the right one that was captured nearest to it, if one is
within 25 ms. While the right camera is lost, its timestamp bound follows the clock, so the left frames go on
alone, half a second later.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import penstock
from penstock_formats import ImageFrame
from penstock_video.api import LiveEvent, LiveEventKind

#: The Python that has GStreamer's bindings.
PYTHON = "/usr/bin/python3"
SERVER = """
import sys, threading
import gi
gi.require_version("Gst", "1.0"); gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server, factory = GstRtspServer.RTSPServer(service=sys.argv[1]), GstRtspServer.RTSPMediaFactory(shared=True)
server.set_address("127.0.0.1")
factory.set_launch("( videotestsrc is-live=true pattern=" + sys.argv[2] + " ! "
    "video/x-raw,width=320,height=180,framerate=25/1 ! "
    "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! "
    "rtph264pay name=pay0 pt=96 )")
server.get_mount_points().add_factory("/cam", factory)
server.attach(None)
loop = GLib.MainLoop()
threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
print("ready", flush=True)
loop.run()
"""
CAMERA = """
node {
  calculator: "LiveVideoCalculator" name: "%(side)s"
  input_side_packet: "SOURCE:%(side)s_address"
  output_stream: "VIDEO:%(side)s" output_stream: "EVENTS:%(side)s_events"
  node_options { [type.googleapis.com/penstock_video.LiveVideoCalculatorOptions] {
    read_timeout_seconds: 2 reconnects: -1 longest_delay_seconds: 1
  } }
}
"""
GRAPH = f"""
input_side_packet: "left_address" input_side_packet: "right_address"
output_stream: "pair" output_stream: "left_events" output_stream: "right_events"
{CAMERA % {"side": "left"}}
{CAMERA % {"side": "right"}}
node {{
  calculator: "PairFrames"
  input_stream: "LEFT:left" input_stream: "RIGHT:right"
  output_stream: "PAIR:pair"
  input_stream_handler {{
    input_stream_handler: "Nearest"
    options {{ [penstock.NearestOptions.ext] {{ base: "LEFT" tolerance: 25000 }} }}
  }}
}}
"""


@penstock.register_calculator
class PairFrames(penstock.Calculator):
    """Sends for each left frame by how many milliseconds the right one was captured later, or None."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["LEFT"].set(ImageFrame)
        cc.inputs["RIGHT"].set(ImageFrame)
        cc.outputs["PAIR"].set_any()

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Compare the times of two frames."""
        right = cc.inputs["RIGHT"]
        later = None if right.is_empty() else (right.packet.timestamp - cc.input_timestamp) / 1000
        cc.outputs["PAIR"].add((later,), cc.input_timestamp)


class Watch:
    """Prints a line for each second, and for each event."""

    def __init__(self, graph: penstock.CalculatorGraph) -> None:
        self._apart: list[float] = []
        self._alone = 0
        self._second = 0.0
        self.back = threading.Event()
        self.paired = threading.Event()
        graph.observe_output_stream("pair", self._pair)
        for side in ("left", "right"):
            graph.observe_output_stream(f"{side}_events", self._event)

    def _pair(self, _: str, packet: penstock.Packet) -> None:
        (later,) = packet.payload
        if later is None:
            self._alone += 1
        else:
            self._apart.append(later)
            self.paired.set()
        if packet.timestamp.seconds - self._second >= 1:
            mean = sum(self._apart) / len(self._apart) if self._apart else 0.0
            print(f"{len(self._apart)} pairs, right later by {mean:.1f} ms; {self._alone} left frames alone")
            self._second, self._apart, self._alone = packet.timestamp.seconds, [], 0

    def _event(self, stream: str, packet: penstock.Packet) -> None:
        event: LiveEvent = packet.payload
        gap = f" after {event.gap_seconds:.1f} s" if event.gap_seconds else ""
        why = f": {event.reason}" if event.reason else ""
        print(f"{stream.partition('_')[0]} camera: {event.kind.value}{gap}{why}")
        if event.kind is LiveEventKind.RECONNECTED:
            self.paired.clear()
            self.back.set()


def played(stack: ExitStack, port: int, pattern: str) -> subprocess.Popen[str]:
    """Start a camera, and return when it listens."""
    server = stack.enter_context(
        subprocess.Popen(  # noqa: S603  # what this file says
            [PYTHON, "-c", SERVER, str(port), pattern],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    )
    stack.callback(server.kill)
    if server.stdout is None or server.stdout.readline() != "ready\n":
        raise SystemExit("GStreamer's RTSP server is not here; --help says how to install it")
    return server


def free_ports() -> tuple[int, int]:
    """Return two ports that nobody listens on."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def lose_and_find(stack: ExitStack, watch: Watch, right: subprocess.Popen[str], port: int) -> None:
    """Kill the right camera, start it again, and return when frames are in step again."""
    if not watch.paired.wait(20):
        raise SystemExit("the cameras sent no frames of the same time")
    threading.Event().wait(1)
    right.kill()
    threading.Event().wait(2)
    played(stack, port, "smpte")
    if not (watch.back.wait(20) and watch.paired.wait(20)):
        raise SystemExit("the right camera did not come back")
    threading.Event().wait(1)


def main() -> None:
    """Pair the frames of two cameras, and tell what becomes of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="of the left and the right camera")
    addresses = parser.parse_args().addresses
    if len(addresses) not in {0, 2}:
        parser.error("give two addresses, or none")
    if not addresses and not Path(PYTHON).exists():
        raise SystemExit(f"there is no {PYTHON} with GStreamer; give two addresses")
    graph = penstock.CalculatorGraph(GRAPH)
    watch = Watch(graph)
    ports = free_ports()
    with ExitStack() as stack, suppress(KeyboardInterrupt):
        servers = []
        if not addresses:
            servers = [played(stack, ports[0], "ball"), played(stack, ports[1], "smpte")]
            addresses = [f"rtsp://127.0.0.1:{port}/cam" for port in ports]
        graph.start_run({"left_address": addresses[0], "right_address": addresses[1]})
        try:
            if servers:
                lose_and_find(stack, watch, servers[1], ports[1])
            else:
                graph.wait_until_done()
        finally:
            graph.close_all_packet_sources()
            graph.wait_until_done()
    for name, value in sorted(graph.counters.items()):
        print(name, value)
    print("every frame is accounted for:", graph.ledger().adds_up)


if __name__ == "__main__":
    main()
