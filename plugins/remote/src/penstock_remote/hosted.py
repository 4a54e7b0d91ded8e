"""The other end of a remote node: its calculator, called with data.

The calculator sees what it would see in the driver: a real `Step` with real `Input`s and `Output`s, so that a
mistake raises at the line that made it. There is no engine here: the driver decides when a method is called,
with which packets and bounds.
"""

from __future__ import annotations

import threading
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from penstock import Packet, ServiceKey
from penstock.config import CalculatorGraphConfig, build_plan
from penstock.errors import FailedPreconditionError
from penstock.lowlevel import CLOSE, DONE, NO_PAYLOAD, OPEN
from penstock.ports import port_name
from penstock.runs import Counters, checked_side_packets, find_services, new_run
from penstock_remote.awaiting import Awaiting
from penstock_remote.calls import Answer
from penstock_remote.description import check_same, code_here, contract_lines
from penstock_remote.increases import Increases

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Registry
    from penstock.lowlevel import Node, Plan
    from penstock.runs import Step
    from penstock_remote.calls import Call, Opening, Written
    from penstock_remote.description import RemoteNode


#: Fields of what an input shows where there is a packet.
_WITH_PAYLOAD: Final = 3


class HostedNode:
    """One node of a driver's graph, made here. A run of the driver opens it, calls it and closes it.

    Args:
        node: what the driver says of it.
        registry: finds the options of the node by name.
        services: those of this process; receives those that the node needs and their keys make.
        allocate: given the shape and dtype, makes the array that `Output.empty` returns; None: ordinary
            memory.
        code: the calculator, where the description cannot be followed here; None: found by its name.

    Raises:
        InvalidArgumentError: there is no such calculator here, or its contract is another one than that in
            the driver; names what differs.
        GraphConfigError: the node cannot be made here.
    """

    def __init__(
        self,
        node: RemoteNode,
        registry: Registry,
        services: dict[ServiceKey[Any], object] | None = None,
        allocate: Callable[[Any, Any], Any] | None = None,
        code: object = None,
    ) -> None:
        names = registry.child()
        names.add("calculator", node.calculator, code_here(node.name, node.code, code))
        config = CalculatorGraphConfig()
        config.MergeFromString(node.config)
        config.node[0].max_in_flight = node.max_in_flight
        #: Canonical name of the node in the driver.
        self.name: Final = node.name
        self._plan: Final = build_plan(config, names)
        #: Each output port, as a user reads it.
        self.outputs: Final = tuple(port_name(port.tag, port.index) for port in self._plan.nodes[0].outputs)
        check_same(node.name, node.code, node.contract, contract_lines(self._plan.nodes[0].contract))
        self._services: Final = {} if services is None else services
        self._allocate: Final = allocate
        self._awaiting: Final = Awaiting()
        self._lock: Final = threading.Lock()
        self._opened: _Opened | None = None

    def call(self, call: Call) -> Answer:
        """Do what the driver asks for. Calls of `process` may overlap if `max_in_flight` is above 1.

        Raises:
            Exception: what the calculator raises.
        """
        if call.opening is not None:
            self._opened = _Opened(self._plan, call.opening, self._services, self._allocate)
        opened = self._opened
        if opened is None:
            raise FailedPreconditionError("a hosted node must be opened before it is called")
        with self._lock:
            step = opened.take_step(call)
        began = perf_counter_ns()
        try:
            is_stop = self._awaiting.call(step)
            busy_ns = perf_counter_ns() - began
            with self._lock:
                return opened.answer(step, call, is_stop=is_stop, busy_ns=busy_ns)
        finally:
            with self._lock:
                opened.give_back(step)
            if call.method == CLOSE:
                self._opened = None

    def cancel(self) -> None:
        """Cancel what the calls under way wait for: coroutines and futures. From any thread."""
        self._awaiting.cancel()

    def close(self, timeout: float | None = None) -> bool:
        """End the loop of coroutines; return whether its thread has ended."""
        return self._awaiting.close(timeout)


def with_copies(services: dict[ServiceKey[Any], object], opening: Opening) -> dict[ServiceKey[Any], object]:
    """Return the services of this process, and over them the copies that came with a call."""
    return {**services, **{ServiceKey[Any](name): copy for name, copy in opening.services}}


