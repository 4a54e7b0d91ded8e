from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import penstock
from penstock.errors import GraphRunError
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
        if graph._starter.is_running:
            graph.cancel()
            try:
                graph.wait_until_done(TIMEOUT)
            except GraphRunError:
                continue


@pytest.fixture
def async_all() -> type[penstock.Calculator]:
    """Return a calculator whose methods are coroutines, and whose `log` has each with its thread."""

    class AsyncAll(penstock.Calculator):
        """Every method is a coroutine that really lets go of the loop."""

        log: ClassVar[list[tuple[str, str]]] = []

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()

        async def _note(self, what):
            await asyncio.sleep(0)
            type(self).log.append((what, threading.current_thread().name))

        async def open(self, cc):
            await self._note("open")

        async def process(self, cc):
            payload, t = cc.input.payload, cc.input_timestamp
            await self._note(f"process {payload}")
            cc.output.add(payload * 10, t)

        async def close(self, cc):
            await self._note("close")

    return AsyncAll
