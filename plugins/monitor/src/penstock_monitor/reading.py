"""`Reading`: what a monitor has seen of a run at one moment, as data.

All of it is str, int, float, bool, None, tuples and dicts of these: `json.dumps(attrs.asdict(reading))`
works.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class NodeReading:
    """One node.

    Attributes:
        name, calculator: canonical name, and registered name of the calculator.
        state: "unopened", "opening", "opened", "closing", "closed" or "failed in open".
        steps: completed calls of `process` in this run.
        steps_per_s: in the last second or so.
        busy: share of the last second or so that its calls took, from 0 to the number of its calls that
            overlap; None where the run is not timed.
        running, ready: calls under way, and calls that wait for a thread.
        running_s: how long the earliest call under way has lasted, as the monitor saw it; 0.0 for none.
        executor: name of its executor; "" for the default one.
        place: where it runs, if not in this process: "worker 3 (pid 4711)",
            "actor 2 (pid 12 on 10.0.0.7)"; else "".
        waits_for: why it is not ready, in words; "" where it is ready, runs or is over.
    """

    name: str
    calculator: str
    state: str
    steps: int
    steps_per_s: float
    busy: float | None
    running: int
    ready: int
    running_s: float = 0.0
    executor: str = ""
    place: str = ""
    waits_for: str = ""


@attrs.frozen
class StreamReading:
    """One stream.

    Attributes:
        name: of the stream.
        writer: the node that writes it; "" for a graph input.
        readers: the nodes that read it.
        packets: written so far in this run.
        per_s: packets per second, in the last second or so.
        queued, limit: packets that wait at its readers, the fullest of them; and the smallest limit of these
            queues, None for none.
        queued_bytes: of the payloads among them that say their size.
        dropped, drops: packets thrown away, and reason → how many of them.
        bound: the timestamp bound, as a user reads it.
        age_s: seconds since its newest packet, as the monitor saw it; None before the first.
        is_input, is_output: whether it is a graph input, or a graph output.
    """

    name: str
    writer: str
    readers: tuple[str, ...]
    packets: int
    per_s: float
    queued: int
    limit: int | None
    queued_bytes: int
    dropped: int
    drops: dict[str, int]
    bound: str
    age_s: float | None
    is_input: bool = False
    is_output: bool = False


@attrs.frozen
class Latency:
    """How long packets take from where they enter the graph to one of its ends, of sampled timestamps.

    Attributes:
        stream: where they are seen again: a graph output, or a stream that no node or only a sink reads.
        count: samples so far in this run.
        last_ms, median_ms, p99_ms, worst_ms: of the last 500 samples, in milliseconds; the worst of all.
    """

    stream: str
    count: int
    last_ms: float
    median_ms: float
    p99_ms: float
    worst_ms: float


@attrs.frozen
class Culprit:
    """What a run that does not move waits for at last.

    Attributes:
        node, stream: what is to be marked; "" where there is none.
        words: in one sentence.
    """

    node: str
    stream: str
    words: str


@attrs.frozen
class Stall:
    """Why nothing has moved.

    Attributes:
        since_s: for how many seconds nothing has moved.
        story: what `graph.why()` says, in lines.
        culprits: what is to be marked.
    """

    since_s: float
    story: str
    culprits: tuple[Culprit, ...]


@attrs.frozen
class Reading:
    """A run at one moment.

    Attributes:
        number: counts the readings of a monitor, from 1.
        state: "not started", "running", "paused" or "over".
        elapsed_s: since the monitor saw the run for the first time.
        nodes, streams: in the order of the plan.
        latencies: one for each stream at which packets leave the graph.
        throttled: names of sources and graph inputs that wait for full queues.
        errors: what has gone wrong so far.
        stall: why, if nothing has moved for a second; else None. A run that is over has none.
    """

    number: int
    state: str
    elapsed_s: float
    nodes: tuple[NodeReading, ...]
    streams: tuple[StreamReading, ...]
    latencies: tuple[Latency, ...] = ()
    throttled: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    stall: Stall | None = None
