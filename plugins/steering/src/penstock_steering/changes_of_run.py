"""`Change`: one change of a node, as data; `Changes`, those of a run; and how one is made again."""

from __future__ import annotations

import threading
from base64 import b64decode, b64encode
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock import ServiceKey, Timestamp
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.lowlevel import DONE, UNSTARTED
from penstock.runs import ServiceScope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock import CalculatorGraph


class ChangeKind(StrEnum):
    """What was changed."""

    #: Options; the calculator's `options_changed` was called.
    SET_OPTIONS = "set options"
    #: The calculator; another object, with options of its own, took over.
    SWAP = "swap"


@attrs.frozen
class Change:
    """One change of a node, which `penstock_steering.apply_change` makes again."""

    #: Its name.
    node: str
    #: What was changed.
    kind: ChangeKind
    #: The input timestamp from which it counts, for a source the bound of its outputs; UNSTARTED: from the
    #: start of the run.
    at: Timestamp
    #: Registered name of the calculator from then on.
    calculator: str
    #: All options of the node from then on: a serialized `CalculatorGraphConfig.Node` in which only
    #: `calculator`, `options` and `node_options` are set.
    options: bytes = attrs.field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the change as JSON holds it; `from_dict` is the way back."""
        return {
            "node": self.node,
            "kind": str(self.kind),
            "at": int(self.at),
            "calculator": self.calculator,
            "options": b64encode(self.options).decode(),
        }

    @classmethod
    def from_dict(cls, given: Any) -> Change:
        """Return the change that `as_dict` has written.

        Raises:
            InvalidArgumentError: `given` is something else.
        """
        try:
            at = int(given["at"])
            if not UNSTARTED <= at < DONE:
                raise ValueError(f"at {at} is no timestamp for a change of a run")  # noqa: TRY301
            return cls(
                str(given["node"]),
                ChangeKind(given["kind"]),
                Timestamp.of(at),
                str(given["calculator"]),
                b64decode(given["options"], validate=True),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"{given!r} is no change of a node: {type(error).__name__}: {error}; it must be what "
                "Change.as_dict() returns"
            ) from error


class Changes:
    """The changes of one run of a graph: of the run under way, or the last. May be read from any thread."""

    def __init__(self) -> None:
        self._made: list[Change] = []
        self._lock: Final = threading.Lock()
        self._is_sealed = False

    def __len__(self) -> int:
        return len(self._made)

    @property
    def made(self) -> tuple[Change, ...]:
        """The changes in the order of the calls; those that count from the start of the run come first."""
        return tuple(self._made)

    def begin(self, first: Iterable[Change]) -> None:
        """Forget the changes of the last run. For the framework."""
        with self._lock:
            self._made = list(first)
            self._is_sealed = False

    def make(self, node: str, change: Callable[[], Change]) -> Change:
        """Make a change and note it, as one. For the framework; `change` runs under a lock.

        Raises:
            FailedPreconditionError: the list is sealed; nothing has changed.
        """
        with self._lock:
            if self._is_sealed:
                raise FailedPreconditionError(
                    f"the list of changes of this run is complete, since its recording has ended with the "
                    f"recorded streams: node {node!r} cannot change any more; change it before the next run",
                    node=node,
                )
            made = change()
            self._made.append(made)
            return made

    def seal(self) -> None:
        """Let no further change be made in this run, so that a list which was kept is whole."""
        with self._lock:
            self._is_sealed = True


#: What is changed in the run, for calculators that ask for it, such as one that records. In another process
#: it stays empty.
CHANGES: Final[ServiceKey[Changes]] = ServiceKey(
    "penstock-steering.changes", create=Changes, scope=ServiceScope.PROCESS
)


def changes(graph: CalculatorGraph) -> tuple[Change, ...]:
    """Return the changes of the run under way, or of the last one.

    Those that count from the start of the run come first, the others follow in the order of the calls; also
    those whose time has not come. `apply_change` makes them again.
    """
    log = graph.get_service(CHANGES)
    return () if log is None else log.made


def apply_change(graph: CalculatorGraph, change: Change) -> Timestamp:
    """Make a change of another run again, before a run; raises as `set_options` and `swap`."""
    at = None if change.at == UNSTARTED else int(change.at)
    if change.kind is ChangeKind.SET_OPTIONS:
        return graph.set_options(change.node, change.options, at=at)
    return graph.swap(change.node, change.options, at=at)
