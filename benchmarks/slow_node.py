"""Claim: a slow node on a one-thread executor of its own does not slow down the path beside it.

One graph input feeds a fast path (a chain of pass-through nodes, observed) and a slow node whose calls
take some milliseconds and release the interpreter's lock, as a library call does. For a fixed time the
fast path is fed one packet at a time, each added when the one before has come out, while the slow node
always has packets waiting. Contestants: the slow node on its own thread (`SingleThreadExecutor`), in the
pool that it shares with the fast path, for pools of 1 and 2 threads; and no slow node at all.

Prints packets per second on the fast path: medians over rounds that take turns (A B A B ...), their
ratio to the graph without a slow node, and the longest that a packet took.

    python benchmarks/slow_node.py [--seconds 0.5] [--rounds 5] [--nodes 5] [--slow-ms 5]

Absolute numbers drift with the machine; the ratios of one run count.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import threading
from itertools import pairwise
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from penstock import Calculator, CalculatorContext, CalculatorGraph, Packet, Registry
from penstock.runtime.default import default_registry

if TYPE_CHECKING:
    from penstock.contract import CalculatorContract

#: How many packets wait for the slow node, at least, while it is measured.
BACKLOG = 20


class Slow(Calculator):
    """Takes its time without the interpreter's lock."""

    seconds = 0.005

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take anything."""
        cc.inputs[0].set_any()

    def process(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # what comes in does not matter
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
    """Return packets per second on the fast path, and the longest that one took, in seconds."""
    graph = CalculatorGraph(text, registry=registry)
    came = threading.Semaphore(0)
    graph.observe_output_stream("out", lambda _, __: came.release())
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
    return count / (now - begin), longest


def main() -> None:
    """Measure all contestants in turns and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="of feeding, in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=5, help="of the fast path")
    parser.add_argument("--slow-ms", type=float, default=5.0, help="that a call of the slow node takes")
    given = parser.parse_args()
    Slow.seconds = given.slow_ms / 1e3
    registry = default_registry().child()
    registry.add("calculator", "Slow", Slow)
    contestants = {
        f"{label}, pool of {threads}": graph_text(given.nodes, threads, slow)
        for threads in (1, 2)
        for slow, label in (("", "no slow node"), ("own", "own thread"), ("shared", "shared pool"))
    }
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    longest: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(given.rounds):
        for name, text in contestants.items():
            rate, worst = fast_path(text, registry, given.seconds)
            rates[name].append(rate)
            longest[name].append(worst * 1e3)
    print(
        f"{given.nodes} nodes, beside them one of {given.slow_ms:g} ms; "
        f"{given.rounds} rounds of {given.seconds:g} s"
    )
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {sys.platform}")
    for name, found in rates.items():
        base = statistics.median(rates[f"no slow node, pool of {name[-1]}"])
        median = statistics.median(found)
        print(
            f"{name:24} median {median:8.0f} packets/s  from {min(found):8.0f} to {max(found):8.0f}  "
            f"{median / base:5.2f} x without  longest {statistics.median(longest[name]):6.1f} ms"
        )


if __name__ == "__main__":
    main()
