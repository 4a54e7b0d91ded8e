"""Whether an executor runs graphs as threads do: same packets, ledger and counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_testing.random_graphs import random_graph, run_random_graph

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import Executor


def check_executor(executor: Executor, seeds: Iterable[int] = range(100)) -> int:
    """Run random graphs on threads and on an executor, and compare.

    Args:
        executor: runs all nodes of the second run of each graph; stays the caller's.
        seeds: one for each graph.

    Returns:
        How many packets the graphs have written, so that a caller sees that something was compared.

    Raises:
        AssertionError: packets, the ledger or counters differ; has seed, graph and feed.
    """
    packets = 0
    for seed in seeds:
        graph = random_graph(seed)
        here = run_random_graph(graph)
        elsewhere = run_random_graph(graph, executor)
        if here != elsewhere:
            raise AssertionError(
                f"with seed {seed} the executors differ:\n{graph.text}\n{graph.feed}\nthreads: "
                f"{here}\nexecutor: {elsewhere}"
            )
        packets += sum(len(stream) for stream in here.packets.values())
    return packets
