"""The driver's end of a remote node: what an executor needs to make its calculator elsewhere, and to call it.

The engine stays in the driver. A node that an executor has placed elsewhere has a `RemoteCalculator` here,
whose methods send a `Call` and write what the `Answer` says. Order, bounds, throttling, offsets and the ledger are
those of any other node.
"""

from __future__ import annotations

import importlib
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.engine.calculator import OPEN, STOP, Calculator
from penstock.engine.packet import NOTHING, Packet
from penstock.errors import GraphConfigError, InvalidArgumentError, PenstockError
from penstock.port_collection import port_name
from penstock.registry_entries import calculator_of, spelling
from penstock.runtime.calls import Answer, Call, Opening
from penstock.services import ServiceScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.contract import CalculatorContract
    from penstock.engine.calculator import CalculatorContext, Stop
    from penstock.engine.node import Step
    from penstock.plan import NodePlan, Plan

    #: Sends a call; returns the answer, or a future of it.
    Exchange = Callable[[Call], Answer | Future[Answer]]


class RemoteNode(NamedTuple):
    """All that the other end needs to make a node; plain data.

    Attributes:
        name: canonical name of the node.
        calculator: registered name of its calculator.
        code: "module:attribute" of the class, or of the function that it was made from.
        config: a graph of this node alone, serialized.
        inputs: each input port, as a user reads it.
        contract: the contract in words, a line for each thing that it says, to be compared.
        max_in_flight: how many calls of `process` may overlap.
    """

    name: str
    calculator: str
    code: str
    config: bytes
    inputs: tuple[str, ...]
    contract: tuple[str, ...]
    max_in_flight: int


def remote_node(node: NodePlan, plan: Plan) -> RemoteNode:
    """Describe a node for the other end.

    Raises:
        InvalidArgumentError: it cannot leave the driver: it asks for a service that belongs to the graph, or
            for a thread of a service, or its class cannot be imported elsewhere.
    """
    check_movable(node)
    alone = type(plan.config)()
    alone.package = plan.config.package
    message = alone.node.add()
    message.CopyFrom(plan.config.node[node.id])
    message.name = node.name
    for field in ("executor", "max_in_flight", "input_stream_info", "input_stream_handler"):
        message.ClearField(field)
    alone.input_stream.extend(dict.fromkeys(_own_inputs(message)))
    config: bytes = alone.SerializePartialToString(deterministic=True)
    code = spelling(node.factory)
    inputs = tuple(port_name(port.tag, port.index) for port in node.inputs)
    lines = contract_lines(node.contract)
    return RemoteNode(node.name, node.calculator, code, config, inputs, lines, node.max_in_flight)


def _own_inputs(node: Any) -> list[str]:
    """Give inputs that a node's own outputs feed another name, and return the names of all of them."""
    outputs = {entry.rpartition(":")[2] for entry in node.output_stream}
    names = []
    for number, entry in enumerate(node.input_stream):
        place, colon, name = entry.rpartition(":")
        while name in outputs:
            name += "_"
        node.input_stream[number] = place + colon + name
        names.append(name)
    return names


def check_movable(node: NodePlan) -> None:
    """Raise an error if a node cannot leave the driver.

    Raises:
        InvalidArgumentError: as `remote_node`.
    """
    contract = node.contract
    if contract.runs_on is not None and not contract.runs_if_there:
        raise InvalidArgumentError(
            f"node {node.name!r} runs on a thread of service {contract.runs_on.name!r}, which is in this "
            f"process; take executor {node.executor!r} off the node",
            node=node.name,
        )
    for key in contract.services:
        if key.scope is not ServiceScope.PROCESS:
            raise InvalidArgumentError(
                f"node {node.name!r} asks for service {key.name!r}, which belongs to the graph and stays in "
                f"this process; take executor {node.executor!r} off the node, or give the key "
                "scope=ServiceScope.PROCESS if each process may have its own",
                node=node.name,
            )
    code = spelling(node.factory)
    if find_code(code) is not node.factory:
        raise InvalidArgumentError(
            f"node {node.name!r}: calculator {node.calculator!r} ({code}) cannot be imported by another "
            "process; define it at the top of a module",
            node=node.name,
        )


def check_all_movable(plan: Plan, executor: str) -> None:
    """Raise an error if a node of an executor cannot leave the driver.

    Raises:
        GraphConfigError: carries the fault of each such node.
    """
    faults: list[PenstockError] = []
    for node in plan.nodes:
        if node.executor == executor:
            try:
                check_movable(node)
            except InvalidArgumentError as fault:
                faults.append(fault)
    if faults:
        raise GraphConfigError(faults, file=plan.file)


