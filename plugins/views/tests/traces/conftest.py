from __future__ import annotations

import asyncio
import concurrent.futures
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock_testing import testing_registry

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
def make() -> Iterator[Callable[..., penstock.CalculatorGraph]]:
    """Make graphs that run on a pool, or inside waits where `threads` is 0; they end with the test."""
    graphs: list[penstock.CalculatorGraph] = []
    pools: list[concurrent.futures.ThreadPoolExecutor] = []

    def _make(
        nodes: list[tuple[Any, ...]], inputs: str = "", rest: str = "", *, threads: int = 2
    ) -> penstock.CalculatorGraph:
        registry = testing_registry(*{line[0] for line in nodes})
        graph = penstock.CalculatorGraph(text_of(nodes, inputs, rest), registry=registry)
        if threads:
            pools.append(concurrent.futures.ThreadPoolExecutor(threads))
            graph.set_executor("", pools[-1])
        graphs.append(graph)
        return graph

    yield _make
    for graph in graphs:
        if graph.is_running:
            graph.cancel()
            try:
                graph.wait_until_done(TIMEOUT)
            except penstock.GraphRunError:
                continue
    for pool in pools:
        pool.shutdown()


@pytest.fixture
def async_all() -> type[penstock.Calculator]:
    """Return a calculator whose methods are coroutines."""

    class AsyncAll(penstock.Calculator):
        """Every method is a coroutine that really gives up the loop for a while."""

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()

        async def open(self, cc):
            await asyncio.sleep(0)

        async def process(self, cc):
            await asyncio.sleep(0)
            cc.output.add(cc.input.payload * 10, cc.input_timestamp)

        async def close(self, cc):
            await asyncio.sleep(0)

    return AsyncAll
