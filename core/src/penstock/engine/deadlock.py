"""The errors of runs that cannot go on: of sources that never start, and of full queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import PenstockError, StatusCode, UnavailableError

if TYPE_CHECKING:
    from penstock.engine.node import Node
    from penstock.engine.stream import Queue


def layer_deadlock(waiting: Node, blocker: Node) -> PenstockError:
    """Return the error of sources that wait for a lower layer which can never start."""
    return PenstockError(
        f"deadlock: source node {waiting.name!r} in layer {waiting.layer} cannot start, because source node "
        f"{blocker.name!r} in the lower layer {blocker.layer} is not open: it waits for a side packet that "
        "never came",
        code=StatusCode.UNKNOWN,
        node=waiting.name,
    )


def queue_deadlock(queue: Queue) -> UnavailableError:
    """Return the error of a graph in which everything waits because a queue is full."""
    node = queue.node.name if queue.node is not None else "?"
    return UnavailableError(
        "deadlock: all nodes are idle while sources wait for the full input stream "
        f"{queue.name!r} of node {node!r} ({len(queue.queue)} packets, limit {queue.max_size}); raise "
        "max_queue_size, or let the limit grow by leaving report_deadlock unset",
        node=node,
        stream=queue.name,
    )
