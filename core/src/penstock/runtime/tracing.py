"""Timing and tracing of a run: the outermost layers of its nodes, which they get when the run is assembled.

A run without tracer and without timing uses nothing of this: its steps call the calculators themselves,
and its streams, queues and runner are the plain classes. With timing or a tracer, each node has a
`TimeLayer` or `TraceLayer`. So no step has to check whether there is a tracer.

Invariant: the tracer is never called under the run's lock. What happens under it (a packet at a graph
input, packets dropped, a queue full) is noted, and reported as soon as the lock is free.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from pathlib import PurePath
from threading import Lock, get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.flow import FlowControl
from penstock.engine.layer import Layer, LayerLevel
from penstock.engine.methods import METHODS, PROCESS
from penstock.engine.outcome import STOP
from penstock.engine.output_port import Output
from penstock.engine.packet import NO_PAYLOAD
from penstock.engine.schedule import APPLICATION
from penstock.engine.stream import InputStream
from penstock.errors import InvalidArgumentError, text_of
from penstock.log import get_logger
from penstock.runtime.runner.runner import Runner
from penstock.tracing.tracer import PacketAdded, PacketsDropped, QueueChanged, TracedRun, TracedStep, Tracer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.engine.node import Node
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.step import Step
    from penstock.engine.stream import OutputStream, Queue
    from penstock.errors import PenstockError
    from penstock.plan import Plan
    from penstock.tracing.tracer import Mark

_LOG: Final = get_logger("tracing")
_RUN_NUMBERS: Final = count(1)


class Tracing:
    """The tracers of one run, and the events that wait to be reported to them.

    When a tracer raises, the error is logged once, and nothing more of this run is reported to it; the
    others go on.
    """

    def __init__(self, tracers: tuple[Tracer, ...], plan: Plan) -> None:
        self._tracers = tracers
        self.run: Final = TracedRun(next(_RUN_NUMBERS), _name_of(plan), perf_counter_ns())
        #: Method of the tracer, and its argument.
        self._noted: Final[deque[tuple[str, object]]] = deque()
        self._awaited: Final[dict[Step, TracedStep]] = {}
        self._lock: Final = Lock()
        self._has_started = self._has_ended = False

    # --- the run ------------------------------------------------------------------------------

    def started(self) -> None:
        """Report that the run begins."""
        self._has_started = True
        self._tell("run_started", self.run)

    def ended(self, error: str | None) -> None:
        """Report that the run is over; only the first call does, and only if the run had begun."""
        with self._lock:
            if self._has_ended or not self._has_started:
                return
            self._has_ended = True
        self.flush()
        self._tell("run_ended", self.run, error)

    # --- what takes the place of the plain classes ------------------------------------------------

    def runner(self, *parts: Any) -> TracedRunner:
        """Return the runner of the run."""
        return TracedRunner(self, *parts)

    def callback(self, stream: str, call: Callable[[Packet], object]) -> TracedCallback:
        """Return the target of an observer, which the runner calls."""
        return TracedCallback(stream, call, self)

    def flow(self) -> FlowControl:
        """Return the flow control of the run."""
        return TracedFlow(self)

    def stream(self, name: str, node: Node, flow: FlowControl, *, is_back_edge: bool) -> InputStream:
        """Return the reading end of a stream."""
        return TracedStream(name, node, flow, self, is_back_edge=is_back_edge)

    def watch_inputs(self, schedule: Schedule) -> None:
        """Note packets that are added to graph inputs from now on; called once, before the run starts."""
        for number, output in schedule.graph_inputs.items():
            schedule.graph_inputs[number] = _TracedInput(output.stream, self)

    # --- steps --------------------------------------------------------------------------------

    def begin(self, traced: TracedStep) -> None:
        """Report that a step is about to be called."""
        if self._noted:
            self.flush()
        self._tell("step_started", traced)

    def end(self, traced: TracedStep, ports: Sequence[Output], error: BaseException | None = None) -> None:
        """Report that a step has ended; `ports` hold the packets that it wrote."""
        if error is None:
            traced.outputs = tuple([_mark(port.stream, packet) for port in ports for packet in port.packets])
        else:
            traced.error = _in_words(error)
        traced.ended_ns = perf_counter_ns()
        self._tell("step_ended", traced)
        if self._noted:
            self.flush()

    def expect_end(self, step: Step, traced: TracedStep) -> None:
        """Remember a step until `end_awaited`: its call has returned an awaitable or a future."""
        traced.is_awaited = True
        self._awaited[step] = traced

    def end_awaited(self, step: Step, error: BaseException | None) -> None:
        """Report that an awaited step has ended; does nothing for other steps, and the second time."""
        traced = self._awaited.pop(step, None)
        if traced is not None:
            self.end(traced, step.out_ports, error)

    # --- what happens under the lock ----------------------------------------------------------

    def note_added(self, stream: OutputStream, packet: Packet, at_ns: int) -> None:
        """Note a packet at a graph input. Called with the lock held."""
        self._noted.append(("packet_added", PacketAdded(self.run, _mark(stream, packet), at_ns)))

    def note_dropped(self, stream: InputStream, reason: str, count: int) -> None:
        """Note packets that were dropped. Called with the lock held."""
        dropped = PacketsDropped(self.run, stream.name, _reader(stream), reason, count, perf_counter_ns())
        self._noted.append(("packets_dropped", dropped))

    def note_queue(self, queue: Queue) -> None:
        """Note that a queue throttles sources, or no longer does. Called with the lock held."""
        changed = QueueChanged(
            self.run, queue.name, _reader(queue), len(queue.queue), queue.is_full, perf_counter_ns()
        )
        self._noted.append(("queue_changed", changed))

    def flush(self) -> None:
        """Report the noted events. Called without the lock, on any thread."""
        while self._noted:
            try:
                method, what = self._noted.popleft()
            except IndexError:  # another thread has reported it
                return
            self._tell(method, what)

    # --- the tracers --------------------------------------------------------------------------

    def _tell(self, method: str, *what: object) -> None:
        for tracer in self._tracers:
            try:
                getattr(tracer, method)(*what)
            except Exception:  # noqa: BLE001  # errors of a tracer are no errors of the run
                self._switch_off(tracer)

    def _switch_off(self, tracer: Tracer) -> None:
        """Log the error that `tracer` has raised, once, and stop reporting. Called in an `except` block."""
        with self._lock:
            if tracer not in self._tracers:
                return
            self._tracers = tuple(one for one in self._tracers if one is not tracer)
        _LOG.exception("tracer %s raised and gets no more events of this run", type(tracer).__name__)


class TimeLayer(Layer):
    """Adds up the time that `process` of a node takes."""

    def __init__(self, node: Node) -> None:
        super().__init__(LayerLevel.TIME, (PROCESS,))
        self._node: Final = node

    def process(self, step: Step, /) -> object:
        """Call it."""
        start = perf_counter_ns()
        try:
            return self.inner.process(step)
        finally:
            self._node.busy_ns += perf_counter_ns() - start


class TraceLayer(Layer):
    """Reports both ends of each call of a node to the tracers."""

    def __init__(self, node: Node, tracing: Tracing) -> None:
        super().__init__(LayerLevel.TRACE)
        self._node: Final = node
        self._tracing: Final = tracing
        self._has_inputs: Final = bool(node.inputs)

    def open(self, step: Step, /) -> object:
        """Call it, on the thread of the step, as the other methods are called."""
        return self._report(step, self.inner.open)

    def process(self, step: Step, /) -> object:
        """Call it."""
        return self._report(step, self.inner.process)

    def close(self, step: Step, /) -> object:
        """Call it."""
        return self._report(step, self.inner.close)

    def _report(self, step: Step, call: Callable[[Step], object]) -> object:
        tracing, method = self._tracing, step.method
        traced = self._begun(step, method)
        tracing.begin(traced)
        try:
            outcome = call(step)
        except BaseException as error:
            tracing.end(traced, (), error)
            raise
        if outcome is None or (outcome is STOP and method == PROCESS):
            tracing.end(traced, step.out_ports)
        else:
            tracing.expect_end(step, traced)
        return outcome

    def _begun(self, step: Step, method: int) -> TracedStep:
        """Return the event of a step that begins, as tracers get it."""
        node = self._node
        inputs, queued = [], []
        for port in step.in_ports:
            packet, stream = port.packet, port.stream
            queued.append((stream.name, len(stream.queue)))
            if packet.value is not NO_PAYLOAD:
                inputs.append((stream.name, packet.stamp, id(packet.value)))
        return TracedStep(
            self._tracing.run,
            node.name,
            node.kind,
            METHODS[method],
            step.stamp if method == PROCESS and self._has_inputs else None,
            get_ident(),
            tuple(inputs),
            tuple(queued),
            perf_counter_ns(),
        )


class TracedCallback:
    """Calls an observer's callback, and reports each call to the tracer."""

    def __init__(self, stream: str, call: Callable[[Packet], object], tracing: Tracing) -> None:
        self._stream: Final = stream
        self._call: Final = call
        self._tracing: Final = tracing
        self.has_failed = False

    def call(self, packet: Packet) -> None:
        """Call it."""
        name, stamp = self._stream, packet.stamp
        marks = () if packet.value is NO_PAYLOAD else ((name, stamp, id(packet.value)),)
        run = self._tracing.run
        traced = TracedStep(
            run, name, "", TracedStep.OBSERVE, stamp, get_ident(), marks, (), perf_counter_ns()
        )
        self._tracing.begin(traced)
        try:
            self._call(packet)
        except BaseException as error:
            self._tracing.end(traced, (), error)
            raise
        self._tracing.end(traced, ())


