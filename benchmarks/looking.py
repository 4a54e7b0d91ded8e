"""What `monitor.py`, `live.py`, `metrics.py` share: graphs to look at, runs in pairs, memory over hours."""

from __future__ import annotations

import statistics
import sys
import threading
from contextlib import nullcontext
from itertools import islice
from time import clock_gettime, monotonic, perf_counter, pthread_getcpuclockid
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np
from expected import expect
from process_memory import cpu_s, resident_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text

from penstock import CalculatorGraph, Packet
from penstock_flow import HEADS
from penstock_formats import ImageFormat, ImageFrame

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    #: Looks at a graph in a `with` block.
    Look: TypeAlias = Callable[[CalculatorGraph], AbstractContextManager[object]]

CPU: Final = "x CPU time"
OWN: Final = "own CPU, %"
TIME: Final = "x time"
ERROR: Final = "+- x CPU"
CASES: Final = {"edge overlay": 0, "50 nodes": 50, "500 nodes": 500}
SIZE: Final = (1280, 720)
#: By how much the memory may grow in a soak.
GROWN: Final = 0.02
#: The first pair is not counted: late imports, caches.
_WARM_UP_S: Final = 0.3
_BURST_S: Final = 0.02
#: The standard error of a median is so many times that of the mean, for a normal distribution: sqrt(pi / 2).
_OF_A_MEDIAN: Final = 1.2533

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


def own_s(*threads: str) -> float:
    """Return the CPU seconds of the threads that are there now, with names that begin so."""
    return sum(
        clock_gettime(pthread_getcpuclockid(thread.ident))
        for thread in threading.enumerate()
        if thread.name.startswith(threads) and thread.ident is not None
    )


# --- what it costs ----------------------------------------------------------------------------


class Run(NamedTuple):
    """What packets took: CPU seconds of the process, seconds, and CPU seconds of the threads that look."""

    cpu_s: float
    spent_s: float
    own_s: float


class Fed:
    """A graph of `work` that runs while the block lasts, and what packets through it take.

    Args:
        nodes: as for `work`.
        own: returns the CPU seconds that looking has taken so far.
    """

    def __init__(self, nodes: int, own: Callable[[], float]) -> None:
        text, self._last, self._payload = work(nodes)
        self._own: Final = own
        self._number = self._seen = 0
        self.graph: Final = CalculatorGraph(text)
        self.graph.set_timing()

    def __enter__(self) -> Self:
        self.graph.observe_output_stream(self._last, self._count)
        self.graph.start_run()
        return self

    def __exit__(self, *_error: object) -> None:
        self.graph.close()
        expect(self._seen, self._number, "packets that came out")

    def _count(self, _name: str, _packet: Packet) -> None:
        self._seen += 1

    def feed(self, packets: int) -> Run:
        """Send so many packets through the graph, and wait for the last one."""
        worked, looked, began = cpu_s(), self._own(), perf_counter()
        for number in range(self._number, self._number + packets):
            self.graph.add_packet_to_input_stream("s0", Packet(self._payload(number), number))
        self._number += packets
        self.graph.wait_until_idle()
        return Run(cpu_s() - worked, perf_counter() - began, self._own() - looked)


def paired(  # noqa: PLR0913, PLR0917  # the settings of a case, then what its benchmark knows
    nodes: int, pairs: int, seconds: float, look: Look, own: Callable[[], float], settle_s: float = 0.6
) -> dict[str, float]:
    """Measure a run while nobody looks at it and while somebody does, in turns; which is first changes.

    A turn begins with `settle_s` seconds that are not counted: whatever looks has then read the plan, and
    knows what its work costs. All turns are of one run: two runs differ by more than what a look costs.
    `own` returns the CPU seconds that looking has taken so far. Beside the medians stands the standard error
    of the first one.
    """
    with Fed(nodes, own) as fed:
        packets, took = 4, 0.0
        while took < _WARM_UP_S:  # how many packets fill the time?
            packets *= 2
            took = fed.feed(packets).spent_s
        packets = max(4, round(packets * seconds / took))
        settling = max(4, round(packets * settle_s / seconds))

        def turn(look: Look | None) -> Run:
            with nullcontext() if look is None else look(fed.graph):
                fed.feed(settling)
                return fed.feed(packets)

        turn(look)
        cpu, time, share = [], [], []
        for pair in range(pairs):
            order = (None, look) if pair % 2 else (look, None)
            turns = {one: turn(one) for one in order}
            bare, seen = turns[None], turns[look]
            cpu.append(seen.cpu_s / bare.cpu_s)
            time.append(seen.spent_s / bare.spent_s)
            share.append(100 * seen.own_s / seen.spent_s)
    return {
        CPU: statistics.median(cpu),
        ERROR: _OF_A_MEDIAN * statistics.pstdev(cpu) / len(cpu) ** 0.5,
        OWN: statistics.median(share),
        TIME: statistics.median(time),
    }


