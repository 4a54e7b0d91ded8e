"""By hand: a task for each node on one event loop, and an `asyncio.Queue` of 100 before each.

The loop runs in the feeding thread: `feed` collects, and `end` runs the loop, as in a program written for
one loop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from streams import chain_figures, join_figures, latencies

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LIMIT = 100
_END = -1


class _Chain:
    """Tasks that forward."""

    def __init__(self, nodes: int) -> None:
        self.seen: list[int] = []
        self._given: list[int] = []
        self._loop = asyncio.new_event_loop()
        self._queues: list[asyncio.Queue[int]] = [asyncio.Queue(LIMIT) for _ in range(nodes)]
        self._came = asyncio.Event()
        puts: list[Callable[[int], Awaitable[None]]] = [each.put for each in self._queues[1:]]
        self._tasks = [
            self._loop.create_task(self._pass_on(self._queues[i], put))
            for i, put in enumerate([*puts, self._notice])
        ]

    @staticmethod
    async def _pass_on(source: asyncio.Queue[int], put: Callable[[int], Awaitable[None]]) -> None:
        while (number := await source.get()) != _END:
            await put(number)
        await put(_END)

    async def _notice(self, number: int) -> None:
        if number != _END:
            self.seen.append(number)
            self._came.set()

    def feed(self, number: int) -> None:
        self._given.append(number)

    def ask(self, number: int) -> None:
        self._loop.run_until_complete(self._answered(number))

    async def _answered(self, number: int) -> None:
        self._came.clear()
        await self._queues[0].put(number)
        await self._came.wait()

    def end(self) -> None:
        self._loop.run_until_complete(self._finish())
        self._loop.close()

    async def _finish(self) -> None:
        for number in self._given:
            await self._queues[0].put(number)
        await self._queues[0].put(_END)
        await asyncio.gather(*self._tasks)


class _Join:
    """A task that takes items of the same time from two queues; both are in order."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._given: list[int] = []
        self._loop = asyncio.new_event_loop()
        self._queues: tuple[asyncio.Queue[int], ...] = (asyncio.Queue(LIMIT), asyncio.Queue(LIMIT))
        self._task = self._loop.create_task(self._pair())

    async def _pair(self) -> None:
        left, right = self._queues
        a, b = await left.get(), await right.get()
        while _END not in (a, b):
            if a == b:
                self.seen.append(a)
            first, second = a, b
            if first <= second:
                a = await left.get()
            if second <= first:
                b = await right.get()

    def feed(self, number: int) -> None:
        self._given.append(number)

    def end(self) -> None:
        self._loop.run_until_complete(self._finish())
        self._loop.close()

    async def _finish(self) -> None:
        for number in (*self._given, _END):
            for each in self._queues:
                await each.put(number)
        await self._task


def chain(nodes: int, packets: int) -> dict[str, float]:
    """Time a chain."""
    return chain_figures(lambda: _Chain(nodes), nodes, packets)


def latency(nodes: int, packets: int) -> dict[str, float]:
    """Time one packet through a chain."""
    return latencies(lambda: _Chain(nodes), packets)


def join(packets: int, policy: str) -> dict[str, float]:  # noqa: ARG001  # pairs by timestamp
    """Time the pairing of two streams."""
    return join_figures(_Join, packets)
