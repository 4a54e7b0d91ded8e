from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError
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
        if graph.is_running:
            graph.cancel()
            with contextlib.suppress(GraphRunError):
                graph.wait_until_done(TIMEOUT)


class WatchingThreads(penstock.Executor):
    """Threads of one run which look for neglected steps while they sleep."""

    def __init__(self, threads: int = 2) -> None:
        self._threads = threads

    def lend_to(self, work):
        return _Watched(work, self._threads)


class _Watched(penstock.ExecutorLease):
    watches = True

    def __init__(self, work, threads):
        self._work = work
        self._wakes = threading.Semaphore(0)
        self._is_stopping = False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def wake(self):
        self._wakes.release()

    def stop(self, timeout=None):
        self._is_stopping = True
        self._wakes.release(len(self._threads))
        for thread in self._threads:
            thread.join(timeout)
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self):
        while not self._is_stopping:
            self._work.run()
            seen = self._work.taken
            while not (self._wakes.acquire(timeout=0.005) or self._work.is_neglected(seen)):
                seen = self._work.taken


@pytest.fixture
def watching_threads() -> type[WatchingThreads]:
    """Return an executor of threads, for tests of what sleeping threads do about neglected steps."""
    return WatchingThreads


@pytest.fixture
def runner_of() -> Callable[[penstock.CalculatorGraph], Any]:
    """Return a function that returns a graph's present or last run, for what no public name shows."""
    return lambda graph: graph._runs.runner


@pytest.fixture
def is_locked() -> Callable[[penstock.CalculatorGraph], bool]:
    """Return a function that returns whether the calling thread holds the lock of a graph's run.

    It lets another thread look at the run, which that thread cannot do while the lock is held.
    """

    def _look(graph: penstock.CalculatorGraph) -> None:
        with contextlib.suppress(FailedPreconditionError):  # there is no run yet
            graph.ledger()

    def _is_locked(graph: penstock.CalculatorGraph) -> bool:
        looking = threading.Thread(target=_look, args=(graph,), daemon=True)
        looking.start()
        looking.join(2)
        return looking.is_alive()

    return _is_locked


@pytest.fixture
def async_all() -> type[penstock.Calculator]:
    """Return a calculator whose methods are coroutines, and whose `log` has each with its thread."""

    class AsyncAll(penstock.Calculator):
        """Every method is a coroutine that really yields to the loop."""

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
