"""reactivex: observables in the emitting thread, without synchronization."""

from __future__ import annotations

from reactivex import Subject, operators
from reactivex import zip as zipped
from streams import chain_figures, join_figures, latencies


def _same(number: int) -> int:
    return number


class _Chain:
    """A `map` for each node."""

    def __init__(self, nodes: int) -> None:
        self.seen: list[int] = []
        source = Subject()
        self._subscription = source.pipe(*[operators.map(_same) for _ in range(nodes)]).subscribe(
            self.seen.append
        )
        self.feed = self.ask = source.on_next

    def end(self) -> None:
        self._subscription.dispose()


class _Join:
    """`zip`, which pairs the n-th with the n-th."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._left, self._right = Subject(), Subject()
        self._subscription = zipped(self._left, self._right).subscribe(self._notice)

    def _notice(self, pair: tuple[int, int]) -> None:
        self.seen.append(sum(pair) // 2)

    def feed(self, number: int) -> None:
        self._left.on_next(number)
        self._right.on_next(number)

    def end(self) -> None:
        self._subscription.dispose()


def chain(nodes: int, packets: int) -> dict[str, float]:
    """Time a chain."""
    return chain_figures(lambda: _Chain(nodes), nodes, packets)


def latency(nodes: int, packets: int) -> dict[str, float]:
    """Time one packet through a chain."""
    return latencies(lambda: _Chain(nodes), packets)


def join(packets: int, policy: str) -> dict[str, float]:  # noqa: ARG001  # zip knows no times
    """Time the pairing of two streams."""
    return join_figures(_Join, packets)
