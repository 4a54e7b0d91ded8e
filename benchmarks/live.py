"""Claim: a graph that one page looks at loses less than 2 % of its work.

The same packets go through the same graph without a server and with `penstock_live.serve`, in turns in one
process: edges drawn over frames, a chain of 50 pass-through nodes, and one of 500. Another process asks what
one page asks: the readings as they come, and twice a second what flows on three streams. The ratio of the CPU
time of all threads of the graph's process, the server's and its monitor's included, and of the time from the
first packet to the last, each the median of the pairs; and the share of the CPU time that the threads of
server and monitor took. Only the share is to be trusted on a machine with other work. The other process is
not counted; it starts before the clock does.

    python benchmarks/live.py [--pairs 15] [--seconds 2] [--short] [--json FILE]

With `--minutes M` it measures no cost: the chain of 50 runs under three pages for M minutes, and the resident
memory is printed every minute. It exits with 1 if that has grown by more than 2 % after the first tenth.
"""

from __future__ import annotations

import http.client
import statistics
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from time import clock_gettime, monotonic, perf_counter, pthread_getcpuclockid
from typing import TYPE_CHECKING, Any, Final

from expected import expect
from monitor import CASES, work
from process_memory import cpu_s, resident_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text

from penstock import CalculatorGraph, Packet
from penstock_live import serve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from penstock_live import Server

OURS: Final = "penstock, looked at"
CPU: Final = "x CPU time"
OWN: Final = "own CPU, %"
TIME: Final = "x time"
LIMIT: Final = 1.02
#: What the names of the threads of server and monitor begin with.
THREADS: Final = ("penstock-live", "penstock-monitor")
SHOWN: Final = 3
_PAUSE_S: Final = 0.5
#: The first pair is not counted: late imports, caches.
_WARM_UP_S: Final = 0.3
_PAGES: Final = 3


# --- the page, in a process of its own --------------------------------------------------------


def look(url: str, streams: list[str]) -> None:
    """Do what a page does, until stdin is closed; print a line when the first of everything has come."""
    place = urllib.parse.urlsplit(url)
    end = threading.Event()
    events = urllib.request.urlopen(url.replace("/?", "/events?"))  # noqa: S310  # our own server
    events.readline()
    # one connection for all, as a browser does
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)

    def follow() -> None:
        with suppress(OSError, ValueError):  # the server is closed
            while events.readline() and not end.is_set():
                pass

    def show() -> None:
        for stream in streams:
            connection.request("GET", f"/thumbnail?stream={urllib.parse.quote(stream)}&{place.query}")
            connection.getresponse().read()

    def keep_showing() -> None:
        with suppress(OSError, http.client.HTTPException):
            while not end.wait(_PAUSE_S):
                show()

    show()
    threads = [threading.Thread(target=target, daemon=True) for target in (follow, keep_showing)]
    for thread in threads:
        thread.start()
    print("looking", flush=True)
    sys.stdin.read()
    end.set()


@contextmanager
def looked_at(server: Server, streams: list[str]) -> Iterator[None]:
    """Let another process look at a server."""
    command = [sys.executable, __file__, "--look", server.url, *streams]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as looking:  # noqa: S603
        assert looking.stdout is not None  # noqa: S101
        expect(looking.stdout.readline(), "looking\n", "the page looks")
        try:
            yield
        finally:
            looking.communicate("", timeout=30)


# --- what it costs ----------------------------------------------------------------------------


def run_once(nodes: int, packets: int, *, served: bool) -> tuple[float, float, float]:
    """Return CPU seconds and seconds of a run, and the share of server and monitor in the CPU seconds."""
    text, last, payload = work(nodes)
    graph = CalculatorGraph(text)
    seen = 0

    def count(_name: str, _packet: Packet) -> None:
        nonlocal seen
        seen += 1

    graph.observe_output_stream(last, count)
    graph.start_run()
    with ExitStack() as stack:
        if served:
            server = stack.enter_context(serve(graph))
            names = [stream.name for stream in graph.snapshot().streams]
            stack.enter_context(looked_at(server, names[-SHOWN:]))
        worked, own, began = cpu_s(), own_s(), perf_counter()
        for number in range(packets):
            graph.add_packet_to_input_stream("s0", Packet(payload(number), number))
        graph.wait_until_idle()
        worked, own, spent = cpu_s() - worked, own_s() - own, perf_counter() - began
    graph.close()
    expect(seen, packets, "packets that came out")
    return worked, spent, own / worked


