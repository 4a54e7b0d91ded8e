"""What must hold of a schedule between any two events. Tests check it after each."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.lowlevel import DONE

if TYPE_CHECKING:
    from penstock.lowlevel import Node
    from penstock.runs import OutputStream, Schedule


def check_invariants(schedule: Schedule) -> None:
    """Check what holds between any two events. Called with the run's lock held, where it has threads.

    Raises:
        InternalError: an invariant does not hold; names the node or stream.
    """
    for stream in schedule.streams:
        _check_stream(stream)
    for node in schedule.nodes:
        _check_node(node)
    _check_counts(schedule)
    _check_flow(schedule)


def _fault(what: str, message: str) -> InternalError:
    return InternalError(f"invariant broken: {what}: {message}")


def _check_stream(stream: OutputStream) -> None:
    bound = stream.bound
    if stream.is_closed != (bound == DONE):
        raise _stream_fault(stream, f"closed is {stream.is_closed}, but the bound is {bound}")
    written = stream.added - sum(stream.dropped.values())
    for reader in stream.readers:
        queue = reader.queue
        if reader.is_closed:
            if queue:
                raise _stream_fault(stream, "a closed reader holds packets")
        else:
            if reader.bound != bound:
                raise _stream_fault(stream, f"bound {bound}, but a reader knows {reader.bound}")
            if reader.is_full != (len(queue) >= reader.max_size):
                message = f"full is {reader.is_full} at {len(queue)} of {reader.max_size}"
                raise _stream_fault(stream, message)
            if queue and stream.is_ordered:
                _check_order(stream, [packet.stamp for packet in queue])
        found = reader.delivered + sum(reader.dropped.values()) + len(queue)
        if found != written:
            message = f"{written} packets were written, but a reader accounts for {found}"
            raise _stream_fault(stream, message)


def _check_order(stream: OutputStream, stamps: list[int]) -> None:
    if any(a >= b for a, b in pairwise(stamps)):
        raise _stream_fault(stream, f"timestamps do not increase: {stamps}")
    if stamps[-1] >= stream.bound:
        raise _stream_fault(stream, f"the packet at {stamps[-1]} is not below the bound {stream.bound}")


def _stream_fault(stream: OutputStream, message: str) -> InternalError:
    return _fault(f"stream {stream.name!r}", message)


def _check_node(node: Node) -> None:
    in_flight = node.in_flight
    if not 0 <= in_flight <= node.max_in_flight:
        raise _node_fault(node, f"{in_flight} steps in flight, allowed {node.max_in_flight}")
    if node.is_touched:
        raise _node_fault(node, "touched and not looked at")
    if node.awaiting < 0:
        raise _node_fault(node, f"awaits {node.awaiting} arrivals")
    if in_flight != node.max_in_flight and (running := node.running()) > in_flight:
        raise _node_fault(node, f"{running} steps running, {in_flight} in flight")


def _node_fault(node: Node, message: str) -> InternalError:
    return _fault(f"node {node.name!r}", message)


def _check_counts(schedule: Schedule) -> None:
    observers = {id(o): o for stream in schedule.streams if stream.observers for o in stream.observers}
    claimed = sum(observer.is_claimed for observer in observers.values())
    steps = prepared = 0
    for node in schedule.nodes:
        if node.in_flight:
            steps += node.in_flight
            prepared += node.in_flight - node.running()
    if schedule.busy != steps + claimed:
        raise _fault("schedule", f"busy is {schedule.busy}, but {steps} steps and {claimed} observers are")
    ready = sum(len(queue) for queue in schedule.queues)
    if ready != prepared:
        raise _fault("schedule", f"{ready} keys in ready queues for {prepared} prepared steps")


def _check_flow(schedule: Schedule) -> None:
    flow = schedule.flow
    waits: set[int] = set()
    for queue in flow.full.values():
        if not queue.is_full:
            raise _fault(f"queue {queue.name!r}", "listed as full, but it is not")
        waits |= queue.throttles
    if sorted(waits) != flow.throttled():
        raise _fault("flow", f"{sorted(waits)} should wait, but {flow.throttled()} do")
