"""`Tracer`, the interface; the records that it gets; and `OwnTrace`, for graphs that ask for a trace.

All times are those of `time.perf_counter_ns()`: nanoseconds that only grow, the same on all threads.
A packet is reported as a *mark*: its stream, its timestamp, and a key that is the same where it is written
and where it is read. The key is made from the address of the payload, which is not kept: another packet
may have the same key when the payload is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import attrs

if TYPE_CHECKING:
    import os

#: (name of the stream, timestamp, key).
Mark: TypeAlias = tuple[str, int, int]


@attrs.frozen(eq=False)
class TracedRun:
    """One run of a graph."""

    #: From 1; no two runs of a process have the same.
    number: int
    #: Name of the graph: its `type`, or its file's name, or "graph".
    graph: str
    #: When it began.
    started_ns: int


@attrs.define(eq=False)
class TracedStep:
    """One call of `open`, `process` or `close` of a node, or of an observer.

    The fields of the end are set when the step ends; nothing changes after `step_ended`. The object then
    belongs to the tracer.
    """

    #: `method` of a call of an observer, which is no node.
    OBSERVE: ClassVar = "observe"
    #: The run that it belongs to.
    run: TracedRun
    #: `node`, `calculator`: name of the node, and registered name of its calculator. Of an observer: the
    #: stream that it observes, and "".
    node: str
    calculator: str
    #: "open", "process" or "close"; OBSERVE for a call of an observer.
    method: str
    #: Input timestamp of a call of `process`; None for sources, `open` and `close`.
    timestamp: int | None
    #: `threading.get_ident()` of the thread that makes the call.
    thread: int
    #: Marks of the packets of its input set, in the order of the ports; of ports with a packet.
    inputs: tuple[Mark, ...]
    #: For each input port, in order: name of the stream, and the number of packets in the queue after those
    #: of the input set.
    queued: tuple[tuple[str, int], ...]
    #: `began_ns`, `ended_ns`: when; `ended_ns` is 0 until then.
    began_ns: int
    #: Marks of the packets that it has written; () until it ends, and where it failed.
    outputs: tuple[Mark, ...] = ()
    #: The exception that it raised, in words; None where it raised none.
    error: str | None = None
    #: The call has returned an awaitable or a future, and the step ends when that does, on any thread. Such
    #: steps of one thread overlap; others never do.
    is_awaited: bool = False
    ended_ns: int = 0


@attrs.frozen(eq=False)
class PacketAdded:
    """A packet that the application, or a calculator, has added to a graph input."""

    #: The run that it belongs to.
    run: TracedRun
    #: The packet; with the timestamp that it got, where late ones are moved.
    mark: Mark
    #: When; before any node could read it.
    at_ns: int


@attrs.frozen(eq=False)
class PacketsDropped:
    """Packets that a node, or its input policy, dropped unused."""

    #: The run that it belongs to.
    run: TracedRun
    #: `stream`, `node`: the stream of the packets, and the node that would have read them.
    stream: str
    node: str
    #: As in the ledger.
    reason: str
    #: How many.
    count: int
    #: When.
    at_ns: int


@attrs.frozen(eq=False)
class QueueChanged:
    """A queue that has become full and throttles sources, or throttles them no longer."""

    #: The run that it belongs to.
    run: TracedRun
    #: `stream`, `node`: the stream of the queue, and the node that reads it; "" for a poller.
    stream: str
    node: str
    #: Packets in it.
    length: int
    #: Whether it has become full.
    is_full: bool
    #: When.
    at_ns: int


class Tracer:
    """Gets reports of what happens in runs. Subclass it, override methods, and pass it to `graph.set_tracer`.

    The methods are called on the threads of the run, several at a time, never while the run's lock is
    held. They should be short, since the thread does nothing else meanwhile, and must not wait for the
    run. An exception is logged, and the tracer is called no more in that run; the run itself goes on.
    One tracer may serve several runs and graphs, also at the same time.
    """

    def run_started(self, run: TracedRun) -> None:
        """Note that a run begins; called first."""

    def run_ended(self, run: TracedRun, error: str | None) -> None:
        """Note that a run is over and its threads have ended; called last.

        Args:
            run: the run.
            error: the error of the run, in words; None where it had none.
        """

    def step_started(self, step: TracedStep) -> None:
        """Note that a calculator or observer is about to be called, on this thread."""

    def step_ended(self, step: TracedStep) -> None:
        """Note that a step has ended; its packets are about to be delivered.

        Called on the thread that made the call; where `is_awaited`, on the thread that ended the step.
        """

    def packet_added(self, added: PacketAdded) -> None:
        """Note a packet at a graph input; may be called after the step that reads it has started."""

    def packets_dropped(self, dropped: PacketsDropped) -> None:
        """Note packets that were dropped; may be called somewhat later."""

    def queue_changed(self, changed: QueueChanged) -> None:
        """Note a queue that throttles sources, or no longer does; may be called somewhat later."""


class OwnTrace(Protocol):
    """The trace that a graph asks for itself. A component of the kind "tracer" makes one for each graph.

    The component is called with the graph's ProfilerConfig message and raises `InvalidArgumentError` where
    that holds a value that cannot be.
    """

    @property
    def tracer(self) -> Tracer:
        """The tracer of the graph's runs."""

    def allow(self, directory: str | os.PathLike[str] | None) -> None:
        """Let the runs write files below a directory; None: nowhere. Not called during a run.

        Raises:
            InvalidArgumentError: it is no directory, or the graph's `trace_log_path` leads out of it.
        """

    def prepare_run(self) -> None:
        """Make ready for the next run; called before each one that the tracer is used in."""