class TracedRunner(Runner):
    """The runner of a traced run: reports the ends of awaited steps, and what was noted under the lock."""

    def __init__(self, tracing: Tracing, *parts: Any) -> None:
        super().__init__(*parts)
        self._tracing: Final = tracing

    def start(
        self, headers: dict[int, Packet], begin: Callable[[], object] = lambda: None, *, held: bool
    ) -> None:
        """Report that the run begins, and start it."""
        self._tracing.started()
        super().start(headers, begin, held=held)

    def stop(self, timeout: float | None = None) -> None:
        """Stop all threads, and report that the run is over."""
        super().stop(timeout)
        error = self.error()
        self._tracing.ended(None if error is None else str(error))

    def change(self, event: Callable[..., Any], *arguments: object) -> Any:
        """Apply an event, and report what it noted."""
        try:
            return super().change(event, *arguments)
        finally:
            self._tracing.flush()

    def defer(self, step: Step, outcome: object) -> PenstockError | None:
        """Arrange that a step completes later; report the end of a step that cannot."""
        try:
            error = super().defer(step, outcome)
        except BaseException as raised:
            self._tracing.end_awaited(step, raised)
            raise
        if error is not None:
            self._tracing.end_awaited(step, error)
        return error

    def complete_later(self, step: Step, error: BaseException | None, *, stop: bool = False) -> None:
        """Complete an awaited step; its end is reported before its packets are delivered."""
        self._tracing.end_awaited(step, error)
        super().complete_later(step, error, stop=stop)


