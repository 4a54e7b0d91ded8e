"""Counters of a graph: named integers that calculators increment and applications read.

They belong to the graph and go on counting from run to run. Any thread may read them. A calculator
increments its counters in its own methods only; if these may overlap (`max_in_flight`), it gets
counters with a lock.
"""

from __future__ import annotations

import threading
from typing import Final


class Counter:
    """A number that one thread at a time may add to."""

    __slots__ = ("_value", "name")

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self._value = 0

    def increment(self) -> None:
        """Add 1."""
        self._value += 1

    def increment_by(self, amount: int) -> None:
        """Add a whole number, which may be negative."""
        self._value += amount

    def get(self) -> int:
        """Return the present value."""
        return self._value

    def __repr__(self) -> str:
        return f"<Counter {self.name} {self._value}>"


class SharedCounter(Counter):
    """A counter that several threads may increment at once. Costs four times as much."""

    __slots__ = ("_lock",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._lock: Final = threading.Lock()

    def increment(self) -> None:
        """Add 1."""
        self.increment_by(1)

    def increment_by(self, amount: int) -> None:
        """Add a whole number, which may be negative."""
        with self._lock:
            self._value += amount


class Counters:
    """All counters of a graph, made when they are first asked for."""

    def __init__(self) -> None:
        self._by_name: dict[str, Counter] = {}

    def get(self, name: str, *, is_shared: bool = True) -> Counter:
        """Return the counter of this name; a new one has a lock if `is_shared`."""
        counter = self._by_name.get(name)
        if counter is not None:
            return counter
        return self._by_name.setdefault(name, SharedCounter(name) if is_shared else Counter(name))

    def values(self) -> dict[str, int]:
        """Return name → value of all counters."""
        return {name: counter.get() for name, counter in sorted(self._by_name.items())}
