"""Claim: a node step costs little, beside MediaPipe's C++ framework driven from Python.

A chain of N pass-through nodes, K packets of ints fed from the application thread, the last stream
observed from Python. Prints microseconds per node step: medians over rounds that take turns
(A B A B ...), and their ratio.

    python benchmarks/chain.py [--nodes 50] [--packets 20000] [--rounds 5] [--reference PYTHON]

PYTHON is an interpreter of an environment with `mediapipe==0.10.21` (Python 3.11 or 3.12); without
it only Penstock is timed. Absolute numbers drift with the machine; the ratio of one run counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
from time import perf_counter

REFERENCE = """
import os, sys
os.environ["GLOG_minloglevel"] = "3"
from time import perf_counter
from mediapipe.python import packet_creator
from mediapipe.python._framework_bindings import calculator_graph
nodes, packets, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
graph = calculator_graph.CalculatorGraph(graph_config=text)
seen = []
graph.observe_output_stream(f"s{nodes}", lambda name, packet: seen.append(packet))
graph.start_run()
start = perf_counter()
for i in range(packets):
    graph.add_packet_to_input_stream("s0", packet_creator.create_int(i).at(i))
graph.close_all_packet_sources()
graph.wait_until_done()
spent = perf_counter() - start
assert len(seen) == packets
print(spent)
"""


def chain(nodes: int, executor: str = "") -> str:
    """Return the text of a chain of pass-through nodes from stream s0 to stream s<nodes>."""
    lines = [
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
        for i in range(nodes)
    ]
    return "\n".join(['input_stream: "s0"', executor, *lines])


def penstock_seconds(nodes: int, packets: int, executor: str) -> float:
    """Return how long Penstock takes for the whole chain."""
    from penstock import CalculatorGraph, Packet  # noqa: PLC0415  # not needed to print the help

    graph = CalculatorGraph(chain(nodes, executor))
    seen: list[Packet] = []
    graph.observe_output_stream(f"s{nodes}", lambda _, packet: seen.append(packet))
    graph.start_run()
    start = perf_counter()
    for i in range(packets):
        graph.add_packet_to_input_stream("s0", Packet(i, i))
    graph.close()
    spent = perf_counter() - start
    if [packet.payload for packet in seen] != list(range(packets)):
        raise SystemExit(f"wrong result: {len(seen)} packets came out, {packets} went in")
    return spent


def reference_seconds(python: str, nodes: int, packets: int) -> float:
    """Return how long the reference takes, in a process of its own."""
    command = [python, "-c", REFERENCE, str(nodes), str(packets), chain(nodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # our own text
    return float(done.stdout)


def main() -> None:
    """Time all contestants in turns and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--packets", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reference", metavar="PYTHON", help="interpreter that has mediapipe==0.10.21")
    given = parser.parse_args()
    nodes, packets = given.nodes, given.packets
    contestants = {
        "penstock, default threads": lambda: penstock_seconds(nodes, packets, ""),
        "penstock, 1 thread": lambda: penstock_seconds(nodes, packets, "num_threads: 1"),
        "penstock, application thread": lambda: penstock_seconds(
            nodes, packets, 'executor { type: "ApplicationThreadExecutor" }'
        ),
    }
    if given.reference:
        contestants["reference, default threads"] = lambda: reference_seconds(given.reference, nodes, packets)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(given.rounds):
        for name, run in contestants.items():
            times[name].append(run() / packets / nodes * 1e6)
    print(f"{nodes} nodes, {packets} packets, {given.rounds} rounds, us per node step")
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {sys.platform}")
    base = statistics.median(times["reference, default threads"]) if given.reference else None
    for name, spent in times.items():
        median = statistics.median(spent)
        ratio = f"  {median / base:5.2f} x reference" if base else ""
        print(f"{name:32} median {median:6.2f}  from {min(spent):6.2f} to {max(spent):6.2f}{ratio}")


if __name__ == "__main__":
    main()