class TracedFlow(FlowControl):
    """Notes which queues throttle."""

    __slots__ = ("_tracing",)

    def __init__(self, tracing: Tracing) -> None:
        super().__init__()
        self._tracing: Final = tracing

    def became_full(self, queue: Queue) -> None:
        """Throttle the sources of a queue."""
        super().became_full(queue)
        if id(queue) in self.full:
            self._tracing.note_queue(queue)

    def became_free(self, queue: Queue) -> None:
        """Release the sources of a queue."""
        has_throttled = id(queue) in self.full
        super().became_free(queue)
        if has_throttled:
            self._tracing.note_queue(queue)


class TracedStream(InputStream):
    """Notes which packets are dropped."""

    __slots__ = ("_tracing",)

    def __init__(
        self, name: str, node: Node, flow: FlowControl, tracing: Tracing, *, is_back_edge: bool
    ) -> None:
        super().__init__(name, node, flow, is_back_edge=is_back_edge)
        self._tracing: Final = tracing

    def count_dropped(self, reason: str, count: int) -> None:
        """Count packets that were dropped."""
        super().count_dropped(reason, count)
        self._tracing.note_dropped(self, reason, count)


class _TracedInput(Output):
    """Notes which packets are added to a graph input."""

    __slots__ = ("_tracing",)

    def __init__(self, stream: OutputStream, tracing: Tracing) -> None:
        super().__init__(stream, APPLICATION)
        self._tracing: Final = tracing

    def add_packet(self, packet: Packet) -> None:
        at_ns = perf_counter_ns()
        super().add_packet(packet)
        if packet.value is not NO_PAYLOAD:
            self._tracing.note_added(self.stream, packet, at_ns)


def watching(node: Node, tracing: Tracing | None, *, is_timed: bool) -> list[Layer]:
    """Return the layers that time and trace the calls of a node, as far as either is wanted."""
    layers: list[Layer] = []
    if tracing is not None:
        layers.append(TraceLayer(node, tracing))
    if is_timed:
        layers.append(TimeLayer(node))
    return layers


def _mark(stream: OutputStream, packet: Packet) -> Mark:
    return stream.name, packet.stamp, id(packet.value)


def _reader(queue: Queue) -> str:
    return "" if queue.node is None else queue.node.name


def _in_words(error: BaseException) -> str:
    """Return an exception as text: the exception itself would keep frames and packets alive."""
    words = text_of(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _name_of(plan: Plan) -> str:
    kind: str = "" if plan.fields is None else plan.fields.type
    return kind or (PurePath(plan.file).name if plan.file else "graph")


def checked_tracer(tracer: Tracer) -> Tracer:
    """Return the tracer.

    Raises:
        InvalidArgumentError: it is none.
    """
    if not isinstance(tracer, Tracer):
        raise InvalidArgumentError(
            f"the graph's tracer {tracer!r} is no penstock.tracing.Tracer; make it a subclass"
        )
    return tracer
