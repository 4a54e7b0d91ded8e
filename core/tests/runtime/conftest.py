from __future__ import annotations

import concurrent.futures
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.testing import testing_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMEOUT = 20


def text_of(nodes: list[tuple[Any, ...]], inputs: str, rest: str) -> str:
    """Return graph text; a node is a calculator, its inputs, its outputs, and what else stands in it."""
    lines = [f'input_stream: "{name}"' for name in inputs.split()]
    for calculator, *parts in nodes:
        reads, writes, more = [*parts, "", "", ""][:3]
        lines.append(f'node {{ calculator: "{calculator.__name__}"')
        lines += [f'  input_stream: "{name}"' for name in reads.split()]
        lines += [f'  output_stream: "{name}"' for name in writes.split()]
        lines.append(f"  {more}\n}}")
    return "\n".join([*lines, rest])


@pytest.fixture
def pools() -> Iterator[Callable[..., concurrent.futures.ThreadPoolExecutor]]:
    """Make pools of threads that belong to the test."""
    made: list[concurrent.futures.ThreadPoolExecutor] = []

    def _make(threads: int = 2, name: str = "pool") -> concurrent.futures.ThreadPoolExecutor:
        made.append(concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix=name))
        return made[-1]

    yield _make
    for pool in made:
        pool.shutdown()


@pytest.fixture
def make(pools) -> Iterator[Callable[..., penstock.CalculatorGraph]]:
    """Make graphs that run on a pool, or inside waits where `threads` is 0; they end with the test."""
    graphs: list[penstock.CalculatorGraph] = []

    def _make(
        nodes: list[tuple[Any, ...]],
        inputs: str = "",
        rest: str = "",
        *,
        threads: int = 2,
        side_packets: dict[str, object] | None = None,
    ) -> penstock.CalculatorGraph:
        registry = testing_registry(*{line[0] for line in nodes})
        graph = penstock.CalculatorGraph(
            text_of(nodes, inputs, rest), side_packets=side_packets, registry=registry
        )
        if threads:
            graph.set_executor("", pools(threads))
        graphs.append(graph)
        return graph

    yield _make
    for graph in graphs:
        if graph._is_running:
            graph.cancel()
            try:
                graph.wait_until_done(TIMEOUT)
            except GraphRunError:
                continue
