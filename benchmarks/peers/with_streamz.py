"""streamz: pipelines of calls in the emitting thread."""

from __future__ import annotations

from streams import chain_figures, join_figures, latencies
from streamz import Stream


def _same(number: int) -> int:
    return number


class _Chain:
    """A `map` for each node."""

    def __init__(self, nodes: int) -> None:
        self.seen: list[int] = []
        source = last = Stream()
        for _ in range(nodes):
            last = last.map(_same)
        last.sink(self.seen.append)
        self.feed = self.ask = source.emit
        self._held = source, last  # streamz has only weak references to downstream nodes

    def end(self) -> None:
        """Each `emit` returns when it is through."""


class _Join:
    """`zip`, which pairs the n-th with the n-th."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._left, self._right = Stream(), Stream()
        self._held = self._left.zip(self._right).sink(self._notice)

    def _notice(self, pair: tuple[int, int]) -> None:
        self.seen.append(sum(pair) // 2)

    def feed(self, number: int) -> None:
        self._left.emit(number)
        self._right.emit(number)

    def end(self) -> None:
        """Each `emit` returns when it is through."""


def chain(nodes: int, packets: int) -> dict[str, float]:
    """Time a chain."""
    return chain_figures(lambda: _Chain(nodes), nodes, packets)


def latency(nodes: int, packets: int) -> dict[str, float]:
    """Time one packet through a chain."""
    return latencies(lambda: _Chain(nodes), packets)


def join(packets: int, policy: str) -> dict[str, float]:  # noqa: ARG001  # zip knows no times
    """Time the pairing of two streams."""
    return join_figures(_Join, packets)