def own_s() -> float:
    """Return the CPU seconds of the threads of server and monitor that are there now."""
    return sum(
        clock_gettime(pthread_getcpuclockid(thread.ident))
        for thread in threading.enumerate()
        if thread.name.startswith(THREADS) and thread.ident is not None
    )


def paired(nodes: int, pairs: int, seconds: float) -> dict[str, float]:
    """Measure runs without and with a page, in turns; which comes first changes from pair to pair."""
    packets, took = 4, 0.0
    while took < _WARM_UP_S:  # how many packets fill the time?
        packets *= 2
        _, took, _ = run_once(nodes, packets, served=False)
    packets = max(4, round(packets * seconds / took))
    run_once(nodes, packets, served=True)
    cpu, time, own = [], [], []
    for pair in range(pairs):
        order = (False, True) if pair % 2 else (True, False)
        found = {served: run_once(nodes, packets, served=served) for served in order}
        cpu.append(found[True][0] / found[False][0])
        time.append(found[True][1] / found[False][1])
        own.append(100 * found[True][2])
    return {CPU: statistics.median(cpu), OWN: statistics.median(own), TIME: statistics.median(time)}


# --- two hours --------------------------------------------------------------------------------


def soak(minutes: float) -> int:
    """Run the chain of 50 under three pages, and print the memory each minute. Return the exit status."""
    graph = CalculatorGraph(chain_text(50, ""))
    graph.start_run()
    memory: list[float] = []
    with ExitStack() as stack:
        server = stack.enter_context(serve(graph))
        for _ in range(_PAGES):
            stack.enter_context(looked_at(server, ["s0", "s25", "s50"]))
        for megabytes in islice(_each_minute(graph, minutes), round(minutes) or 1):
            memory.append(megabytes)
            print(f"{len(memory)} min: {megabytes:.1f} MiB", flush=True)
    graph.close()
    settled = memory[len(memory) // 10]
    grown = memory[-1] / settled - 1
    print(f"from {settled:.1f} to {memory[-1]:.1f} MiB: {grown:+.1%}")
    return int(grown > LIMIT - 1)


def _each_minute(graph: CalculatorGraph, minutes: float) -> Iterator[float]:
    """Feed a graph at 1,000 packets a second or less; yield the resident memory, in MiB, each minute."""
    pause_s = min(60.0, 60.0 * minutes)
    number, next_s, rest = 0, monotonic() + pause_s, threading.Event()
    while True:
        for _ in range(20):
            graph.add_packet_to_input_stream("s0", Packet(number, number))
            number += 1
        graph.wait_until_idle()
        rest.wait(0.02)
        if monotonic() >= next_s:
            next_s += pause_s
            yield resident_mb()


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--pairs", type=int, help="default 15; 1 with --short")
    options.add_argument("--seconds", type=float, help="of each run; default 2; 0.1 with --short")
    options.add_argument("--minutes", type=float, help="watch the memory for so long instead")
    given = options.parse_args()
    given.rounds = given.rounds or 1  # the pairs are in one process
    settings: dict[str, Any] = {
        "pairs": given.pairs or (1 if given.short else 15),
        "seconds": given.seconds or (0.1 if given.short else 2.0),
    }

    def bar(case: str, figure: str, limit: float) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.median(case, OURS, figure)

        return Bar(f"{case}, {figure}", "at most", limit, value)

    return Benchmark(
        claim="A graph that one page looks at loses less than 2 % of its work.",
        figure=CPU,
        base=OURS,
        cases=[Case(name, {"nodes": nodes, **settings}) for name, nodes in CASES.items()],
        contestants=[Contestant(OURS, "live:paired")],
        bars=[
            *(bar(name, CPU, LIMIT) for name in CASES),
            *(bar(name, OWN, 100 * (LIMIT - 1)) for name in CASES),
        ],
    ), given


if __name__ == "__main__":
    if sys.argv[1:2] == ["--look"]:
        look(sys.argv[2], sys.argv[3:])
    else:
        _benchmark, _given = benchmark()
        sys.exit(main(_benchmark, _given) if _given.minutes is None else soak(_given.minutes))