class _Opened:
    """The calculator of one run of the driver, with all that its steps use. Called under the node's lock."""

    #: As `Schedule.is_stopping`, which a node elsewhere does not hear of before it is closed.
    is_stopping: Final = False
    #: As `Schedule.errors`.
    errors: Final[tuple[Exception, ...]] = ()

    def __init__(
        self,
        plan: Plan,
        opening: Opening,
        services: dict[ServiceKey[Any], object],
        allocate: Callable[[Any, Any], Any] | None,
    ) -> None:
        node_plan = plan.nodes[0]
        names = {(port.tag, port.index): port.name for port in node_plan.input_side_packets}
        given = {names[tag, index]: payload for tag, index, payload in opening.side_packets}
        self._counters: Final = Counters()
        found = find_services(plan, with_copies(services, opening))
        services.update(found.made)
        run = new_run(plan, checked_side_packets(plan, given), found, counters=self._counters)
        run.services.change = self._note
        run.services.allocate = allocate
        self._contract: Final = node_plan.contract
        self._node: Final[Node] = run.schedule.nodes[0]
        for reader, header in zip(self._node.inputs, opening.headers, strict=True):
            if header:
                reader.header = Packet(header[0])
        for stream, is_ordered in zip(self._node.outputs, opening.ordered, strict=True):
            stream.is_ordered = is_ordered
        self._spare: Final = [self._node.step]
        self._counted: Final = Increases[str]()
        self._lost: Final = {"dropped": Increases[tuple[int, str]](), "cut": Increases[tuple[int, str]]()}
        self._unwritten: Final = Increases[tuple[int, str]]()
        self._side_packets: dict[str, object] = {}

    def take_step(self, call: Call) -> Step:
        """Return a step that shows what a call shows."""
        node = self._node
        step = self._spare.pop() if self._spare else node.new_step(node)
        step.method = call.method
        step.stamp = call.stamp
        step.call = (node.open, node.process, node.close)[call.method]
        for port, shown in zip(step.in_ports, call.inputs, strict=True):
            port.done = shown[1]
            if len(shown) == _WITH_PAYLOAD:
                port.packet = Packet(shown[2], shown[0])
                port.stream.delivered += 1
            else:
                port.packet = Packet(NO_PAYLOAD, shown[0])
        for output, bound in zip(step.out_ports, call.bounds, strict=True):
            output.bound = bound
            output.stream.is_closed = bound == DONE
        return step

    def give_back(self, step: Step) -> None:
        """Take a step back whose call is over; packets that it wrote and did not send are dropped."""
        step.clear_inputs()
        for output in step.out_ports:
            output.packets.clear()
            output.will_close = False
        self._spare.append(step)

    def answer(self, step: Step, call: Call, *, is_stop: bool, busy_ns: int) -> Answer:
        """Return what a call did, and what has been counted since the last answer."""
        outputs: list[Written | None] = []
        is_rare = call.method == OPEN or bool(self._side_packets)
        for output, before in zip(step.out_ports, call.bounds, strict=True):
            written = output.packets
            if written:
                output.stream.added += len(written)
                packets = [(packet.stamp, packet.value) for packet in written]
                outputs.append((packets, output.bound, output.will_close))
            elif output.will_close or output.bound != before:
                outputs.append(([], output.bound, output.will_close))
            else:
                outputs.append(None)
        if any(stream.dropped or stream.cut for stream in self._node.inputs):
            is_rare = True
        if any(output.stream.dropped for output in step.out_ports):
            is_rare = True
        values = self._counters.values()
        more = self._more(step, call.method, values) if is_rare or values else None
        return Answer(outputs, is_stop, busy_ns, more or None)

    def _more(self, step: Step, method: int, values: dict[str, int]) -> dict[str, Any]:
        more: dict[str, Any] = self._opened() if method == OPEN else {}
        start = len(step.node.name) + 1  # a counter is called "<node>-<name>"
        counters = {name[start:]: increase for name, increase in self._counted.of(values).items()}
        if counters:
            more["counters"] = counters
        for what, increases in self._lost.items():
            counts = {
                (number, reason): count
                for number, stream in enumerate(self._node.inputs)
                for reason, count in getattr(stream, what).items()
            }
            lost = [(*key, increase) for key, increase in increases.of(counts).items()]
            if lost:
                more[what] = lost
        unwritten = {
            (number, reason): count
            for number, output in enumerate(step.out_ports)
            for reason, count in output.stream.dropped.items()
        }
        lost = [(*key, increase) for key, increase in self._unwritten.of(unwritten).items()]
        if lost:
            more["unwritten"] = lost
        if self._side_packets:
            more["side_packets"] = self._side_packets
            self._side_packets = {}
        return more

    def _opened(self) -> dict[str, Any]:
        """Return what only `open` may change."""
        more: dict[str, Any] = {}
        outputs = list(enumerate(self._node.outputs))
        offset = self._contract.timestamp_offset
        offsets = {number: stream.offset for number, stream in outputs if stream.offset != offset}
        headers = {n: stream.header.payload for n, stream in outputs if not stream.header.is_empty()}
        bounds = self._node.policy.process_bounds
        if offsets:
            more["offsets"] = offsets
        if headers:
            more["headers"] = headers
        if bounds != self._contract.process_timestamp_bounds:
            more["process_bounds"] = bounds
        return more

    def _note(self, event: Callable[[Any], object]) -> None:
        """Apply to this object what would be applied to the schedule of a run."""
        event(self)

    def set_side_packet(self, name: str, packet: Packet) -> None:
        """Note a side packet that the node has made; as `Schedule.set_side_packet`."""
        self._side_packets[name] = packet.value
