"""Claim: a slow node on a one-thread executor of its own does not slow down the path beside it.

One graph input feeds a fast path (a chain of pass-through nodes, observed) and a slow node whose calls
take some milliseconds and release the interpreter's lock, as a library call does. For a fixed time the
fast path is fed one packet at a time, each added after the one before has passed, while the slow node
always has packets waiting. Contestants: no slow node at all; the slow node on its own thread
(`SingleThreadExecutor`); and in the pool that it shares with the fast path, for pools of 1 and 2 threads.
Packets per second on the fast path, and the longest time of one packet.

    python benchmarks/slow_node.py [--seconds 0.5] [--rounds 5] [--nodes 5] [--slow-ms 5]
        [--short] [--json FILE]
"""

from __future__ import annotations

import sys
import threading
from itertools import pairwise
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

from penstock import Calculator, CalculatorContext, CalculatorGraph, Packet, Registry
from penstock.plugins.default_registry import default_registry

if TYPE_CHECKING:
    import argparse

    from penstock.contract import CalculatorContract

FIGURE = "packets/s"
NONE, OWN, SHARED = "penstock, no slow node", "penstock, own thread", "penstock, shared pool"
#: The smallest number of packets that wait for the slow node while it is measured.
BACKLOG = 20


class Slow(Calculator):
    """Takes some milliseconds without the interpreter's lock."""

    seconds = 0.005

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take anything."""
        cc.inputs[0].set_any()

    def process(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the input does not matter
        """Wait, as in a library call."""
        sleep(self.seconds)


def graph_text(nodes: int, threads: int, slow: str) -> str:
    """Return a chain of pass-through nodes from "in" to "out", and a slow node beside it.

    Args:
        nodes: of the chain.
        threads: of the shared pool.
        slow: "own" or "shared" for the executor of the slow node; "" for a graph without one.
    """
    names = ["in", *(f"s{i}" for i in range(1, nodes)), "out"]
    lines = ['input_stream: "in"', 'input_stream: "heavy"', f"num_threads: {threads}", "max_queue_size: -1"]
    lines += [
        f'node {{ calculator: "PassThroughCalculator" input_stream: "{a}" output_stream: "{b}" }}'
        for a, b in pairwise(names)
    ]
    if slow == "own":
        lines.append('executor { name: "slow" type: "SingleThreadExecutor" }')
    if slow:
        executor = 'executor: "slow"' if slow == "own" else ""
        lines.append(f'node {{ calculator: "Slow" input_stream: "heavy" {executor} }}')
    return "\n".join(lines)


def fast_path(text: str, registry: Registry, seconds: float) -> tuple[float, float]:
    """Return packets per second on the fast path, and the longest time of one packet, in seconds."""
    graph = CalculatorGraph(text, registry=registry)
    came = threading.Semaphore(0)
    seen: list[object] = []

    def notice(_name: str, packet: Packet) -> None:
        seen.append(packet.payload)
        came.release()

    graph.observe_output_stream("out", notice)
    graph.start_run()
    backlog = BACKLOG + round(seconds / Slow.seconds)
    for number in range(backlog):
        graph.add_packet_to_input_stream("heavy", Packet(number, number))
    longest, count = 0.0, 0
    begin = now = perf_counter()
    while now - begin < seconds:
        graph.add_packet_to_input_stream("in", Packet(count, count))
        came.acquire()
        before, now = now, perf_counter()
        longest = max(longest, now - before)
        count += 1
    graph.close()
    expect(seen, list(range(count)), "packets that came out")
    return count / (now - begin), longest


def measured(slow: str, threads: int, nodes: int, seconds: float, slow_ms: float) -> dict[str, float]:
    """Measure the fast path; `slow` as in `graph_text`."""
    Slow.seconds = slow_ms / 1e3
    registry = default_registry().child()
    registry.add("calculator", "Slow", Slow)
    text = graph_text(nodes, threads, slow)
    fast_path(text, registry, seconds / 10)  # warm up: late imports, and the start of threads
    rate, longest = fast_path(text, registry, seconds)
    return {FIGURE: rate, "longest ms": longest * 1e3}


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--seconds", type=float, help="of feeding; default 0.5; 0.05 with --short")
    options.add_argument("--nodes", type=int, default=5, help="of the fast path")
    options.add_argument("--slow-ms", type=float, default=5.0, help="time of a call of the slow node")
    given = options.parse_args()
    seconds = given.seconds or (0.05 if given.short else 0.5)
    settings = {"nodes": given.nodes, "seconds": seconds, "slow_ms": given.slow_ms}
    pools = {threads: f"pool of {threads}" for threads in (1, 2)}

    def bar(case: str) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.ratio(case, OWN, NONE, FIGURE)

        return Bar(f"{case}, {FIGURE}, {OWN}, x {NONE}", "at least", 0.9, value)

    return Benchmark(
        claim="A slow node on a thread of its own does not slow down the path beside it.",
        figure=FIGURE,
        base=NONE,
        cases=[Case(name, {"threads": threads, **settings}) for threads, name in pools.items()],
        contestants=[
            Contestant(name, "slow_node:measured", {"slow": slow})
            for name, slow in ((NONE, ""), (OWN, "own"), (SHARED, "shared"))
        ],
        bars=[bar(name) for name in pools.values()],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
