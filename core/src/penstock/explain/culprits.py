"""What the search for culprits reads of the parts of a run, and the links that it finds there.

Invariant: nothing here calls code of users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.methods import METHODS, PROCESS
from penstock.explain.waits import WaitKind, WaitLink
from penstock.timestamp import DONE, MIN, PRESTREAM, Timestamp, previous_allowed, show

if TYPE_CHECKING:
    from penstock.engine.input_stream_handler import InputStreamHandler
    from penstock.engine.node import Node
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import InputStream, OutputStream, Queue, StreamObserver


def terms(policy: InputStreamHandler) -> str:
    """Return what the words for a wait say of a policy's batches and patience."""
    batch = f"; its policy collects batches of {policy.batch_size}" if policy.batch_size > 1 else ""
    patience = "" if policy.patience_s is None else f", for at most {policy.patience_s:g} s"
    return batch + patience


def processed_below(node: Node) -> int:
    """Return the bound below which an idle node has seen everything."""
    below = min(stream.head_or_bound() for stream in node.inputs)
    # a batch has taken input sets out of the queues that process has not seen
    return min(below, node.policy.waits_at) if node.policy.batch_size > 1 else below


def bound_of(stream: OutputStream | InputStream, word: str = "bound") -> str:
    """Return a stream's bound for a message, in brackets and after `word`."""
    return "(no packet yet)" if stream.bound == PRESTREAM else f"({word} {show(stream.bound)})"


def forgotten(stream: OutputStream) -> WaitLink:
    """Return the link for the writer of a stream that left the stream's bound behind."""
    node = stream.node
    assert node is not None  # graph inputs have no writer to forget  # noqa: S101
    done = previous_allowed(min(processed_below(node), DONE))
    beyond = f"nothing beyond {show(stream.bound - 1)}" if stream.bound > MIN else "nothing at all"
    return WaitLink(
        WaitKind.FORGOTTEN_BOUND,
        f"node {node.name!r} ({node.kind}) has processed all up to {show(done)} but promises {beyond} on "
        f"stream {stream.name!r}; let it write a packet, call set_next_timestamp_bound() of that output, or "
        "declare cc.set_timestamp_offset(0) in its contract",
        node.name,
        stream.name,
        Timestamp.of(done),
        Timestamp.of(stream.bound),
    )


def running(node: Node) -> WaitLink:
    """Return the link for a node whose call has not come back; the earliest call."""
    step = node.in_order[0] if node.in_order else node.step  # calls begin in the order of their inputs
    at = f" at {show(step.stamp)}" if step.method == PROCESS and node.inputs else ""
    return WaitLink(
        WaitKind.RUNNING,
        f"node {node.name!r} is running ({node.running()} calls): {METHODS[step.method]}(){at} has "
        "not come back",
        node.name,
        timestamp=Timestamp.of(step.stamp) if at else None,
    )


def being_called(observer: StreamObserver) -> WaitLink:
    """Return the link for an observer that has not seen everything."""
    return WaitLink(
        WaitKind.OBSERVER,
        f"an observer of stream {observer.name!r} has not come back; {len(observer.queue)} packets or bounds "
        "wait for it",
        stream=observer.name,
    )


def full_queues(schedule: Schedule) -> dict[int, Queue]:
    """Return for each throttled source one queue that it waits for; pollers first, as no run drains them."""
    left = set(schedule.flow.throttled())
    found: dict[int, Queue] = {}
    for queue in sorted(schedule.flow.full.values(), key=lambda one: one.node is not None):
        if not left:
            break
        now = left & queue.throttles
        left -= now
        found.update(dict.fromkeys(now, queue))
    return found


def missing_side_packets(schedule: Schedule) -> dict[int, str]:
    """Return for each node one side packet that it waits for."""
    return {
        node.id: name
        for name, readers in schedule.side_readers.items()
        if name not in schedule.side_packets
        for node in readers
    }
