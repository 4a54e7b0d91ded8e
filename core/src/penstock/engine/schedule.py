"""The scheduler of one run, as a state machine: events in, the next step out.

The runtime holds a lock around every call and brings events: a packet or bound at a graph input, a
side packet, a completed step, a drained observer, pause, cancel. `take` gives the next step of an
executor. No call here waits, calls user code or looks at a clock, and none recurses over the graph:
the effects of a changed bound go through a list.

An input set is taken from the queues when its node becomes ready, not when it runs, as in the
reference; so queue lengths, and with them throttling, agree with it.

Flags say what one call has made ready; the runtime reads and resets them: `ReadyQueue.is_fresh`,
`deliveries`, `garbage`, `has_news`. `penstock_testing.invariants` checks what holds between any two events.

Source of the rules: MediaPipe `framework/scheduler.cc` and `calculator_node.cc`, as amended by
Penstock's own decisions (the last closes belong to the run; STOP closes sources and graph inputs).
"""

from __future__ import annotations

from heapq import heappush
from typing import TYPE_CHECKING, Final

from penstock.engine import deadlock, faults, leaps
from penstock.engine.guard import AGAIN, FAIL
from penstock.engine.input_stream_handler import NOT_READY, READY_FOR_CLOSE
from penstock.engine.methods import CLOSE, METHODS, OPEN, PROCESS
from penstock.engine.node import CLOSED, CLOSING, FAILED, OPENED, OPENING, UNOPENED, Node
from penstock.engine.output_port import Output, late_output
from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.engine.stream import add_dropped
from penstock.errors import CalculatorError, CancelledError, InternalError, PenstockError
from penstock.timestamp import (
    DONE,
    MAX,
    MIN,
    ORDINARY,
    POSTSTREAM,
    PRESTREAM,
    UNSTARTED,
    previous_allowed,
    promised_bound,
    shifted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.engine.flow import FlowControl
    from penstock.engine.layer import Layer
    from penstock.engine.scheduler_queue import ReadyQueue
    from penstock.engine.step import Step
    from penstock.engine.stream import OutputStream, Queue, StreamObserver

#: Why packets are dropped, as the ledger says it.
CLOSED_READER: Final = "the reader had closed"
FAILED_STEP: Final = "the call that wrote it failed"
FAILED_RUN: Final = "the run had failed"
LATE: Final = "late"
NEVER_OPENED: Final = "the node never opened"
STOPPED: Final = "the node had returned STOP"
FORGOTTEN: Final = "the poller was reset"

#: What happens to a packet behind the bound of a graph input.
DROP_LATE: Final = 1
CLAMP_LATE: Final = 2

NOT_STARTED: Final = 0
RUNNING: Final = 1
PAUSED: Final = 2
TERMINATED: Final = 3


class Schedule:
    """All nodes and streams of one run, and what happens next."""

    __slots__ = (
        "_closing", "_graph_inputs_open", "_has_passed_on", "_is_failing", "_limits_apply",
        "_report_deadlock", "_sources", "_touched", "_waiting_sources", "busy", "deliveries", "errors",
        "flow", "garbage", "graph_inputs", "has_news", "has_waited", "is_stopping", "late", "nodes",
        "on_end", "on_stuck", "patient", "queues", "side_packets", "side_readers", "state", "stopped_by",
        "streams", "was_observed",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  # made in one place only
        self,
        nodes: Sequence[Node],
        streams: Sequence[OutputStream],
        graph_inputs: int,
        flow: FlowControl,
        queues: Sequence[ReadyQueue],
        *,
        report_deadlock: bool = False,
        sources_wait: bool = True,
    ) -> None:
        #: In topological order.
        self.nodes: Final = tuple(nodes)
        #: All streams; graph inputs are `graph_inputs` of them, by stream id.
        self.streams: Final = tuple(streams)
        self.flow: Final = flow
        self.queues: Final = tuple(queues)
        self.graph_inputs: Final = {s.id: Output(s, APPLICATION) for s in self.streams[:graph_inputs]}
        #: NOT_STARTED, RUNNING, PAUSED or TERMINATED.
        self.state = NOT_STARTED
        #: Steps prepared or running, and observers not drained; the run is idle at 0.
        self.busy = 0
        #: What went wrong, in order. With any, no new step is prepared but closes.
        self.errors: list[PenstockError] = []
        #: Sources close instead of running again.
        self.is_stopping = False
        #: The node that returned STOP though it has inputs, or None.
        self.stopped_by: str | None = None
        #: Observers that have something for their callback, which no thread is calling.
        self.deliveries: list[StreamObserver] = []
        #: Dropped packets; the runtime frees them outside its lock. As `flow.garbage`.
        self.garbage: Final = flow.garbage
        #: Something that a waiting application may wait for has happened.
        self.has_news = False
        #: An observer has seen a packet or bound, or one has come to a poller.
        self.was_observed = False
        #: Stream id of a graph input → DROP_LATE or CLAMP_LATE, where late packets are no error.
        self.late: dict[int, int] = {}
        #: Nodes that wait for some time only.
        self.patient: Final = tuple(node for node in nodes if node.policy.patience_s is not None)
        #: A patient node has been looked at and was not ready; the runtime resets it.
        self.has_waited = False
        #: Called with the full queues before a deadlock raises their limits; or None.
        self.on_stuck: Callable[[Schedule, Sequence[Queue]], None] | None = None
        #: Called once, before the nodes close at the end of a run that has not failed; or None.
        self.on_end: Callable[[Schedule], None] | None = None
        #: Side packets made by nodes of this run, and the nodes that wait for each.
        self.side_packets: dict[str, Packet] = {}
        self.side_readers: dict[str, list[Node]] = {}
        self._is_failing = False
        self._closing = 0
        self._graph_inputs_open = graph_inputs
        self._report_deadlock: Final = report_deadlock
        self._limits_apply: Final = sources_wait
        self._sources: Final = tuple(node for node in nodes if node.is_source)
        self._touched: list[Node] = []
        self._waiting_sources: list[Node] = []
        #: In graphs with cycles: node id → how often it has passed a bound on lately, see `leaps`.
        self._has_passed_on: dict[int, int] | None = None

    # --- the run as a whole -------------------------------------------------------------------

    def start(self, headers: dict[int, Packet] | None = None) -> None:
        """Start: open every node that waits for nothing, and give graph inputs their headers."""
        self.state = RUNNING
        if any(stream.is_back_edge for node in self.nodes for stream in node.inputs):
            self._has_passed_on = {}
        for node in self.nodes:
            if node.state == UNOPENED and not node.awaiting:
                self._prepare_open(node)
        for stream_id in self.graph_inputs:
            stream = self.streams[stream_id]
            stream.header = (headers or {}).get(stream_id, stream.header)
            self._send_header(stream)
        self._settle()

    def pause(self) -> None:
        """Release no more steps; those that run come to their end. A failed run goes on to its end."""
        if self.state == RUNNING and not self._is_failing:
            self.state = PAUSED

    def resume(self) -> None:
        """Go on after a pause."""
        if self.state == PAUSED:
            self.state = RUNNING
            for queue in self.queues:
                queue.is_fresh = True
            self._settle()

    def cancel(self) -> None:
        """End the run with a CANCELLED error, unless it has ended."""
        if self.state in (RUNNING, PAUSED) and not any(isinstance(e, CancelledError) for e in self.errors):
            self.fail(CancelledError("the run was cancelled"))

    def fail(self, error: PenstockError) -> None:
        """Record an error of the run: prepared steps still run, then opened nodes are closed."""
        self.errors.append(error)
        self._begin_to_fail()
        self.has_news = True
        if self.state == PAUSED:
            self.resume()
        elif self.state == RUNNING:
            self._settle()

    def _begin_to_fail(self) -> None:
        self._is_failing = True

    def close_sources(self) -> None:
        """Close all graph inputs, and every source before its next step."""
        self._close_sources()
        self._settle()

    def _close_sources(self) -> None:
        self.is_stopping = True
        for stream_id in self.graph_inputs:
            self._close_graph_input(stream_id)
        for node in self._sources:
            if node.is_active and node.state == OPENED and not node.in_flight:
                self._prepare_close(node)

    # --- graph inputs -------------------------------------------------------------------------

    def add_packet(self, stream_id: int, packet: Packet) -> None:
        """Write a packet to a graph input.

        Raises:
            As `Output.add_packet`; nothing has changed then.
        """
        output = self.graph_inputs[stream_id]
        if output.stream.is_closed:
            raise faults.closed_input(output.stream, self.stopped_by)
        if packet.stamp < output.bound and stream_id in self.late and self._is_merely_late(output, packet):
            if self.late[stream_id] == DROP_LATE or packet.value is NO_PAYLOAD or output.bound > MAX:
                self._drop_late(output.stream, packet)
                return
            packet = packet.at(output.bound)
        output.add_packet(packet)
        self._send(output)
        self._settle()

    def _is_merely_late(self, output: Output, packet: Packet) -> bool:
        stream = output.stream
        return (
            stream.is_ordered
            and packet.stamp >= PRESTREAM
            and (packet.value is NO_PAYLOAD or stream.fits(packet.value))
        )

    def _drop_late(self, stream: OutputStream, packet: Packet) -> None:
        self.garbage.append(packet)
        if packet.value is not NO_PAYLOAD:
            stream.added += 1
            add_dropped(stream.dropped, LATE, 1)

    def set_bound(self, stream_id: int, bound: int) -> None:
        """Raise the bound of a graph input.

        Raises:
            As `Output.set_next_timestamp_bound`; nothing has changed then.
        """
        output = self.graph_inputs[stream_id]
        if output.stream.is_closed:
            raise faults.closed_input(output.stream, self.stopped_by)
        output.set_next_timestamp_bound(bound)
        self._send(output)
        self._settle()

    def close_input(self, stream_id: int) -> None:
        """End a graph input. Closing it again does nothing."""
        self._close_graph_input(stream_id)
        self._settle()

    def _close_graph_input(self, stream_id: int) -> None:
        stream = self.streams[stream_id]
        if not stream.is_closed:
            self._graph_inputs_open -= 1
            self._close_stream(stream)

    # --- side packets -------------------------------------------------------------------------

    def set_side_packet(self, name: str, packet: Packet) -> None:
        """Give a side packet that a node has made to the nodes that wait for it."""
        self.side_packets[name] = packet
        for node in self.side_readers.get(name, ()):
            self._arrived(node)
        self._settle()

    def _arrived(self, node: Node) -> None:
        node.awaiting -= 1
        if not node.awaiting and node.state == UNOPENED:
            self._prepare_open(node)

    # --- observers ----------------------------------------------------------------------------

    def delivered(self, observer: StreamObserver) -> None:
        """Record that an observer's callback has seen all its packets."""
        if not self.was_observed and observer.watches is None:  # else those that wait for it were woken
            self.was_observed = self.has_news = True
        if observer.queue:
            self.deliveries.append(observer)
            return
        observer.is_claimed = False
        self.busy -= 1
        if observer.is_done:
            self.unwatch(observer)
        if not self.busy:
            self._settle()

    def watch(self, stream: OutputStream, observer: StreamObserver) -> None:
        """Let one more observer see what is written from now on; it changes nothing else about the run."""
        if stream.is_closed:
            observer.end()
            return
        observer.watches = stream
        self.observe(stream, observer)

    def observe(self, stream: OutputStream, observer: StreamObserver) -> None:
        """Let one more observer see what is written to a stream."""
        stream.observers += (observer,)

    def unwatch(self, observer: StreamObserver) -> None:
        """Let an observer that watches see nothing that is written from now on."""
        observer.end()
        stream = observer.watches
        if stream is not None and not observer.is_claimed:
            stream.observers = tuple([one for one in stream.observers if one is not observer])

    def polled(self, observer: StreamObserver) -> Packet:
        """Take the oldest packet out of a poller's queue; one must be waiting."""
        packet = observer.queue.popleft()
        observer.delivered += packet.value is not NO_PAYLOAD
        if observer.is_full and len(observer.queue) < observer.max_size:
            self.flow.became_free(observer)
            self._settle()
        return packet

    def forget(self, observer: StreamObserver) -> None:
        """Throw away what waits in a poller's queue."""
        count = sum(packet.value is not NO_PAYLOAD for packet in observer.queue)
        if count:
            observer.count_dropped(FORGOTTEN, count)
        self.garbage.extend(observer.queue)
        observer.queue.clear()
        if observer.is_full and len(observer.queue) < observer.max_size:
            self.flow.became_free(observer)
            self._settle()

    def limit(self, queue: Queue, max_size: int) -> None:
        """Give a queue another limit."""
        self.flow.set_limit(queue, max_size)
        self._settle()

    def _observe(self, stream: OutputStream, packets: Sequence[Packet], bound: int) -> None:
        for observer in stream.observers:
            if observer.is_done:
                continue  # it watches no longer, but is still to see what came before
            seen = bool(packets)
            if packets:
                observer.queue.extend(packets)
                observer.last = packets[-1].stamp
            if bound >= DONE:
                observer.end()
            elif observer.wants_bounds:
                settled = POSTSTREAM if bound == POSTSTREAM else previous_allowed(bound)
                if settled > observer.last:
                    observer.last = settled
                    observer.queue.append(Packet(timestamp=settled))
                    seen = True
            if observer.is_poller:
                self.has_news = True
                self.was_observed = self.was_observed or seen
                if len(observer.queue) >= observer.max_size and not observer.is_full:
                    self.flow.became_full(observer)
            elif seen and not observer.is_claimed:
                observer.is_claimed = True
                self.busy += 1
                self.deliveries.append(observer)

    # --- nodes that wait for some time only ---------------------------------------------------

    def waiting(self) -> dict[int, int]:
        """Return the patient nodes that wait with packets in their queues: node id → timestamp."""
        found: dict[int, int] = {}
        for node in self.patient:
            if node.state == OPENED and not node.in_flight and not self._is_failing:
                t = node.policy.waits_with()
                if t is not None:
                    found[node.id] = t
        return found

    def time_out(self, node_id: int, timestamp: int) -> None:
        """End a node's wait for the set at `timestamp`, if it still waits: it has waited long enough."""
        if self.waiting().get(node_id) != timestamp:
            return
        node = self.nodes[node_id]
        node.policy.lose_patience(timestamp)
        node.is_touched = True
        self._touched.append(node)
        self._settle()

    # --- steps --------------------------------------------------------------------------------

    def put_around(self, node: Node, layer: Layer) -> None:
        """Put one more layer around the calculator of a node: calls that have not begun go through it."""
        node.put_around(layer)
        if node.state == OPENED:
            for step in (node.step, *node.prepared):
                if step.method == PROCESS:
                    step.call = node.process

    def take(self, queue: ReadyQueue, choose: Callable[[int], int] | None = None) -> Step | None:
        """Return the next step of an executor, or None. It must be completed exactly once."""
        if self.state != RUNNING:
            return None
        step = queue.pop() if choose is None else queue.pop_any(choose)
        if step is not None:
            step.is_running = True
            if step.node.takes_late and step.method == PROCESS and not step.words:  # else it has its set
                try:
                    step.node.policy.fill(step.stamp, step.in_ports)
                except Exception as error:  # noqa: BLE001  # as in _look_once
                    self.complete(step, faults.failed_policy(step.node, error))
                    return self.take(queue, choose)
                self._release_sources()
        return step

    def note_ended(self, step: Step, error: BaseException | None) -> None:
        """Record the end of a step that was under way when the run was given up: nothing follows from it."""
        step.is_running = False
        if step.method == OPEN and error is None:
            step.node.state = OPENED
        elif step.method == CLOSE:
            step.node.state = CLOSED

    def turn(self, queue: ReadyQueue, step: Step, error: BaseException | None, stop: bool) -> Step | None:  # noqa: FBT001  # hot
        """Complete a step and take the next one of the queue; None also while observers have something."""
        self.complete(step, error, stop)
        return None if self.deliveries else self.take(queue)

    def complete(self, step: Step, error: BaseException | None = None, stop: bool = False) -> None:  # noqa: FBT001, FBT002  # hot, as `_send`; a keyword costs 40 ns
        """Report the end of a step.

        Args:
            step: what `take` returned.
            error: what the calculator raised.
            stop: whether `process` returned STOP.

        Raises:
            InternalError: the step was completed before. Nothing has changed.
        """
        # 1. The step ends; after this check nothing is raised. `busy` may be 0 until the last stage, though
        #    the run goes on: other threads read it only after this call, since they need the lock.
        if not step.is_running:
            raise InternalError(
                f"a step of node {step.node.name!r} was completed twice in the schedule", node=step.node.name
            )
        step.is_running = False
        node = step.node
        if error is not None and node.guard is not None and not isinstance(error, faults.CallCancelledError):
            self._take_back(step)
            verdict = node.guard.judge(step, error)
            if verdict == AGAIN and not self._is_failing:
                self._prepare_again(step)
                return
            if verdict != FAIL:
                error = None
        self.busy -= 1
        node.in_flight -= 1
        if step.method == PROCESS:
            # 2. What the call wrote leaves: packets and bounds are with the readers, and the readers that
            #    may be ready are in `_touched`. None of them has been looked at. A call that failed has
            #    written nothing, and the run is failing; one of several at a time may have to wait for
            #    earlier ones, so it is *not* promised that its packets have left.
            node.steps += 1
            if error is None and not stop and node.in_order is None and not node.is_source:
                self._finish_process(step)  # as nearly all steps end
            else:
                self._finish_specially(step, error, stop=stop)
            # 3. The node's next steps: `_settle` passed it by while it ran, so it is looked at here. A source
            #    was prepared again, left waiting or closed in stage 2. `step` is *not* the ended call any
            #    more: it may be prepared again.
            if not (self._is_failing or node.state != OPENED or node.is_source):
                self._look_after(node, step)
        elif step.method == OPEN:
            self._finish_open(step, error)
        else:
            self._finish_close(step, error)
        # 4. What all this has set off: readers are looked at, sources whose queues have room run again, and
        #    an idle run goes on to its next layer, its next close or its end. It is *not* promised that the
        #    run is still going afterwards, nor that this step has made any other ready.
        if self._touched or self.flow.freed or not self.busy:  # else there is nothing to settle
            self._settle()

    def _finish_specially(self, step: Step, error: BaseException | None, *, stop: bool) -> None:
        """End a call of `process` that failed, returned STOP, overlaps others, or is a source's."""
        node = step.node
        if error is not None:
            self._fail_step(step, error)
            return
        if node.in_order is None:
            self._finish_process(step)
        else:
            self._finish_in_order(node, step)
        if stop:
            self._stop(node)
        if node.is_source:
            self._reschedule_source(node, has_stopped=stop)

    def _finish_process(self, step: Step) -> None:
        t = step.stamp
        step.node.forwarded = t + 1
        for output in step.out_ports:
            stream = output.stream
            offset = stream.offset
            if offset is not None:
                # what promised_bound returns for all but extreme timestamps, without the call
                promised = t + 1 + offset if -ORDINARY < t < ORDINARY else promised_bound(t, offset)
                if promised > output.bound:  # max() costs a call  # noqa: PLR1730
                    output.bound = promised
            if output.packets or output.bound > stream.bound:
                self._send(output)
            if output.will_close:
                output.will_close = False
                self._close_stream(stream)

    def _finish_in_order(self, node: Node, step: Step) -> None:
        """Let the outputs of parallel calls leave in the order in which the calls began.

        A call that is done makes room for the next one at once, even while its outputs still wait
        for an earlier call, as in the reference.
        """
        step.is_done = True
        in_order = node.in_order
        assert in_order is not None  # the caller has looked  # noqa: S101
        while in_order and in_order[0].is_done:
            first = in_order[0]
            late = next((o for o in first.out_ports if _is_late(o)), None)
            if late is not None:
                first.is_done = False
                self._fail_step(first, late_output(late))
                return
            in_order.popleft()
            for output in first.out_ports:
                # the stream's is larger only where every reader ignores timestamps
                output.bound = max(output.bound, output.stream.bound)
            self._finish_process(first)
            node.spare.append(first)

    def _fail_step(self, step: Step, error: BaseException) -> None:
        """Record the error of a step and drop what it wrote; no bound is sent, and no later call's output."""
        self._take_back(step)
        if isinstance(error, faults.CallCancelledError) and self._is_failing:
            return
        at = step.stamp if step.method == PROCESS and step.node.inputs else None
        self._record(step.node, step.method, error, at, step.words)

    def _take_back(self, step: Step) -> None:
        """Drop what a call has written and promised."""
        for output in step.out_ports:
            self._discard(output, FAILED_STEP)
            output.bound = output.stream.bound
            output.will_close = False
        if step.node.has_offset and step.method == PROCESS:
            self._raise_to_promise(step, step.stamp)

    def _prepare_again(self, step: Step) -> None:
        """Make a step ready again whose call has failed; its guard keeps the input set."""
        node = step.node
        if node.in_order is not None:
            node.prepared.appendleft(step)
        if step.method == OPEN:
            node.queue.push_open(node)
        elif node.is_source:
            node.queue.push_source(node, node.behind())
        else:
            node.queue.push(node)

    def _discard(self, output: Output, reason: str) -> None:
        """Throw away what was written and not yet delivered."""
        packets = output.packets
        if packets:
            self.garbage.extend(packets)
            output.stream.added += len(packets)
            add_dropped(output.stream.dropped, reason, len(packets))
            packets.clear()

    def _record(  # what is known of the call
        self, node: Node, method: int, error: BaseException, at: int | None, words: str = ""
    ) -> None:
        self.errors.append(CalculatorError(node.name, node.kind, METHODS[method], error, at, words))
        self._begin_to_fail()
        self.has_news = True

    def _finish_open(self, step: Step, error: BaseException | None) -> None:
        node = step.node
        if error is not None:
            node.state = FAILED
            self._fail_step(step, error)
            return
        node.state = OPENED
        step.method = PROCESS  # until it closes
        step.call = node.process
        self._bind(node)
        for output in step.out_ports:
            if output.packets or output.bound > output.stream.bound:
                self._send(output)
        for output in step.out_ports:
            self._send_header(output.stream)
            if output.will_close:
                output.will_close = False
                self._close_stream(output.stream)
        if node.is_source:
            self._waiting_sources.append(node)
        elif node.inputs and not node.is_touched:
            node.is_touched = True
            self._touched.append(node)

    def _bind(self, node: Node) -> None:
        node.bind()

    def _finish_close(self, step: Step, error: BaseException | None) -> None:
        node = step.node
        node.state = CLOSED
        if error is not None:
            self._fail_step(step, error)
        for output in step.out_ports:
            if self.state == RUNNING and not self._is_failing and output.packets:
                self._send(output)
            self._discard(output, FAILED_RUN)
            self._close_stream(output.stream)
        for held in node.in_order or ():
            for output in held.out_ports:
                self._discard(output, FAILED_RUN)
        try:
            node.policy.discard(CLOSED_READER)
        except Exception as failure:  # noqa: BLE001  # as in _look_once
            self.fail_later(faults.failed_policy(node, failure))
        for stream in node.inputs:
            stream.is_closed = True
            stream.drop_all(CLOSED_READER)

    def _stop(self, node: Node) -> None:
        """Do what STOP means where a node with inputs returns it; a source is closed by the caller."""
        if not node.is_source and self.stopped_by is None:
            self.stopped_by = node.name
            if node.policy.batch is not None:
                node.policy.batch.discard(node.inputs, STOPPED)
            self._close_sources()

    # --- what a change sets off ---------------------------------------------------------------

    def _send(self, output: Output) -> None:  # noqa: C901, PLR0912  # hot: a call for each half costs 5 %
        """Deliver what an output holds to all readers: packets, and the bound."""
        stream = output.stream
        bound = output.bound
        packets = output.packets
        touched = self._touched
        if packets:
            stream.added += len(packets)
            for reader in stream.readers:
                queue = reader.queue
                if reader.is_closed:
                    reader.count_dropped(CLOSED_READER, len(packets))
                    self.garbage.extend(packets)
                    continue
                if not queue or reader.is_watched:
                    node = reader.node
                    if not node.is_touched:  # type: ignore[union-attr]  # a reader has a node
                        node.is_touched = True  # type: ignore[union-attr]
                        touched.append(node)  # type: ignore[arg-type]
                queue.extend(packets)
                reader.bound = bound
                if len(queue) >= reader.max_size and not reader.is_full:
                    self.flow.became_full(reader)
            if not stream.readers:
                self.garbage.extend(packets)
        else:
            for reader in stream.readers:
                reader.bound = bound
                if not reader.queue:
                    node = reader.node
                    if not node.is_touched:  # type: ignore[union-attr]
                        node.is_touched = True  # type: ignore[union-attr]
                        touched.append(node)  # type: ignore[arg-type]
        stream.bound = bound
        if stream.observers:
            self._observe(stream, packets, bound)
        if packets:
            packets.clear()

    def _close_stream(self, stream: OutputStream) -> None:
        if stream.is_closed:
            return
        stream.is_closed = True
        for reader in stream.readers:
            if reader.is_closed:
                continue
            reader.bound = DONE
            node = reader.node
            if not reader.queue and node is not None and not node.is_touched:
                node.is_touched = True
                self._touched.append(node)
        if stream.observers:
            self._observe(stream, (), DONE)  # `StreamObserver.end` may read the last bound
        stream.bound = DONE
        self.has_news = True

    def _send_header(self, stream: OutputStream) -> None:
        for reader in stream.readers:
            reader.header = stream.header
            if not reader.is_back_edge and reader.node is not None:
                self._arrived(reader.node)

    def _settle(self) -> None:
        """Look at every node whose inputs have changed, until nothing changes any more."""
        touched = self._touched
        while True:
            while touched:
                node = touched.pop()
                node.is_touched = False
                if node.state != OPENED or self._is_failing:
                    continue
                if node.in_order is not None:
                    self._look(node)
                elif not node.in_flight:  # as in _look, without the call
                    self._look_once(node, node.step)
                if node.in_flight and node.policy.sees_every_packet:
                    self._tell_policy(node)
            if self.flow.freed:
                self._release_sources()
            if self.busy or self.state != RUNNING or not self._go_on():
                return

    def _look_after(self, node: Node, step: Step) -> None:  # noqa: ARG002  # for short cuts
        """Look at a node whose call of `process` has ended."""
        self._look(node)

    def _look(self, node: Node) -> None:
        """Prepare what an opened node with inputs is ready for."""
        if node.in_order is None:
            if not node.in_flight:
                self._look_once(node, node.step)
            return
        while node.in_flight < node.max_in_flight:
            step = node.free_step()
            if not self._look_once(node, step):
                node.spare.append(step)
                return

    def _look_once(self, node: Node, step: Step) -> bool:
        """Prepare `step`, or a close, or forward a bound; return whether `step` was prepared."""
        try:
            t = node.advance(step.in_ports)
        except Exception as error:  # noqa: BLE001  # a policy's mistake ends the run, as a calculator's
            self.fail_later(faults.failed_policy(node, error))
            return False
        if t == NOT_READY:
            if node.has_offset and node.policy.waits_at > node.forwarded and not node.in_flight:
                self._forward(node, node.policy.waits_at)
            if node.policy.patience_s is not None:
                self.has_waited = True
            return False
        if t == READY_FOR_CLOSE:
            if not node.in_flight:
                self._prepare_close(node)
            return False
        step.stamp = t
        if node.in_order is not None:
            self._line_up(node, step)
        if node.has_offset and t > node.forwarded:
            self._raise_to_promise(step, t)
        node.in_flight += 1
        self.busy += 1
        queue = node.queue  # the next two lines are queue.push(node), without the call
        heappush(queue.others, node.ready_key)
        queue.is_fresh = True
        return True

    def _tell_policy(self, node: Node) -> None:
        try:
            node.policy.packets_came()
        except Exception as error:  # noqa: BLE001  # as in _look_once
            self.fail_later(faults.failed_policy(node, error))

    def _line_up(self, node: Node, step: Step) -> None:
        """Give a call of `process` that may overlap others its place among them."""
        step.method = PROCESS
        step.call = node.process
        step.is_done = False
        for output in step.out_ports:
            output.bound = DONE if output.stream.is_closed else PRESTREAM
        node.in_order.append(step)  # type: ignore[union-attr]  # the caller has looked
        node.prepared.append(step)

    def _raise_to_promise(self, step: Step, t: int) -> None:
        """Raise the bounds of outputs: a packet below the promised offset is then refused when written."""
        for output in step.out_ports:
            stream = output.stream
            if stream.offset is not None:
                if stream.bound > output.bound:  # max() costs a call  # noqa: PLR1730
                    output.bound = stream.bound
                promised = t + stream.offset
                if promised > output.bound and MIN <= t <= MAX:
                    output.bound = min(promised, MAX)

    def _prepare_open(self, node: Node) -> None:
        if self._is_failing:
            return
        node.state = OPENING
        step = node.step
        step.method = OPEN
        step.stamp = UNSTARTED
        step.call = node.call_open
        node.in_flight += 1
        self.busy += 1
        if node.in_order is not None:
            node.prepared.append(step)
        node.queue.push_open(node)

    def _prepare_close(self, node: Node) -> None:
        node.state = CLOSING
        step = node.step
        step.method = CLOSE
        step.stamp = DONE
        step.call = node.call_close
        step.is_done = False
        for port in step.in_ports:
            port.fill(Packet(timestamp=previous_allowed(DONE)))
        for output in step.out_ports:
            output.bound = max(output.bound, output.stream.bound)
            if output.stream.offset is not None:
                output.bound = DONE
        node.in_flight += 1
        self.busy += 1
        if node.in_order is not None:
            node.prepared.append(step)
        if node.is_source:
            node.queue.push_source(node, node.behind())
        else:
            node.queue.push(node)

    def _forward(self, node: Node, bound: int) -> None:
        """Forward a bound through a node with an offset that has nothing to do."""
        if not MIN <= bound <= MAX:
            return
        node.forwarded = bound
        for output in node.step.out_ports:
            stream = output.stream
            offset = stream.offset
            if offset is None or bound + offset <= stream.bound or stream.is_closed:
                continue
            promised = shifted(bound, offset)
            if promised > stream.bound:
                output.bound = promised
                self._send(output)
        if self._has_passed_on is not None:
            self._look_for_circles(node, self._has_passed_on)

    def _look_for_circles(self, node: Node, counts: dict[int, int]) -> None:
        """Raise bounds at once that a cycle of nodes with offsets would raise step by step."""
        counts[node.id] = count = counts.get(node.id, 0) + 1
        if count * len(counts) < leaps.WINDOW:
            return
        passing = [self.nodes[number] for number, count in counts.items() if count > 1]
        counts.clear()
        for number, bound in leaps.leap(self.streams, passing).items():
            writer = self.streams[number].node
            for output in writer.step.out_ports if writer is not None else ():
                if output.stream.id == number and bound > output.stream.bound:
                    output.bound = bound
                    self._send(output)

    # --- sources ------------------------------------------------------------------------------

    def _reschedule_source(self, node: Node, *, has_stopped: bool) -> None:
        if self._is_failing:
            return
        if has_stopped or self.is_stopping:
            self._prepare_close(node)
        elif not (self._limits_apply and self.flow.is_throttled(node.id)):
            self._prepare_source(node)

    def _prepare_source(self, node: Node) -> None:
        step = node.step
        step.stamp = 0
        if node.has_offset:
            self._raise_to_promise(step, 0)
        node.in_flight += 1
        self.busy += 1
        if node.in_order is not None:
            node.prepared.append(step)
        node.queue.push_source(node, node.behind())

    def _release_sources(self) -> None:
        """Let sources run again whose queues have drained."""
        freed = self.flow.freed
        while freed:
            source = freed.pop()
            if source < 0:
                self.has_news = True
                continue
            node = self.nodes[source]
            if (
                node.is_active
                and node.state == OPENED
                and not node.in_flight
                and not self._is_failing
                and not self.flow.is_throttled(source)
            ):
                self._reschedule_source(node, has_stopped=False)

    def _activate_layer(self) -> bool:
        """Start all waiting sources of the lowest layer; return whether any could be started."""
        lowest = min(node.layer for node in self._waiting_sources)
        blocker = next((n for n in self._sources if n.state < OPENED and n.layer < lowest), None)
        if blocker is not None:
            if not self._graph_inputs_open:
                waiting = next(n for n in self._waiting_sources if n.layer == lowest)
                self.fail_later(deadlock.layer_deadlock(waiting, blocker))
                return True
            return False
        now = [node for node in self._waiting_sources if node.layer == lowest]
        self._waiting_sources = [node for node in self._waiting_sources if node.layer != lowest]
        for node in now:
            node.is_active = True
            self._reschedule_source(node, has_stopped=False)
        return True

    # --- when nothing is left to do -----------------------------------------------------------

    def fail_later(self, error: PenstockError) -> None:
        """Record an error while the schedule is settling; the caller goes on settling."""
        self.errors.append(error)
        self._begin_to_fail()
        self.has_news = True

    def _go_on(self) -> bool:
        """Decide what an idle run does next; return whether anything has changed."""
        self.has_news = True
        if self._is_failing:
            return self._close_next()
        active = any(n.is_active and n.state in (OPENED, CLOSING) for n in self._sources)
        if not active and self._waiting_sources:
            if self._activate_layer():
                return True
        elif not active and not self._graph_inputs_open:
            if self.on_end is not None:
                self.on_end(self)
                self.on_end = None
            return self._close_next()
        return bool(self.flow.full) and self._is_stuck() and not self.waiting() and self._resolve_deadlock()

    def _close_next(self) -> bool:
        """Close the first node, upstream first, that is still open; with none left the run is over."""
        while self._closing < len(self.nodes):
            node = self.nodes[self._closing]
            if node.state == OPENED:
                self._prepare_close(node)
                return True
            self._closing += 1
        self.state = TERMINATED
        for stream in self.streams:
            self._close_stream(stream)
            for reader in stream.readers:
                reader.drop_all(NEVER_OPENED)  # a node that was opened has closed, and left nothing
        for node in self._touched:
            node.is_touched = False
        self._touched.clear()
        return False

    def _is_stuck(self) -> bool:
        """Return whether a source or graph input that has not ended waits because a queue is full."""
        return any(
            not self.streams[~source].is_closed if source < 0 else self.nodes[source].is_active
            for source in self.flow.throttled()
            if source < 0 or self.nodes[source].state == OPENED
        )

    def _resolve_deadlock(self) -> bool:
        """Raise the limit of every full queue that makes a source wait, or report a deadlock."""
        stuck = [queue for queue in self.flow.full.values() if queue.may_grow]
        if not stuck:
            return False
        if self._report_deadlock:
            self.fail_later(deadlock.queue_deadlock(stuck[0]))
            return True
        if self.on_stuck is not None:
            self.on_stuck(self, stuck)
        for queue in stuck:
            self.flow.set_limit(queue, len(queue.queue) + 1)
        return True


class _Application:
    """In place of an output's context: the application writes graph inputs at any time."""

    __slots__ = ()
    method = PROCESS
    stamp = 0


#: The context of graph inputs.
APPLICATION: Final = _Application()


def _is_late(output: Output) -> bool:
    return bool(output.packets) and output.stream.is_ordered and output.packets[0].stamp < output.stream.bound
