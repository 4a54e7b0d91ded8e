"""What is measured of a graph: the names, kinds, units and labels that Prometheus and OpenTelemetry get.

Each measure has one name for each of the two, after their conventions: `penstock_busy_seconds_total` has its
unit in its name, `penstock.node.busy` beside it. Every sample has the label `graph` besides those here.
"""

from __future__ import annotations

import enum
from typing import Final, TypeAlias

import attrs


class Kind(enum.Enum):
    """What a measure's numbers are.

    COUNTER only grows, from run to run of a graph too; GAUGE is what there is at the moment.
    """

    COUNTER = "counter"
    GAUGE = "gauge"


@attrs.frozen(eq=False)
class Measure:
    """One measure; those below are all that there are, so that one is only equal to itself."""

    #: For Prometheus, without "penstock_", and without the "_total" of a counter.
    name: str
    #: For OpenTelemetry, without "penstock.".
    otel: str
    #: The kind of its numbers.
    kind: Kind
    #: Besides "graph". OpenTelemetry has them as attributes `penstock.<label>`.
    labels: tuple[str, ...]
    #: As OpenTelemetry writes it, after UCUM: "s", "By", or what is counted: "{packet}".
    unit: str
    #: What it is, in one sentence.
    text: str


#: A measure and the values of its labels, without the graph's name.
Series: TypeAlias = tuple[Measure, tuple[str, ...]]

PACKETS: Final = Measure(
    "packets", "packets", Kind.COUNTER, ("stream",), "{packet}", "Packets written to a stream."
)
DROPPED: Final = Measure(
    "dropped",
    "packets.dropped",
    Kind.COUNTER,
    ("stream", "reason"),
    "{packet}",
    "Packets of a stream that were thrown away, at each reader, by reason.",
)
QUEUE_PACKETS: Final = Measure(
    "queue_packets",
    "queue.packets",
    Kind.GAUGE,
    ("stream",),
    "{packet}",
    "Packets of a stream that wait at the reader with the longest queue.",
)
QUEUE_BYTES: Final = Measure(
    "queue_bytes", "queue.size", Kind.GAUGE, ("stream",), "By", "Bytes of the packets that wait there."
)
QUEUE_LIMIT: Final = Measure(
    "queue_limit",
    "queue.limit",
    Kind.GAUGE,
    ("stream",),
    "{packet}",
    "The smallest limit of a stream's queues; absent for a stream without limit.",
)
STEPS: Final = Measure(
    "steps", "node.steps", Kind.COUNTER, ("node",), "{step}", "Completed calls of a node's process()."
)
BUSY: Final = Measure(
    "busy_seconds",
    "node.busy",
    Kind.COUNTER,
    ("node",),
    "s",
    "Seconds that a node spent in process(); only of runs that are timed.",
)
FAILURES: Final = Measure(
    "failures",
    "node.failures",
    Kind.COUNTER,
    ("node",),
    "{failure}",
    "Failed calls that a node's failure policy has dealt with.",
)
SKIPPED: Final = Measure(
    "skipped",
    "node.skipped",
    Kind.COUNTER,
    ("node",),
    "{input_set}",
    "Input sets that a node's failure policy has skipped.",
)
RESTARTS: Final = Measure(
    "restarts",
    "node.restarts",
    Kind.COUNTER,
    ("node",),
    "{restart}",
    "Calculators, with their worker process if it died, that a node's failure policy has replaced.",
)
COUNTER: Final = Measure(
    "counter",
    "counter",
    Kind.GAUGE,
    ("counter",),
    "1",
    "A counter of a calculator, named after node and counter; it may fall.",
)
RUNNING: Final = Measure(
    "running", "running", Kind.GAUGE, (), "1", "1 while a run of the graph is under way, else 0."
)
RUNS: Final = Measure("runs", "runs", Kind.COUNTER, (), "{run}", "Runs of the graph that have begun.")
ERRORS: Final = Measure("errors", "errors", Kind.COUNTER, (), "{error}", "Errors of the graph's runs.")
STALLED: Final = Measure(
    "stalled_seconds",
    "stalled",
    Kind.GAUGE,
    (),
    "s",
    "For how long nothing in the run has moved; 0 within the first second, and without a run.",
)

#: In the order in which they are written.
MEASURES: Final = (
    PACKETS,
    DROPPED,
    QUEUE_PACKETS,
    QUEUE_BYTES,
    QUEUE_LIMIT,
    STEPS,
    BUSY,
    FAILURES,
    SKIPPED,
    RESTARTS,
    COUNTER,
    RUNNING,
    RUNS,
    ERRORS,
    STALLED,
)

#: Upper edges of the histogram of latencies, in seconds: a frame at 1000 to 0.1 per second, in steps of
#: about 2. OpenTelemetry's convention for durations (0.005 to 10) has nothing below 5 ms.
LATENCY_EDGES_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LATENCY_TEXT: Final = "Seconds from when a packet enters the graph until it comes out, of sampled timestamps."
