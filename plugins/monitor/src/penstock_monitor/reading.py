"""`Reading`: what a monitor has seen of a run at one moment, as data.

All of it is str, int, float, bool, None, tuples and dicts of these: `json.dumps(attrs.asdict(reading))`
works.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class NodeReading:
    """One node."""

    #: `name`, `calculator`: canonical name, and registered name of the calculator.
    name: str
    calculator: str
    #: "unopened", "opening", "opened", "closing", "closed" or "failed in open"; or "failed", which is closed
    #: since its error has ended the run.
    state: str
    #: Completed calls of `process` in this run.
    steps: int
    #: In the last second or so.
    steps_per_s: float
    #: Share of the last second or so that its calls took, from 0 to the number of its calls that overlap;
    #: None where the run is not timed.
    busy: float | None
    #: `running`, `ready`: calls under way, and calls that wait for a thread.
    running: int
    ready: int
    #: How long the earliest call under way has lasted, as the monitor saw it; 0.0 for none.
    running_s: float = 0.0
    #: Name of its executor; "" for the default one.
    executor: str = ""
    #: Where it runs, if not in this process: "worker 3 (pid 4711)", "actor 2 (pid 12 on 10.0.0.7)"; else "".
    place: str = ""
    #: Why it is not ready, in words; "" where it is ready, runs or is over.
    waits_for: str = ""
    #: For how many seconds its camera, stream or broker has been lost, as the monitor saw it; None where
    #: none is. A node says so by its counter `source_lost`, which is 1 meanwhile.
    lost_s: float | None = None


@attrs.frozen
class StreamReading:
    """One stream."""

    #: The name of the stream.
    name: str
    #: The node that writes it; "" for a graph input.
    writer: str
    #: The nodes that read it.
    readers: tuple[str, ...]
    #: Written so far in this run.
    packets: int
    #: Packets per second, in the last second or so.
    per_s: float
    #: `queued`, `limit`: packets that wait at its readers, the fullest of them; and the smallest limit of
    #: these queues, None for none.
    queued: int
    limit: int | None
    #: The bytes of the payloads among them that say their size.
    queued_bytes: int
    #: `dropped`, `drops`: packets thrown away, and reason → how many of them.
    dropped: int
    drops: dict[str, int]
    #: The timestamp bound, as a user reads it.
    bound: str
    #: Seconds since its newest packet, as the monitor saw it; None before the first.
    age_s: float | None
    #: `is_input`, `is_output`: whether it is a graph input, or a graph output.
    is_input: bool = False
    is_output: bool = False
    #: As `drops`, by the node that has dropped them, its writer or a reader; "" for a graph input.
    dropped_at: dict[str, dict[str, int]] = attrs.field(factory=dict)


@attrs.frozen
class LatencyReading:
    """How long packets take from where they enter the graph to one of its ends, of sampled timestamps."""

    #: Where they are seen again: a graph output, or a stream that no node or only a sink reads.
    stream: str
    #: Samples so far in this run.
    count: int
    #: `last_ms`, `median_ms`, `p99_ms`, `worst_ms`: of the last 500 samples, in milliseconds; the worst of
    #: all.
    last_ms: float
    median_ms: float
    p99_ms: float
    worst_ms: float


@attrs.frozen
class CulpritReading:
    """What a run that does not move waits for at last."""

    #: `node`, `stream`: what is to be marked; "" where there is none.
    node: str
    stream: str
    #: In one sentence.
    words: str


@attrs.frozen
class StallReading:
    """Why nothing has moved."""

    #: For how many seconds nothing has moved.
    since_s: float
    #: What `graph.why()` says, in lines.
    story: str
    #: What is to be marked.
    culprits: tuple[CulpritReading, ...]


@attrs.frozen
class Reading:
    """A run at one moment."""

    #: Counts the readings of a monitor, from 1.
    number: int
    #: "not started", "running", "paused" or "over".
    state: str
    #: Since the monitor saw the run for the first time; of a run that is over, until it saw that.
    elapsed_s: float
    #: `nodes`, `streams`: in the order of the plan.
    nodes: tuple[NodeReading, ...]
    streams: tuple[StreamReading, ...]
    #: One for each stream at which packets leave the graph.
    latencies: tuple[LatencyReading, ...] = ()
    #: Names of sources and graph inputs that wait for full queues.
    throttled: tuple[str, ...] = ()
    #: What has gone wrong so far.
    errors: tuple[str, ...] = ()
    #: Why, if nothing has moved for a second; else None. A run that is over has none.
    stall: StallReading | None = None
