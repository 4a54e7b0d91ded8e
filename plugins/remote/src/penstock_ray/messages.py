"""What the driver and an actor say to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from penstock_ray.process_state import Identity
    from penstock_remote.api import Described


class HostSetup(NamedTuple):
    """What an actor is given at its start."""

    #: How the driver calls it.
    name: str
    #: Where the driver looks for modules.
    path: tuple[str, ...]
    #: The log level of the driver's root logger.
    log_level: int


class Ready(NamedTuple):
    """What an actor says of itself."""

    #: The pid of its process.
    pid: int
    #: The address of its host.
    host: str
    #: How Ray calls its host.
    node: str
    #: Which process it is.
    process: Identity


class NodeSetup(NamedTuple):
    """What an actor needs to make a node or a region; it goes with the call of `open`."""

    #: What it is.
    node: Described
    #: "module:attribute" → calculator, of those that the other end cannot import.
    codes: dict[str, Any]
    #: Numbers of the outputs whose payloads stay on the cluster.
    by_reference: tuple[int, ...]


class Request(NamedTuple):
    """A batch of calls of one node."""

    #: Which node.
    key: int
    #: A number for each call, by which it can be cancelled.
    numbers: list[int]
    #: Each as a tuple, see `penstock_remote.calls.Call`.
    calls: list[tuple[Any, ...]]
    #: With the first call.
    setup: NodeSetup | None
    #: Keys of nodes that nobody calls any more.
    forgotten: list[int]
    #: How many arguments of the message its calls refer to; they come last.
    references: int


class Reply(NamedTuple):
    """What a batch of calls did."""

    #: For each call its `Answer`, packed, which is a pair; or its error as data, which has three fields.
    answers: list[tuple[Any, ...]]
    #: Records that were logged since the last reply.
    logs: list[dict[str, Any]]
    #: How many more there were.
    dropped: int
