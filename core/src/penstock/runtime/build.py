"""Makes the engine of one run from a plan: new calculators, nodes, streams and queues."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.engine.flow import FlowControl
from penstock.engine.input_port import Input
from penstock.engine.node import CLOSED, Node
from penstock.engine.output_port import Output, OutputSidePacket
from penstock.engine.schedule import Schedule
from penstock.engine.scheduler_queue import ReadyQueue
from penstock.engine.shortcuts import ShortSchedule
from penstock.engine.step import Step
from penstock.engine.stream import UNLIMITED, InputStream, OutputStream, StreamObserver
from penstock.errors import CalculatorError, PenstockError, field_of
from penstock.port_collection import Ports
from penstock.runtime.placing import NodePlacing
from penstock.runtime.side_packets import NO_SIDE_PACKETS, SidePacketLayer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.engine.calculator import NodeServices
    from penstock.engine.guard import Guard
    from penstock.engine.layer import Layer
    from penstock.engine.packet import Packet
    from penstock.plan import NodePlan, Plan, PortPlan, SidePortPlan
    from penstock.runtime.executors.graph_executors import Placed
    from penstock.runtime.side_packets import ConstantOutputs, SidePackets
    from penstock.runtime.tracing import Tracing

#: Whether runs are made with the short cuts of `engine.shortcuts` and `runner.shortcuts`. They change no
#: result; turn them off to see whether an error comes from them.
TAKES_SHORT_CUTS: Final = os.environ.get("PENSTOCK_SHORTCUTS") != "0"
#: The place of a port without tag that is the only one.
_ONLY: Final = (("", 0),)
_NO_OUTPUT_SIDE_PACKETS: Final[Ports[OutputSidePacket]] = Ports("output side packet", (), ())


class RunBuilder:
    """Makes the schedule of one run from its parts, which `new_run` describes."""

    def __init__(  # noqa: PLR0913  # made in one place only
        self,
        plan: Plan,
        services: NodeServices,
        side_packets: SidePackets,
        constants: ConstantOutputs,
        placed: Placed,
        *,
        is_timed: bool,
        tracing: Tracing | None = None,
    ) -> None:
        self._plan: Final = plan
        self._services: Final = services
        self._side_packets: Final = side_packets
        self._constants: Final = constants
        self._placed: Final = placed
        self._is_timed: Final = is_timed
        self._tracing: Final = tracing
        self._nodes: dict[int, Node] = {}
        self._by_key: list[Node] = []
        self._queues = [ReadyQueue(name, self._by_key) for name in placed.names]
        #: Of each queue. A run without executors has its calculators here.
        self._placings = [NodePlacing(one) for one in placed.executors] or [NodePlacing(None)] * len(
            placed.names
        )
        self._flow = FlowControl() if tracing is None else tracing.flow()
        self._streams = [OutputStream(s.id, s.name, s.classes, s.type_name) for s in plan.streams]

    def build(self, observers: Mapping[int, Sequence[StreamObserver]], limits: Mapping[int, int]) -> Schedule:
        """Return the schedule, not started. Raises CalculatorError as `new_run`."""
        plan = self._plan
        readers: list[list[InputStream]] = [[] for _ in plan.streams]
        for node_plan in plan.nodes:
            self._nodes[node_plan.id] = self._make_node(node_plan, readers)
        for stream, reading, throttles in zip(self._streams, readers, plan.throttled, strict=True):
            stream.readers = tuple(reading)
            stream.observers = tuple(observers.get(stream.id, ()))
            stream.is_ordered = not reading
            limit = limits.get(stream.id, plan.max_queue_size)
            for reader in reading:
                reader.throttles = throttles
                self._flow.set_limit(reader, UNLIMITED if limit < 0 else limit)
                if reader.node is None or not reader.node.policy.ignores_timestamps:
                    stream.is_ordered = True
            for observer in stream.observers:
                observer.throttles = throttles
        self._by_key.extend(self._nodes[node_plan.id] for node_plan in reversed(plan.nodes))
        for key, node in enumerate(self._by_key):
            node.ready_key = key
        schedule = (ShortSchedule if TAKES_SHORT_CUTS else Schedule)(
            [self._nodes[n.id] for n in plan.nodes],
            self._streams,
            plan.graph_inputs,
            self._flow,
            self._queues,
            report_deadlock=plan.report_deadlock,
            sources_wait=plan.max_queue_size >= 0,
        )
        if self._tracing is not None:
            self._tracing.watch_inputs(schedule)
        self._await_side_packets(schedule)
        return schedule

    def _make_node(self, plan: NodePlan, readers: list[list[InputStream]]) -> Node:
        queue = self._placed.queue_of[plan.id]
        placing = self._placings[queue]
        guard = None if plan.failure is None else plan.failure.guard(plan, self._plan, placing)
        stand_in = placing.stand_in(plan, self._plan)
        try:
            calculator = plan.factory() if stand_in is None else stand_in
            policy = plan.handler.factory(plan.handler.options)
        except Exception as error:
            raise CalculatorError(plan.name, plan.calculator, "__init__", error) from error
        node = Node(
            plan.id,
            plan.name,
            plan.calculator,
            calculator,
            policy,
            self._queues[queue],
            self._services,
            plan.source_layer,
            plan.max_in_flight,
        )
        policy.process_bounds = plan.contract.process_timestamp_bounds
        inputs = tuple([self._reader(node, port, readers) for port in plan.inputs])
        outputs = tuple([self._streams[port.stream] for port in plan.outputs])
        for stream in outputs:
            stream.node = node
            stream.offset = plan.contract.timestamp_offset
        if plan.failure is not None and plan.failure.error_stream:
            outputs[-1].offset = 0  # settled as far as the inputs are
        try:
            node.connect(inputs, outputs, partial(_make_step, plan))
        except Exception as error:
            if isinstance(error, PenstockError) and field_of(error, "node", str):  # its message has the name
                raise
            raise CalculatorError(plan.name, plan.handler.name, "prepare", error) from error
        node.awaiting = len(inputs) - sum([port.back_edge for port in plan.inputs])
        layers = self._layers(plan, node, guard)
        if layers:
            node.put_around(*layers)
        return node

    def _layers(self, plan: NodePlan, node: Node, guard: Guard | None) -> list[Layer]:
        """Return what stands around the calculator of a node, as `penstock.engine.layer` says."""
        layers: list[Layer] = []
        if self._is_timed or self._tracing is not None:
            from penstock.runtime.tracing import watching  # most runs do not need it

            layers = watching(node, self._tracing, is_timed=self._is_timed)
        if plan.input_side_packets:
            layers.append(SidePacketLayer(self._side_packets, plan))
        if guard is not None:
            layers.append(guard)
        return layers

    def _reader(self, node: Node, port: PortPlan, readers: list[list[InputStream]]) -> InputStream:
        name = self._streams[port.stream].name
        if self._tracing is None:
            reader = InputStream(name, node, self._flow, is_back_edge=port.back_edge)
        else:
            reader = self._tracing.stream(name, node, self._flow, is_back_edge=port.back_edge)
        reader.is_watched = node.policy.sees_every_packet
        readers[port.stream].append(reader)
        return reader

    def _await_side_packets(self, schedule: Schedule) -> None:
        """Let nodes wait for side packets that other nodes make, except those that earlier runs have made."""
        recalled: dict[str, Packet] = {}
        for plan in self._plan.nodes:
            made = None
            if not plan.inputs and not plan.outputs:
                made = self._constants.recall(plan, self._side_packets)
            if made is not None:
                self._nodes[plan.id].state = CLOSED
                recalled.update(made)
        self._side_packets.made.update(recalled)
        for plan in self._plan.nodes:
            for port in plan.input_side_packets:
                if port.produced and port.name not in recalled:
                    schedule.side_readers.setdefault(port.name, []).append(self._nodes[plan.id])
                    self._nodes[plan.id].awaiting += 1


def _make_step(plan: NodePlan, node: Node) -> Step:
    """Return a new step of a node, which needs only one unless calls of `process` overlap."""
    step = Step(node)
    inputs = [Input(stream) for stream in node.inputs]
    outputs = [Output(stream, step) for stream in node.outputs]
    step.connect(Ports("input", _ids(plan.inputs), inputs), Ports("output", _ids(plan.outputs), outputs))
    if plan.failure is not None and plan.failure.error_stream:  # the calculator does not see it
        step.outputs = Ports("output", _ids(plan.outputs[:-1]), outputs[:-1])
    step.output_side_packets = _NO_OUTPUT_SIDE_PACKETS
    sides = plan.output_side_packets
    if sides:
        ports = [OutputSidePacket(step, port.name, port.classes, port.type_name) for port in sides]
        step.output_side_packets = Ports("output side packet", _ids(sides), ports)
    first: Step | None = getattr(node, "step", None) if plan.input_side_packets else None
    step.input_side_packets = NO_SIDE_PACKETS if first is None else first.input_side_packets
    return step


def _ids(ports: Sequence[PortPlan | SidePortPlan]) -> tuple[tuple[str, int], ...]:
    if len(ports) == 1 and not ports[0].tag:  # as most nodes have it
        return _ONLY
    return tuple([(port.tag, port.index) for port in ports])
