"""What the driver and an actor say to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from penstock_remote.api import Described


class HostSetup(NamedTuple):
    """What an actor is given at its start.

    Attributes:
        name: how the driver calls it.
        path: where the driver looks for modules.
        log_level: of the driver's root logger.
    """

    name: str
    path: tuple[str, ...]
    log_level: int


class Ready(NamedTuple):
    """What an actor says of itself.

    Attributes:
        pid: of its process.
        host: the address of its host.
    """

    pid: int
    host: str


class NodeSetup(NamedTuple):
    """What an actor needs to make a node or a region; it goes with the call of `open`.

    Attributes:
        node: what it is.
        codes: "module:attribute" → calculator, of those that the other end cannot import.
        by_reference: numbers of the outputs whose payloads stay on the cluster.
    """

    node: Described
    codes: dict[str, Any]
    by_reference: tuple[int, ...]


class Request(NamedTuple):
    """A batch of calls of one node.

    Attributes:
        key: which node.
        numbers: a number for each call, by which it can be cancelled.
        calls: each as a tuple, see `penstock_remote.calls.Call`.
        setup: with the first call.
        forgotten: keys of nodes that nobody calls any more.
        references: how many arguments of the message its calls refer to; they come last.
    """

    key: int
    numbers: list[int]
    calls: list[tuple[Any, ...]]
    setup: NodeSetup | None
    forgotten: list[int]
    references: int


class Reply(NamedTuple):
    """What a batch of calls did.

    Attributes:
        answers: for each call its `Answer`, packed, which is a pair; or its error as data, which has three
            fields.
        logs: records that were logged since the last reply.
        dropped: how many more there were.
    """

    answers: list[tuple[Any, ...]]
    logs: list[dict[str, Any]]
    dropped: int