def find_code(code: str) -> object:
    """Return the calculator class at "module:attribute"; None where there is none."""
    module, _, path = code.partition(":")
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return None
    return calculator_of(found)


def contract_lines(contract: CalculatorContract) -> tuple[str, ...]:
    """Return what a contract says, in lines that are equal where two contracts are."""
    lines = [
        f"{what} {port_name(spec.tag, spec.index)}: {spec.type_name()}"
        for what, specs in (
            ("input", contract.inputs),
            ("output", contract.outputs),
            ("input side packet", contract.input_side_packets),
            ("output side packet", contract.output_side_packets),
        )
        for spec in specs
    ]
    lines.append(f"timestamp offset: {contract.timestamp_offset}")
    lines.append(f"process timestamp bounds: {contract.process_timestamp_bounds}")
    lines.append(f"is stateless: {contract.is_stateless}")
    return tuple(lines)


class RemoteCalculator(Calculator):
    """Stands for a calculator that is elsewhere.

    Args:
        exchange: sends a call to it.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange: Final = exchange

    def open(self, cc: CalculatorContext) -> Any:
        """Open the calculator at the other end."""
        return self._do(cc)

    def process(self, cc: CalculatorContext) -> Any:
        """Call `process` at the other end."""
        return self._do(cc)

    def close(self, cc: CalculatorContext) -> Any:
        """Close the calculator at the other end."""
        return self._do(cc)

    def _do(self, cc: Any) -> Stop | Future[Stop | None] | None:
        step: Step = cc
        answer = self._exchange(call_of(step))
        if isinstance(answer, Answer):
            return write(answer, step)
        return _Written(answer, step)


class _Written(Future["Stop | None"]):
    """Done when an answer has come and has been written to the outputs; cancelling asks the other end."""

    def __init__(self, answer: Future[Answer], step: Step) -> None:
        super().__init__()
        self._answer: Final = answer
        self._step: Final = step
        self.set_running_or_notify_cancel()  # the call has begun: it ends when the other end says so
        answer.add_done_callback(self._come)

    def cancel(self) -> bool:
        return self._answer.cancel()

    def _come(self, answer: Future[Answer]) -> None:
        try:
            outcome = write(answer.result(), self._step)
        except BaseException as error:  # noqa: BLE001  # the step's error, cancellation included
            self.set_exception(error)
        else:
            self.set_result(outcome)


def call_of(step: Step) -> Call:
    """Return what a step asks for, as data."""
    inputs: list[Any] = []
    for port in step.in_ports:
        packet = port.packet
        value = packet.value
        inputs.append((packet.stamp, port.done) if value is NOTHING else (packet.stamp, port.done, value))
    bounds = [output.bound for output in step.out_ports]
    if step.method != OPEN:
        return Call(step.method, step.stamp, inputs, bounds)
    ports = step.input_side_packets
    sides = [(tag, index, packet.payload) for (tag, index), packet in zip(ports.ids(), ports, strict=True)]
    headers = [() if port.header.is_empty() else (port.header.payload,) for port in step.in_ports]
    ordered = [output.stream.is_ordered for output in step.out_ports]
    return Call(step.method, step.stamp, inputs, bounds, Opening(sides, headers, ordered))


def write(answer: Answer, step: Step) -> Stop | None:
    """Write what a call did at the other end to the outputs of a step; return what `process` returns.

    Raises:
        PenstockError: the outputs refuse it, as they would refuse the calculator itself.
    """
    if answer.more:
        _write_more(answer.more, step)
    for output, written in zip(step.out_ports, answer.outputs, strict=True):
        if written is None:
            continue
        packets, bound, is_closed = written
        for stamp, payload in packets:
            output.add_packet(Packet(payload, stamp))
        if is_closed:
            output.close()
        elif bound > output.bound:
            output.set_next_timestamp_bound(bound)
    return STOP if answer.is_stop else None


def _write_more(more: dict[str, Any], step: Step) -> None:
    node = step.node
    for number, offset in more.get("offsets", {}).items():
        step.out_ports[number].stream.offset = offset
    for number, payload in more.get("headers", {}).items():
        step.out_ports[number].set_header(Packet(payload))
    if "process_bounds" in more:
        step.set_process_timestamp_bounds(more["process_bounds"])
    for name, payload in more.get("side_packets", {}).items():
        next(port for port in step.output_side_packets if port.name == name).set(payload)
    for name, increase in more.get("counters", {}).items():
        node.services.counter(node, name).increment_by(increase)
    for number, reason, count in more.get("dropped", ()):
        step.in_ports[number].count_dropped(reason, count)
