"""The floor: only the same calls, in a plain Python loop."""

from __future__ import annotations

from streams import chain_figures, join_figures, latencies


class _Node:
    """Forwards a number."""

    def process(self, number: int) -> int:
        return number


class _Chain:
    """Calls one method after the other."""

    def __init__(self, nodes: int) -> None:
        self.seen: list[int] = []
        self._calls = [_Node().process for _ in range(nodes)]

    def feed(self, number: int) -> None:
        for call in self._calls:
            number = call(number)
        self.seen.append(number)

    ask = feed

    def end(self) -> None:
        """Nothing is under way."""


class _Join:
    """A dict of the numbers that wait for their partner."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._waiting: dict[int, int] = {}

    def feed(self, number: int) -> None:
        self._add(number, number)
        self._add(number, number)

    def _add(self, timestamp: int, number: int) -> None:
        other = self._waiting.pop(timestamp, None)
        if other is None:
            self._waiting[timestamp] = number
        else:
            self.seen.append((number + other) // 2)

    def end(self) -> None:
        """Nothing is under way."""


def chain(nodes: int, packets: int) -> dict[str, float]:
    """Time a chain."""
    return chain_figures(lambda: _Chain(nodes), nodes, packets)


def latency(nodes: int, packets: int) -> dict[str, float]:
    """Time one packet through a chain."""
    return latencies(lambda: _Chain(nodes), packets)


def join(packets: int, policy: str) -> dict[str, float]:  # noqa: ARG001  # pairs by timestamp for any policy
    """Time the pairing of two streams."""
    return join_figures(_Join, packets)