# --- two hours --------------------------------------------------------------------------------


def soak(minutes: float, per_s: float, look: Look) -> int:
    """Run the chain of 50 while it is looked at, and print the memory each minute; return the exit status."""
    graph = CalculatorGraph(chain_text(50, ""))
    graph.start_run()
    memory: list[float] = []
    with look(graph):
        for megabytes in islice(_each_minute(graph, minutes, per_s), round(minutes) or 1):
            memory.append(megabytes)
            print(f"{len(memory)} min: {megabytes:.1f} MiB, {cpu_s():.1f} s of CPU time", flush=True)
    graph.close()
    settled = memory[len(memory) // 10]
    grown = memory[-1] / settled - 1
    print(f"from {settled:.1f} to {memory[-1]:.1f} MiB: {grown:+.1%}")
    return int(grown > GROWN)


def _each_minute(graph: CalculatorGraph, minutes: float, per_s: float) -> Iterator[float]:
    """Feed a graph at so many packets a second; yield the resident memory, in MiB, each minute."""
    pause_s = min(60.0, 60.0 * minutes)
    number, began, rest = 0, monotonic(), threading.Event()
    next_s = began + pause_s
    while True:
        for _ in range(round((monotonic() - began) * per_s) - number):
            graph.add_packet_to_input_stream("s0", Packet(number, number))
            number += 1
        graph.wait_until_idle()
        rest.wait(max(_BURST_S, 1 / per_s))
        if monotonic() >= next_s:
            next_s += pause_s
            yield resident_mb()


# --- the command line -------------------------------------------------------------------------


def given_options(doc: str | None, pairs: int = 15, seconds: float = 2.0) -> argparse.Namespace:
    """Return the options of the command line; `pairs` and `seconds` are the defaults of those."""
    options = parser(doc)
    options.add_argument("--pairs", type=int, help=f"default {pairs}; 1 with --short")
    options.add_argument("--seconds", type=float, help=f"of each run; default {seconds:g}; 0.1 with --short")
    options.add_argument("--minutes", type=float, help="watch the memory for so long instead")
    options.add_argument(
        "--per-second", type=float, default=1000.0, help="packets, with --minutes; default 1000"
    )
    given = options.parse_args()
    given.rounds = given.rounds or 1  # the pairs are in one process
    given.pairs = given.pairs or (1 if given.short else pairs)
    given.seconds = given.seconds or (0.1 if given.short else seconds)
    return given


def benchmark(
    claim: str, contestant: Contestant, percent: float, given: argparse.Namespace, *more: Bar
) -> Benchmark:
    """Return a benchmark of the cases above; looking at them may take so many percent of a processor."""
    settings: dict[str, Any] = {"pairs": given.pairs, "seconds": given.seconds}
    return Benchmark(
        claim=claim,
        figure=CPU,
        base=contestant.name,
        cases=[Case(name, {"nodes": nodes, **settings}) for name, nodes in CASES.items()],
        contestants=[contestant],
        bars=[
            *(bar(name, contestant.name, CPU, 1 + percent / 100) for name in CASES),
            *(bar(name, contestant.name, OWN, percent) for name in CASES),
            *more,
        ],
    )


def bar(case: str, contestant: str, figure: str, limit: float) -> Bar:
    """Return the bar for a figure of one case."""

    def value(measured: Measurements) -> float | None:
        return measured.median(case, contestant, figure)

    return Bar(f"{case}, {figure}", "at most", limit, value)


def finish(made: Benchmark, given: argparse.Namespace, look: Look) -> None:
    """Measure what the options ask for, and exit."""
    sys.exit(main(made, given) if given.minutes is None else soak(given.minutes, given.per_second, look))
