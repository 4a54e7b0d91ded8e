"""Typed keys for what a graph shares among its nodes, so that the core need not know what it is.

A calculator asks in its contract (`cc.use_service(key)`) and gets the object with
`cc.service(key)`; the application sets it with `graph.set_service(key, obj)`, or the key knows how
to make one. A service may have the methods of `RunsNodes` and `Closes`: they are looked up by name.
"""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

S = TypeVar("S")


class ServiceScope(Enum):
    """Who shares a service."""

    #: All nodes of the graph share one object. A node that asks for it stays in the graph's process.
    GRAPH = "graph"
    #: As GRAPH, but a node may work in another process: it gets a copy there, by `pickle`, when it is opened.
    COPY = "copy"
    #: Each process that nodes work in has an object of its own, which the key's `create` makes there.
    PROCESS = "process"


class ServiceKey(Generic[S]):
    """The name and type of a service. Keys are equal when their names are."""

    __slots__ = ("create", "create_beside", "name", "scope")

    def __init__(
        self,
        name: str,
        create: Callable[[], S] | None = None,
        scope: ServiceScope = ServiceScope.GRAPH,
        *,
        create_beside: Callable[[str], S] | None = None,
    ) -> None:
        #: Unique, by convention "<distribution>.<what>".
        self.name = name
        #: Makes the object when a run starts and nobody has set one; None: it must be set.
        self.create = create
        #: In place of `create` where the graph is a file: gets the absolute path of the file's directory.
        self.create_beside = create_beside
        #: Who shares the object.
        self.scope = scope

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServiceKey) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"ServiceKey({self.name!r})"


#: The clock of a graph: returns seconds that only grow. Time-outs of waits read it, and so should
#: sources that keep a pace; a test sets it to a `penstock_testing.ManualClock`.
CLOCK: Final[ServiceKey[Callable[[], float]]] = ServiceKey(
    "penstock.clock", create=lambda: time.monotonic, scope=ServiceScope.PROCESS
)


@runtime_checkable
class RunsNodes(Protocol):
    """A service that lends nodes a thread of its own; see `CalculatorContract.run_on`."""

    def executor_for(self, node: str, place: str = "") -> Any:
        """Return the executor that is to run the node of this name; None: the one that it has anyway.

        Called once for each such node when a run starts. Nodes that get the same object share a
        ready queue, which is called as the executor's `name` says, or else as the service. The
        framework starts the executor with the run and stops it at its end.

        Args:
            node: name of the node.
            place: as the contract gives it. Where it gives none the framework leaves it out, so that
                a service that knows no places does without this argument.
        """


@runtime_checkable
class Closes(Protocol):
    """A service that holds what must be released: threads, devices, files."""

    def close(self) -> object:
        """Release everything.

        Called once, of a service that the graph has made by the key's `create`: when the graph is
        closed (`CalculatorGraph.close`, or the end of a `with` block), and at the latest when it is
        dropped or the interpreter ends. No run uses the service then; a later run makes another. The
        application closes a service that it has set.
        """
