"""Claim: a graph that a process has loaded before takes little time until it has run again.

A chain of N pass-through nodes: milliseconds to make the graph, start it, send one packet through it and
close it, the median of 60 turns, after the same text has been loaded three times. A server does that for each
client. Penstock keeps the plan of a text that it has seen; each graph has a thread pool of its own here.

    python benchmarks/equal_graphs.py [--nodes 1 10 100] [--rounds 5] [--reference PYTHON] [--short]
        [--json FILE]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from contestants import REFERENCE, reference
from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text, turns

from penstock import CalculatorGraph, Packet

if TYPE_CHECKING:
    import argparse

OURS = "penstock"
FIGURE = "ms"


def penstock(nodes: int) -> dict[str, float]:
    """Time the graph from its making to its end."""
    text, output = chain_text(nodes), f"s{nodes}"

    def once() -> None:
        seen: list[object] = []
        graph = CalculatorGraph(text)
        graph.observe_output_stream(output, lambda _, packet: seen.append(packet.payload))
        graph.start_run()
        graph.add_packet_to_input_stream("s0", Packet(7, 0))
        graph.close()
        expect(seen, [7], "packets that came out")

    return turns(once)


def _case(nodes: int) -> str:
    return f"{nodes} nodes" if nodes > 1 else "1 node"


def _bar(nodes: int) -> Bar:
    def ratio(measured: Measurements) -> float | None:
        return measured.ratio(_case(nodes), OURS, REFERENCE, FIGURE)

    return Bar(f"{_case(nodes)}, from text to the end, x {REFERENCE}", "at most", 1.5, ratio)


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, nargs="+", help="default 1 10 100; with --short 1 10")
    given = options.parse_args()
    nodes = given.nodes or ([1, 10] if given.short else [1, 10, 100])
    return Benchmark(
        claim="A graph that the process has loaded before has soon run again.",
        figure=FIGURE,
        base=REFERENCE,
        otherwise=OURS,
        cases=[Case(_case(n), {"nodes": n}) for n in nodes],
        contestants=[Contestant(OURS, "equal_graphs:penstock"), reference("equal_graph", given)],
        bars=[_bar(n) for n in nodes],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
