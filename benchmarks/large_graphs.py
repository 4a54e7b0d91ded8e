"""Claim: large graphs are built quickly, and the time grows with the nodes, not with their square.

A chain of N pass-through nodes as graph text: milliseconds to read, check and build it (initialize), and to
start it until packets may be added (start); then one packet must pass the chain. Compared with the
reference, whose checks take time that grows with the square of the nodes.

    python benchmarks/large_graphs.py [--nodes 100 1000 5000] [--rounds 5] [--reference PYTHON]
        [--short] [--json FILE]

More nodes than the limit "nodes" of `penstock.limits` can be asked for: `--nodes 100000`.
"""

from __future__ import annotations

import statistics
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from contestants import REFERENCE, reference
from expected import expect
from process_memory import resident_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text

from penstock import CalculatorGraph, Packet, limits

if TYPE_CHECKING:
    import argparse

OURS = "penstock"
FIGURE = "ms"
PER_NODE = "us a node"
#: A small graph that imports modules and loads the plugins before the clock starts.
WARM_UP_NODES = 3
FEW, MANY = 100, 5000


def penstock(nodes: int) -> dict[str, float]:
    """Time the making and the starting of a graph."""
    with limits.override(nodes=max(nodes, limits.current().nodes)):
        _begin(WARM_UP_NODES)
        return _begin(nodes)


def _begin(nodes: int) -> dict[str, float]:
    text = chain_text(nodes)
    seen: list[object] = []
    before = resident_mb()
    start = perf_counter()
    graph = CalculatorGraph(text)
    made = perf_counter()
    graph.observe_output_stream(f"s{nodes}", lambda _, packet: seen.append(packet.payload))
    watched = perf_counter()
    graph.start_run()
    started = perf_counter()
    after = resident_mb()
    graph.add_packet_to_input_stream("s0", Packet(7, 0))
    graph.close()
    expect(seen, [7], "packets that came out")
    init, begin = made - start, started - watched
    return {
        FIGURE: (init + begin) * 1e3,
        "initialize ms": init * 1e3,
        "start ms": begin * 1e3,
        PER_NODE: (init + begin) / nodes * 1e6,
        "KB a node": (after - before) * 1024 / nodes,
    }


def _case(nodes: int) -> str:
    return f"{nodes} nodes"


def bars(nodes: list[int]) -> list[Bar]:
    """Return the bars for these sizes."""

    def beside(measured: Measurements) -> float | None:
        return measured.ratio(_case(MANY), OURS, REFERENCE, FIGURE)

    def growth(measured: Measurements) -> float | None:
        many, few = (measured.rounds.get((_case(n), OURS)) for n in (MANY, FEW))
        if many is None or few is None:
            return None
        return statistics.median(a / b for a, b in zip(many[PER_NODE], few[PER_NODE], strict=True))

    if MANY not in nodes:
        return []
    made = [Bar(f"{MANY} nodes, initialize and start, x {REFERENCE}", "at most", 0.4, beside)]
    if FEW in nodes:
        made.append(Bar(f"a node of {MANY}, x a node of {FEW} (linear is 1)", "at most", 1.2, growth))
    return made


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, nargs="+", help="default 100 1000 5000; with --short 100 500")
    given = options.parse_args()
    nodes = given.nodes or ([100, 500] if given.short else [FEW, 1000, MANY])
    return Benchmark(
        claim="Graphs of thousands of nodes are ready soon, in time that grows with the nodes.",
        figure=FIGURE,
        base=REFERENCE,
        otherwise=OURS,
        cases=[Case(_case(n), {"nodes": n}, more_s=n // 100) for n in nodes],
        contestants=[Contestant(OURS, "large_graphs:penstock"), reference("large_graph", given)],
        bars=bars(nodes),
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
