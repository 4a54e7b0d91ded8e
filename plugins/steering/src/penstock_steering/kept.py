"""Calculators with `reset`, which a run leaves to the next one where `graph.reset()` starts or ends it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import ServiceKey
from penstock.errors import CalculatorError, PenstockError
from penstock.lowlevel import CLOSE, show_method
from penstock_steering.awaited_calls import all_of, is_later, run_alone, run_through

if TYPE_CHECKING:
    from penstock.lowlevel import Node
    from penstock_steering.wanted import Wanted


class Kept(NamedTuple):
    """A calculator that a run has left."""

    #: The node of that run.
    node: Node
    #: The object.
    calculator: Any
    #: Its options.
    wanted: Wanted

    def close(self) -> Any:
        """Close it; what it writes is refused, since its run is over. Returns what its `close` returns.

        Raises:
            CalculatorError: `close` failed.
        """
        node = self.node
        step = node.new_step(node)
        show_method(step, CLOSE)
        try:
            return self.calculator.close(step)
        except Exception as error:
            raise CalculatorError(node.name, node.kind, "close", error) from error


class KeptCalculators:
    """The kept calculators of one graph, by node. The graph closes them as it closes its services.

    One that is `lent` to a run that has not opened it yet is still kept: were that run to end before, the
    calculator would be closed here.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self._lent: set[str] = set()
        self._lock: Final = threading.Lock()

    def __contains__(self, node: str) -> bool:
        return node in self._kept

    def keep(self, kept: Kept) -> None:
        """Keep the calculator of a node that closes."""
        with self._lock:
            self._kept[kept.node.name] = kept
            self._lent.discard(kept.node.name)

    def get(self, node: str) -> Kept | None:
        """Return what is kept of a node."""
        return self._kept.get(node)

    def lend(self, node: str) -> Any:
        """Return the calculator of a node for a run that begins."""
        with self._lock:
            self._lent.add(node)
            return self._kept[node].calculator

    def is_lent(self, node: str) -> bool:
        """Return whether a run has taken a node's calculator, and has not opened it yet."""
        return node in self._lent

    def forget(self, node: str) -> None:
        """Take note that a calculator belongs to a run now, or was closed."""
        with self._lock:
            if node in self._lent:
                self._lent.discard(node)
                self._kept.pop(node, None)

    def take(self, node: str) -> Kept | None:
        """Return what is kept of a node, which the caller closes."""
        with self._lock:
            self._lent.discard(node)
            return self._kept.pop(node, None)

    def close(self) -> None:
        """Close all, each once; if one raises, the others are closed too.

        Raises:
            CalculatorError: a `close` failed: the first error, with the others as notes.
        """
        with self._lock:
            kept, self._kept = list(self._kept.values()), {}
            self._lent.clear()
        close_all(kept)

    def close_after(self, error: BaseException) -> None:
        """Close all because of an error; those that fail become notes of it."""
        try:
            self.close()
        except PenstockError as failure:
            error.add_note(str(failure))


def close_all(kept: list[Kept]) -> None:
    """Close calculators that are kept no more.

    Raises:
        CalculatorError: as `KeptCalculators.close`.
    """
    outcome = run_through(all_of([one.close for one in kept]))
    if is_later(outcome):
        run_alone(outcome)


KEPT: Final[ServiceKey[KeptCalculators]] = ServiceKey("penstock-steering.kept")
