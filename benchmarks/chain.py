"""Claim: a node step costs little, beside MediaPipe's C++ framework driven from Python.

Chains of 1, 10, 50 and 200 pass-through nodes, K packets of ints fed from the application thread, the last
stream observed from Python: microseconds per packet and per node step. GStreamer's elements do the same in
C; reactivex and `SimpleQueue` show the cost without queue limits and without synchronization.

    python benchmarks/chain.py [--nodes 1 10 50 200] [--packets 20000] [--rounds 5] [--reference PYTHON]
        [--peers PYTHON] [--gstreamer PYTHON] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from contestants import REFERENCE, gstreamer, in_process, reference
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_figures, chain_text

from penstock_flow import HEADS, Flow

if TYPE_CHECKING:
    import argparse

OURS = "penstock, default threads"
PACKET, STEP = "us a packet", "us a node step"


def penstock(nodes: int, packets: int, head: str) -> dict[str, float]:
    """Time a chain of Penstock's; `head` is graph text that chooses the threads."""
    return chain_figures(lambda: Flow(chain_text(nodes, head), ("s0",), f"s{nodes}"), nodes, packets)


def bar(nodes: int, figure: str, limit: float) -> Bar:
    """Return the bar for one length, compared with the reference."""

    def value(measured: Measurements) -> float | None:
        return measured.ratio(_case(nodes), OURS, REFERENCE, figure)

    return Bar(f"{_case(nodes)}, {figure}, x {REFERENCE}", "at most", limit, value)


def _case(nodes: int) -> str:
    return f"{nodes} node" + "s" * (nodes != 1)


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, nargs="+", help="default 1 10 50 200; 1 10 200 with --short")
    options.add_argument("--packets", type=int, help="default 20000; 300 with --short")
    given = options.parse_args()
    packets = given.packets or (300 if given.short else 20_000)
    lengths = given.nodes or ([1, 10, 200] if given.short else [1, 10, 50, 200])
    limits = {50: (STEP, 1.2), 10: (STEP, 0.8), 1: (PACKET, 0.5)}
    return Benchmark(
        claim="A node step costs little, beside the reference in C++ driven from Python.",
        figure=PACKET,
        base=REFERENCE,
        otherwise="plain loop (the floor)",
        cases=[Case(_case(nodes), {"nodes": nodes, "packets": packets}) for nodes in lengths],
        contestants=[
            *(
                Contestant(f"penstock, {name}", "chain:penstock", {"head": head})
                for name, head in HEADS.items()
            ),
            reference("chain", given),
            reference("chain", given, "reference, 1 thread", head="num_threads: 1"),
            *in_process("chain", given.peers),
            gstreamer("chain", given),
        ],
        bars=[bar(nodes, *limits[nodes]) for nodes in limits if nodes in lengths],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
