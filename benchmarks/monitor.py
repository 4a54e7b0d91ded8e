"""Claim: a monitor that reads a graph five times a second takes less than 2 % of a processor.

The same packets go through the same graph without and with a `penstock_monitor.Monitor`, in turns in one
run: edges drawn over frames, and chains of 50 and 500 pass-through nodes, which run on one thread, so that it
makes no difference whether threads take turns. The ratio of the CPU time of all threads, also the monitor's,
and of the time from the first packet to the last, each the median of the pairs; the share of one processor
that the monitor's own thread took; and what one snapshot costs.

    python benchmarks/monitor.py [--pairs 15] [--seconds 2] [--short] [--json FILE]

With `--minutes M` it measures no cost: the chain of 50 runs under a monitor for M minutes, and the resident
memory is printed every minute. It exits with 1 if that has grown by more than 2 % after the first tenth.
`--per-second P` says how many packets it carries meanwhile.
"""

from __future__ import annotations

import statistics
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Final

import looking
from side_by_side import Contestant

from penstock import CalculatorGraph, Packet
from penstock_monitor import Monitor

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

OURS: Final = "penstock, monitored"
SNAPSHOT: Final = "snapshot ms"
#: In percent of a processor.
LIMIT: Final = 2.0
#: Of one snapshot of 500 nodes, in milliseconds.
SNAPSHOT_LIMIT: Final = 25.0
_SNAPSHOTS: Final = 20


def monitored(graph: CalculatorGraph) -> AbstractContextManager[object]:
    """Let a monitor look at a graph."""
    return Monitor(graph)


def paired(nodes: int, pairs: int, seconds: float) -> dict[str, float]:
    """Measure runs without and with a monitor, in turns."""
    found = looking.paired(nodes, pairs, seconds, monitored, partial(looking.own_s, "penstock-monitor"))
    return {**found, SNAPSHOT: snapshot_ms(nodes)}


def snapshot_ms(nodes: int) -> float:
    """Return the CPU milliseconds of one snapshot of a run that is idle."""
    text, _, payload = looking.work(nodes)
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


if __name__ == "__main__":
    given = looking.given_options(__doc__)
    made = looking.benchmark(
        "A monitor that reads a graph five times a second takes less than 2 % of a processor.",
        Contestant(OURS, "monitor:paired"),
        LIMIT,
        given,
        looking.bar("500 nodes", OURS, SNAPSHOT, SNAPSHOT_LIMIT),
    )
    looking.finish(made, given, monitored)
