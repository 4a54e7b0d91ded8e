"""Claim: a monitor that reads a graph five times a second takes less than 2 % of the graph's work.

The same packets go through the same graph without and with a `penstock_monitor.Monitor`, in turns in one
process: edges drawn over frames, and chains of 50 and 500 pass-through nodes, which run on one thread, so
that it makes no difference whether threads take turns. The ratio of the CPU time of all threads, also the
monitor's, and of the time from the first packet to the last, each the median of the pairs; the share of one
processor that the monitor's own thread took; and what one snapshot costs. On a machine with other work only
the share and the snapshot are to be trusted.

    python benchmarks/monitor.py [--pairs 15] [--seconds 2] [--short] [--json FILE]

With `--minutes M` it measures no cost: the chain of 50 runs under a monitor for M minutes, and the resident
memory is printed every minute. It exits with 1 if that has grown by more than 2 % after the first tenth.
"""

from __future__ import annotations

import statistics
import sys
from itertools import islice
from threading import enumerate as enumerate_threads
from time import clock_gettime, monotonic, perf_counter, pthread_getcpuclockid, thread_time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from expected import expect
from process_memory import cpu_s, resident_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text

from penstock import CalculatorGraph, Packet
from penstock_flow import HEADS
from penstock_formats import ImageFormat, ImageFrame
from penstock_monitor import Monitor

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from threading import Thread

OURS: Final = "penstock, monitored"
CPU: Final = "x CPU time"
OWN: Final = "% of a CPU"
TIME: Final = "x time"
SNAPSHOT: Final = "snapshot ms"
LIMIT: Final = 1.02
#: Of one snapshot of 500 nodes, in milliseconds.
SNAPSHOT_LIMIT: Final = 25.0
CASES: Final = {"edge overlay": 0, "50 nodes": 50, "500 nodes": 500}
SIZE: Final = (1280, 720)
#: The first pair is not counted: late imports, caches.
_WARM_UP_S: Final = 0.3
_SNAPSHOTS: Final = 20
_FIRST_READINGS: Final = 4

EDGES: Final = """
input_stream: "s0" output_stream: "out" max_queue_size: 6
node { calculator: "ColorConvertCalculator" input_stream: "RGB_IN:s0" output_stream: "GRAY_OUT:gray" }
node { calculator: "CannyEdgeCalculator" input_stream: "VIDEO:gray" output_stream: "VIDEO:edges" }
node {
  calculator: "ImageOverlayCalculator" input_stream: "VIDEO:s0" input_stream: "MASK:edges"
  output_stream: "VIDEO:out"
}
"""


def work(nodes: int) -> tuple[str, str, Callable[[int], object]]:
    """Return graph text, its last stream, and what makes the payload of a packet from its number."""
    if nodes:
        return chain_text(nodes, HEADS["application thread"]), f"s{nodes}", lambda number: number
    width, height = SIZE
    random = np.random.default_rng(1)
    frames = [
        ImageFrame(random.integers(0, 255, (height, width, 3), dtype=np.uint8), ImageFormat.SRGB)
        for _ in range(4)
    ]
    return EDGES, "out", lambda number: frames[number % len(frames)]


def run_once(nodes: int, packets: int, *, monitored: bool) -> tuple[float, float, float]:
    """Return the CPU seconds and the seconds of a run, and the monitor's share of one processor."""
    text, last, payload = work(nodes)
    graph = CalculatorGraph(text)
    seen = 0

    def count(_name: str, _packet: Packet) -> None:
        nonlocal seen
        seen += 1

    graph.observe_output_stream(last, count)
    graph.start_run()
    monitor = Monitor(graph) if monitored else None
    thread = next((one for one in enumerate_threads() if one.name == "penstock-monitor"), None)
    graph.add_packet_to_input_stream("s0", Packet(payload(0), 0))
    graph.wait_until_idle()
    if monitor is None:
        _rest(_FIRST_READINGS / 5)  # both begin after a rest of the same length
    else:
        for _ in range(_FIRST_READINGS):  # those read the plan, and import modules
            monitor.wait(monitor.reading().number)
    own = _cpu_of(thread)
    worked, began = cpu_s(), perf_counter()
    for number in range(1, packets):
        graph.add_packet_to_input_stream("s0", Packet(payload(number), number))
    graph.wait_until_idle()
    worked, spent = cpu_s() - worked, perf_counter() - began
    own = _cpu_of(thread) - own
    if monitor is not None:
        expect(monitor.reading().number > 0, expected=True, what="the monitor has read")
        monitor.close()
    graph.close()
    expect(seen, packets, "packets that came out")
    return worked, spent, own / spent


