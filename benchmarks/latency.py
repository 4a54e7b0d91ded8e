"""Claim: one packet passes a graph quickly, on the application thread and on the thread pool.

One packet goes through a chain of pass-through nodes, and the application waits for it before it adds the
next: median and 99th percentile in microseconds. It waits with `wait_until_idle`, as both engines have it, or
for the observer's call (a semaphore). Most of the cost of a thread pool is waking a sleeping thread; the
fastest contestants have no other thread. What two bare threads take to hand a number over and back, and the
time on the application thread, are together the floor of the thread pool.

    python benchmarks/latency.py [--nodes 10] [--packets 2000] [--rounds 5] [--reference PYTHON]
        [--peers PYTHON] [--gstreamer PYTHON] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from contestants import REFERENCE, gstreamer, in_process, reference
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text, latencies

from penstock_flow import HEADS, IdleAsked, ObserverAsked

if TYPE_CHECKING:
    import argparse

FIGURE = "median us"
APPLICATION = "application thread"
POOL = "default threads"


def penstock(nodes: int, packets: int, head: str, *, by_observer: bool = False) -> dict[str, float]:
    """Time one packet through a chain of Penstock's; `head` is graph text that chooses the threads."""
    kind = ObserverAsked if by_observer else IdleAsked
    return latencies(lambda: kind(chain_text(nodes, head), f"s{nodes}"), packets)


def bar(case: str, threads: str, limit: float) -> Bar:
    """Return a bar, compared with the reference on its default threads; both wait until idle."""

    def value(measured: Measurements) -> float | None:
        return measured.ratio(case, f"penstock, {threads}", REFERENCE, FIGURE)

    return Bar(f"{case}, {threads}, median, x {REFERENCE}", "at most", limit, value)


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=10)
    options.add_argument("--packets", type=int, help="default 2000; 100 with --short")
    given = options.parse_args()
    packets = given.packets or (100 if given.short else 2000)
    case = f"{given.nodes} nodes"
    seen = {"by_observer": True}
    return Benchmark(
        claim="One packet is through ten nodes sooner than with the reference.",
        figure=FIGURE,
        base=REFERENCE,
        otherwise="plain loop (the floor)",
        cases=[Case(case, {"nodes": given.nodes, "packets": packets})],
        contestants=[
            *(
                Contestant(f"penstock, {name}", "latency:penstock", {"head": HEADS[name]})
                for name in (APPLICATION, POOL)
            ),
            Contestant(f"penstock, {POOL}, observer", "latency:penstock", {"head": "", **seen}),
            reference("latency", given),
            reference("latency", given, f"{REFERENCE}, observer", **seen),
            reference("latency", given, f"reference, {APPLICATION}", head=HEADS[APPLICATION]),
            Contestant("two bare threads, no nodes", "peers.hand_over:latency"),
            *in_process("latency", given.peers),
            gstreamer("latency", given),
        ],
        bars=[bar(case, APPLICATION, 0.5), bar(case, POOL, 1.0)] if given.nodes == 10 else [],  # noqa: PLR2004  # as claimed
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
