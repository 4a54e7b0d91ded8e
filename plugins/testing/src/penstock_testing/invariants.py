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
    what = f"stream {stream.name!r}"
    if stream.is_closed != (stream.bound == DONE):
        raise _fault(what, f"closed is {stream.is_closed}, but the bound is {stream.bound}")
    for reader in stream.readers:
        if reader.is_closed:
            if reader.queue:
                raise _fault(what, "a closed reader holds packets")
            continue
        if reader.bound != stream.bound:
            raise _fault(what, f"bound {stream.bound}, but a reader knows {reader.bound}")
        if reader.is_full != (len(reader.queue) >= reader.max_size):
            raise _fault(what, f"full is {reader.is_full} at {len(reader.queue)} of {reader.max_size}")
        if not stream.is_ordered:
            continue
        stamps = [packet.stamp for packet in reader.queue]
        if any(a >= b for a, b in pairwise(stamps)):
            raise _fault(what, f"timestamps do not increase: {stamps}")
        if stamps and stamps[-1] >= reader.bound:
            raise _fault(what, f"the packet at {stamps[-1]} is not below the bound {reader.bound}")
    _check_accounts(stream, what)


def _check_accounts(stream: OutputStream, what: str) -> None:
    written = stream.added - sum(stream.dropped.values())
    for reader in stream.readers:
        found = reader.delivered + sum(reader.dropped.values()) + len(reader.queue)
        if found != written:
            raise _fault(what, f"{written} packets were written, but a reader accounts for {found}")


def _check_node(node: Node) -> None:
    what = f"node {node.name!r}"
    if not 0 <= node.in_flight <= node.max_in_flight:
        raise _fault(what, f"{node.in_flight} steps in flight, allowed {node.max_in_flight}")
    if node.is_touched:
        raise _fault(what, "touched and not looked at")
    if node.awaiting < 0:
        raise _fault(what, f"awaits {node.awaiting} arrivals")
    if node.running() > node.in_flight:
        raise _fault(what, f"{node.running()} steps running, {node.in_flight} in flight")


def _check_counts(schedule: Schedule) -> None:
    observers = {id(o): o for stream in schedule.streams for o in stream.observers}
    claimed = sum(observer.is_claimed for observer in observers.values())
    steps = sum(node.in_flight for node in schedule.nodes)
    if schedule.busy != steps + claimed:
        raise _fault("schedule", f"busy is {schedule.busy}, but {steps} steps and {claimed} observers are")
    ready = sum(len(queue) for queue in schedule.queues)
    prepared = sum(node.in_flight - node.running() for node in schedule.nodes)
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
