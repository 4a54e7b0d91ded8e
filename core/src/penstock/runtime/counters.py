"""Counters of a graph: named integers that calculators raise and applications read.

They live with the graph and go on counting from run to run. Any thread may use them.
"""

from __future__ import annotations

import threading
from typing import Final


class Counter:
    """A number that only changes by what is added to it."""

    __slots__ = ("_lock", "_value", "name")

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self._lock: Final = threading.Lock()
        self._value = 0

    def increment(self) -> None:
        """Add 1."""
        lock = self._lock
        lock.acquire()  # `with` costs twice as much, and += of an int cannot fail
        self._value += 1
        lock.release()

    def increment_by(self, amount: int) -> None:
        """Add a whole number, which may be negative."""
        with self._lock:
            self._value += amount

    def get(self) -> int:
        """Return the present value."""
        return self._value

    def __repr__(self) -> str:
        return f"<Counter {self.name} {self._value}>"


class Counters:
    """All counters of a graph, made when they are first asked for."""

    def __init__(self) -> None:
        self._by_name: dict[str, Counter] = {}

    def get(self, name: str) -> Counter:
        """Return the counter of this name."""
        counter = self._by_name.get(name)
        return counter if counter is not None else self._by_name.setdefault(name, Counter(name))

    def values(self) -> dict[str, int]:
        """Return name → value of all counters."""
        return {name: counter.get() for name, counter in sorted(self._by_name.items())}
