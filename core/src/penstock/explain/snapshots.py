"""Where a run stands, as data. Reads the engine, changes nothing.

Everything here is called under the run's lock, except `weighed_snapshot`: reading a payload's `nbytes`
runs code of its author. All of a snapshot is str, int, float, bool, None, tuples and dicts of these:
`json.dumps(attrs.asdict(snapshot))` works.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import attrs

from penstock.engine.node import CLOSED, FAILED, OPENED, STATES, UNOPENED
from penstock.engine.run_state import RUN_STATES
from penstock.engine.stand_in import StandIn
from penstock.engine.stream import UNLIMITED, add_dropped
from penstock.explain.culprits import bound_of
from penstock.explain.waits import StreamWait
from penstock.timestamp import show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.engine.node import Node
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import InputStream, OutputStream
    from penstock.explain.calls import Call


@attrs.frozen
class NodeState:
    """One node at one moment."""

    #: `name`, `calculator`: canonical name, and registered name of the calculator.
    name: str
    calculator: str
    #: "unopened", "opening", "opened", "closing", "closed" or "failed in open".
    state: str
    #: `running`, `ready`: calls under way, and calls that wait for a thread.
    running: int
    ready: int
    #: Completed calls of `process`.
    steps: int
    #: Seconds spent in `process`; 0.0 unless timing is on, or the node works in another process.
    busy_s: float
    #: Why it is not ready, in words; "" where it is ready, runs or is over.
    waits_for: str
    #: The streams among that, in the order of the node's inputs.
    waits_on: tuple[StreamWait, ...] = ()
    #: Name of the executor that runs it; "" for the default one.
    executor: str = ""
    #: The calls under way, earliest first, and where each stands.
    calls: tuple[Call, ...] = ()
    #: Where it works, as its executor says it: "worker 3 (pid 4711)"; "" for this process.
    place: str = ""
    #: How many of `steps` have ended before earlier calls: their outputs wait for the earlier calls.
    held: int = 0


@attrs.frozen
class StreamState:
    """One stream at one moment."""

    #: The name of the stream.
    name: str
    #: Packets written so far in this run.
    added: int
    #: Packets waiting at its readers, the fullest of them.
    queued: int
    #: Their payloads' `nbytes`, else `sys.getsizeof`: without what lists and objects refer to.
    queued_bytes: int
    #: Packets that were thrown away, by the producer or a reader.
    dropped: int
    #: The smallest limit of its readers' queues; None for none.
    limit: int | None
    #: The timestamp bound, as it is written to a user.
    bound: str
    #: Reason → how many of the dropped.
    drops: dict[str, int] = attrs.field(factory=dict)
    #: The same by the node that dropped them, its writer or a reader; "" for a graph input.
    dropped_at: dict[str, dict[str, int]] = attrs.field(factory=dict)


@attrs.frozen
class ExecutorState:
    """One executor, as it serves this run, at one moment."""

    #: In the graph; "" for the default one.
    name: str
    #: Name of its class, or of the pool's that the application handed in.
    kind: str
    #: How many it runs.
    nodes: int
    #: How many it has for this run now; 0 where waiting application threads do the work, None where it does
    #: not say.
    threads: int | None
    #: Calls under way, those that await or were handed elsewhere included.
    running: int
    #: Calls that wait for a thread.
    ready: int
    #: Threads that will look at the queue of ready calls soon by themselves.
    attentive: int


@attrs.frozen
class Snapshot:
    """A run at one moment."""

    #: "not started", "running", "paused" or "over".
    state: str
    #: `nodes`, `streams`: in the order of the plan.
    nodes: tuple[NodeState, ...]
    streams: tuple[StreamState, ...]
    #: Names of sources and graph inputs that wait for full queues.
    throttled: tuple[str, ...]
    #: What has gone wrong so far.
    errors: tuple[str, ...]
    #: In the order of the graph, then those of services.
    executors: tuple[ExecutorState, ...] = ()


def snapshot(schedule: Schedule) -> tuple[Snapshot, list[list[Packet]]]:
    """Return where a run stands, and the packets that wait on each stream.

    It lacks what the engine does not know, or what must not be read under the lock: bytes, executors,
    and where calls stand.
    """
    longest = [_longest(stream) for stream in schedule.streams]
    taken = Snapshot(
        state=RUN_STATES[schedule.state],
        nodes=tuple([_node_state(schedule, node) for node in schedule.nodes]),
        streams=tuple([_stream_state(*pair) for pair in zip(schedule.streams, longest, strict=True)]),
        throttled=_throttled(schedule),
        errors=tuple(str(error) for error in schedule.errors),
    )
    return taken, [list(reader.queue) if reader is not None else [] for reader in longest]


def weighed_snapshot(taken: Snapshot, waiting: list[list[Packet]]) -> Snapshot:
    """Return a snapshot with the bytes of what waits. Call it without the lock."""
    if not any(waiting):
        return taken
    streams = (
        attrs.evolve(stream, queued_bytes=sum(payload_bytes(p.value) for p in packets)) if packets else stream
        for stream, packets in zip(taken.streams, waiting, strict=True)
    )
    return attrs.evolve(taken, streams=tuple(streams))


def snapshot_with_calls(taken: Snapshot, calls: Iterable[Call]) -> Snapshot:
    """Return a snapshot with the calls under way at their nodes."""
    by_node: dict[str, list[Call]] = {}
    for call in calls:
        by_node.setdefault(call.node, []).append(call)
    if not by_node:
        return taken
    nodes = (attrs.evolve(n, calls=tuple(by_node[n.name])) if n.name in by_node else n for n in taken.nodes)
    return attrs.evolve(taken, nodes=tuple(nodes))


def _waits(schedule: Schedule, node: Node) -> tuple[str, tuple[StreamWait, ...]]:
    """Return what an idle node waits for, in words, and the streams among that, as data."""
    if node.state == UNOPENED:
        return _waits_to_open(schedule, node), ()
    if node.state != OPENED:
        return "nothing", ()
    if node.is_source:
        return _waits_for_turn(schedule, node), ()
    if not node.inputs:
        return "the end of the run", ()
    head, waits = _unsettled(node)
    needed = "" if head is None else show(head)
    on = tuple([StreamWait(stream.name, show(stream.bound), needed) for stream in waits])
    names = ", ".join([f"{stream.name!r} {bound_of(stream)}" for stream in waits])
    if head is None:
        return f"packets on {names}", on
    return f"stream {names} to settle {needed}" if waits else "what its policy asks for", on


def _waits_for_turn(schedule: Schedule, source: Node) -> str:
    if schedule.flow.is_throttled(source.id):
        full = [q.name for q in schedule.flow.full.values() if source.id in q.throttles]
        return f"room in the full queue of stream {full[0]!r}" if full else "room in a full queue"
    return "its turn" if source.is_active else "sources of a lower layer"


def _unsettled(node: Node) -> tuple[int | None, list[InputStream]]:
    """Return the earliest waiting packet of an opened node, and the streams that are not settled there.

    Without any packet: None, and all streams that may still bring one.
    """
    heads = [stream.queue[0].stamp for stream in node.inputs if stream.queue]
    empty = [stream for stream in node.inputs if not stream.queue]
    if not heads:
        return None, empty
    head = min(heads)
    return head, [stream for stream in empty if stream.bound <= head]


def _waits_to_open(schedule: Schedule, node: Node) -> str:
    missing = [
        name
        for name, readers in schedule.side_readers.items()
        if node in readers and name not in schedule.side_packets
    ]
    if missing:
        return f"side packet {missing[0]!r}"
    above = [s.name for s in node.inputs if not s.is_back_edge]
    return f"the nodes that write {', '.join(map(repr, above))} to open" if above else "its turn to open"


def _node_state(schedule: Schedule, node: Node) -> NodeState:
    is_idle = not node.in_flight and node.state not in (CLOSED, FAILED)
    words, waits_on = _waits(schedule, node) if is_idle else ("", ())
    running = node.running()
    return NodeState(
        name=node.name,
        calculator=node.kind,
        state=STATES[node.state],
        running=running,
        ready=node.in_flight - running,
        steps=node.steps,
        busy_s=node.busy_ns / 1e9,
        waits_for=words,
        waits_on=waits_on,
        executor=node.queue.name,
        place=calculator.works_at() if isinstance(calculator := node.calculator, StandIn) else "",
        held=sum([step.is_done for step in node.in_order or ()]),
    )


def _stream_state(stream: OutputStream, longest: InputStream | None) -> StreamState:
    limit = min([reader.max_size for reader in stream.readers], default=None)
    drops = stream.dropped.copy()
    places = {_name(stream.node): stream.dropped.copy()} if drops else {}
    for reader in stream.readers:
        if not reader.dropped:
            continue
        place = places.setdefault(_name(reader.node), {})
        for reason, count in reader.dropped.items():
            add_dropped(drops, reason, count)
            add_dropped(place, reason, count)
    return StreamState(
        name=stream.name,
        added=stream.added,
        queued=0 if longest is None else len(longest.queue),
        queued_bytes=0,
        dropped=sum(drops.values()),
        limit=None if limit is None or limit >= UNLIMITED else limit,
        bound=show(stream.bound),
        drops=drops,
        dropped_at=places,
    )


def _name(node: Node | None) -> str:
    return "" if node is None else node.name


def _longest(stream: OutputStream) -> InputStream | None:
    if len(stream.readers) == 1:
        return stream.readers[0]
    return max(stream.readers, key=lambda reader: len(reader.queue), default=None)


def payload_bytes(payload: object) -> int:
    """Return a payload's `nbytes`, which arrays have, else its `sys.getsizeof`; both may be code of users."""
    try:
        size = getattr(payload, "nbytes", None)
        return size if isinstance(size, int) else sys.getsizeof(payload)
    except Exception:  # noqa: BLE001  # a payload that cannot say its size must not hide where the run stands
        return 0


def _throttled(schedule: Schedule) -> tuple[str, ...]:
    return tuple(
        schedule.nodes[source].name if source >= 0 else schedule.streams[~source].name
        for source in schedule.flow.throttled()
    )