def _cpu_of(thread: Thread | None) -> float:
    """Return the CPU seconds of a thread."""
    if thread is None or thread.ident is None:
        return 0.0
    return clock_gettime(pthread_getcpuclockid(thread.ident))


def paired(nodes: int, pairs: int, seconds: float) -> dict[str, float]:
    """Measure runs without and with a monitor, in turns; which comes first changes from pair to pair."""
    packets, took = 4, 0.0
    while took < _WARM_UP_S:  # how many packets fill the time?
        packets *= 2
        _, took, _ = run_once(nodes, packets, monitored=False)
    packets = max(4, round(packets * seconds / took))
    run_once(nodes, packets, monitored=True)
    cpu, time, own = [], [], []
    for pair in range(pairs):
        order = (False, True) if pair % 2 else (True, False)
        found = {monitored: run_once(nodes, packets, monitored=monitored) for monitored in order}
        cpu.append(found[True][0] / found[False][0])
        time.append(found[True][1] / found[False][1])
        own.append(100 * found[True][2])
    return {
        CPU: statistics.median(cpu),
        OWN: statistics.median(own),
        TIME: statistics.median(time),
        SNAPSHOT: snapshot_ms(nodes),
    }


def snapshot_ms(nodes: int) -> float:
    """Return the CPU milliseconds of one snapshot of a run that is idle."""
    text, _, payload = work(nodes)
    graph = CalculatorGraph(text)
    graph.start_run()
    graph.add_packet_to_input_stream("s0", Packet(payload(0), 0))
    graph.wait_until_idle()
    took = []
    for _ in range(_SNAPSHOTS):
        began = thread_time()
        graph.snapshot()
        took.append(thread_time() - began)
    graph.close()
    return statistics.median(took) * 1e3


# --- two hours --------------------------------------------------------------------------------


def soak(minutes: float) -> int:
    """Run the chain of 50 under a monitor, and print the memory each minute. Return the exit status."""
    graph = CalculatorGraph(chain_text(50, ""))
    graph.start_run()
    memory: list[float] = []
    with Monitor(graph) as monitor:
        for megabytes in islice(_each_minute(graph, minutes), round(minutes) or 1):
            memory.append(megabytes)
            reading = monitor.reading()
            print(f"{len(memory)} min: {megabytes:.1f} MiB, reading {reading.number}", flush=True)
    graph.close()
    settled = memory[len(memory) // 10]
    grown = memory[-1] / settled - 1
    print(f"from {settled:.1f} to {memory[-1]:.1f} MiB: {grown:+.1%}")
    return int(grown > LIMIT - 1)


def _each_minute(graph: CalculatorGraph, minutes: float) -> Iterator[float]:
    """Feed a graph at 1,000 packets a second or less; yield the resident memory, in MiB, each minute."""
    pause_s = min(60.0, 60.0 * minutes)
    number, next_s = 0, monotonic() + pause_s
    while True:
        for _ in range(20):
            graph.add_packet_to_input_stream("s0", Packet(number, number))
            number += 1
        graph.wait_until_idle()
        _rest(0.02)
        if monotonic() >= next_s:
            next_s += pause_s
            yield resident_mb()


def _rest(seconds: float) -> None:
    from threading import Event

    Event().wait(seconds)


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
        claim="A monitor that reads a graph five times a second takes less than 2 % of the graph's work.",
        figure=CPU,
        base=OURS,
        cases=[Case(name, {"nodes": nodes, **settings}) for name, nodes in CASES.items()],
        contestants=[Contestant(OURS, "monitor:paired")],
        bars=[
            *(bar(name, CPU, LIMIT) for name in CASES),
            *(bar(name, OWN, 100 * (LIMIT - 1)) for name in CASES),
            bar("500 nodes", SNAPSHOT, SNAPSHOT_LIMIT),
        ],
    ), given


if __name__ == "__main__":
    _benchmark, _given = benchmark()
    sys.exit(main(_benchmark, _given) if _given.minutes is None else soak(_given.minutes))
