"""Reads an RTSP camera for a while, kills its server from time to time, and says what became of the frames.

GStreamer's RTSP server (see plugins/video/README.md) sends 25 frames a second. It is killed and started again
at random times; the graph goes on. At the end each number is printed, and what does not add up is a failure:
each kill must be noticed and got over, timestamps must increase, the ledger must account for each frame, and
memory must not grow::

    python scripts/trials/lose_cameras.py --minutes 60 --kills 20
"""

from __future__ import annotations

import argparse
import gc
import random
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import penstock
from penstock.errors import GraphRunError
from penstock_video.api import LiveEvent

SERVER = Path(__file__).resolve().parents[2] / "plugins" / "video" / "tests" / "live" / "rtsp_server.py"
PYTHON = "/usr/bin/python3"
RATE = 25
#: Memory may grow by this much after the first tenth, in MiB: buffers of frames come and go.
GROWTH_MIB = 30
GRAPH = """
input_side_packet: "camera"
output_stream: "frame"
output_stream: "events"
node {
  calculator: "LiveVideoCalculator" name: "camera"
  input_side_packet: "SOURCE:camera" output_stream: "VIDEO:frame" output_stream: "EVENTS:events"
  node_options { [type.googleapis.com/penstock_video.LiveVideoCalculatorOptions] { reconnects: -1 } }
}
"""


class Watch:
    """Counts what comes."""

    def __init__(self, graph: penstock.CalculatorGraph) -> None:
        self.frames = self.out_of_order = 0
        self.events: list[str] = []
        self.oldest_ms: list[float] = []
        self._last = 0
        self.changed = threading.Condition()
        graph.observe_output_stream("frame", self._frame)
        graph.observe_output_stream("events", self._event)

    def _frame(self, _: str, packet: penstock.Packet) -> None:
        stamp = int(packet.timestamp)
        self.out_of_order += stamp <= self._last
        self._last = stamp
        self.oldest_ms.append(time.time_ns() / 1e6 - stamp / 1e3)
        self.frames += 1

    def _event(self, _: str, packet: penstock.Packet) -> None:
        event: LiveEvent = packet.get(LiveEvent)
        with self.changed:
            self.events.append(event.kind.value)
            self.changed.notify_all()

    def wait_for(self, kind: str, count: int, seconds: float = 60) -> None:
        """Wait until an event has come so often."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.events.count(kind) >= count, seconds):
                raise SystemExit(f"in {seconds:g} s the camera was not {kind} {count} times: {self.events}")


def started(port: int) -> subprocess.Popen[str]:
    """Start the server, and return when it listens."""
    server = subprocess.Popen(  # noqa: S603  # a file of this repository
        [PYTHON, str(SERVER), str(port), "--rate", str(RATE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if server.stdout is None or server.stdout.readline() != "ready\n":
        raise SystemExit("GStreamer's RTSP server is not here; see plugins/video/README.md")
    return server


def memory_mib() -> float:
    """Return the memory of this process."""
    gc.collect()
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def main() -> int:
    """Run the trial; return 1 where something does not add up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60, help="how long; 60 by default")
    parser.add_argument("--kills", type=int, default=20, help="how often the server is killed; 20 by default")
    parser.add_argument("--seed", type=int, default=1, help="of the times of the kills")
    given = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    servers = [started(port)]
    graph = penstock.CalculatorGraph(GRAPH)
    watch = Watch(graph)
    began = time.monotonic()
    graph.start_run({"camera": f"rtsp://127.0.0.1:{port}/cam"})
    try:
        watch.wait_for("connected", 1)
        memory, away_s = _kill(given, servers, port, watch)
        seconds = time.monotonic() - began
    finally:
        graph.cancel()
        with suppress(GraphRunError):
            graph.wait_until_done(10)
        servers[-1].kill()
        servers[-1].communicate()
    return _judge(given, graph, watch, seconds, memory, away_s)


def _kill(
    given: argparse.Namespace, servers: list[subprocess.Popen[str]], port: int, watch: Watch
) -> tuple[list[float], float]:
    """Kill the server at random times until the time is over; return memory in between, and seconds away.

    Each new server is put behind the others.
    """
    chance = random.Random(given.seed)  # noqa: S311  # no secret
    whole = given.minutes * 60
    times = sorted(chance.uniform(0.02, 0.95) * whole for _ in range(given.kills))
    began = time.monotonic()
    memory: list[float] = []
    away_s = 0.0
    for kill, at in enumerate(times, 1):
        threading.Event().wait(max(at - (time.monotonic() - began), 1))
        memory.append(memory_mib())
        servers[-1].kill()
        servers[-1].communicate()
        gone = time.monotonic()
        watch.wait_for("lost", kill)
        threading.Event().wait(chance.uniform(0, 3))
        servers.append(started(port))
        watch.wait_for("reconnected", kill)
        away_s += time.monotonic() - gone
        print(
            f"{time.monotonic() - began:7.1f} s: kill {kill}, {watch.frames:,} frames, {memory[-1]:.1f} MiB"
        )
        sys.stdout.flush()
    threading.Event().wait(max(whole - (time.monotonic() - began), 1))
    memory.append(memory_mib())
    return memory, away_s


def _judge(  # noqa: PLR0913, PLR0917  # all that was measured
    given: argparse.Namespace,
    graph: penstock.CalculatorGraph,
    watch: Watch,
    seconds: float,
    memory: list[float],
    away_s: float,
) -> int:
    ledger = graph.ledger()
    account = next(one for one in ledger.streams if one.name == "frame")
    dropped = sum(account.dropped.values())
    ages = sorted(watch.oldest_ms)
    counters = graph.counters
    print(f"{seconds:.0f} s, {given.kills} kills, the server was away for {away_s:.1f} s in all")
    print(f"frames in {account.added:,}, out {watch.frames:,}, dropped {dropped:,} {account.dropped}")
    print(f"sent while the server was there, by its rate: about {(seconds - away_s) * RATE:,.0f}")
    print(
        f"age of frames: median {ages[len(ages) // 2]:.1f} ms, 99 of 100 {ages[len(ages) * 99 // 100]:.1f} ms"
    )
    print(f"counters: {counters}")
    print(f"memory: {', '.join(f'{one:.1f}' for one in memory)} MiB")
    growth = memory[-1] - memory[min(len(memory) // 10 + 1, len(memory) - 1)]
    wrong = {
        "kills that were not noticed": given.kills - watch.events.count("lost"),
        "kills that were not got over": given.kills - counters.get("camera-reconnects", 0),
        "timestamps out of order": watch.out_of_order,
        "frames that the ledger misses": account.added - watch.frames - dropped,
        "ledgers that do not add up": int(not ledger.adds_up),
        "memory that has grown": int(growth > GROWTH_MIB),
        "threads left": sum(one.name.startswith("penstock-video") for one in threading.enumerate()),
    }
    print(f"memory has grown by {growth:.1f} MiB after the first tenth")
    for what, count in wrong.items():
        if count:
            print(f"WRONG: {what}: {count}")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
