"""Graphs in a few lines of Python: nodes, wired to a plan without a registry or text.

For tests of the code that runs graphs. The result is the same `Plan` that a checked graph file becomes, but
little is checked here: a test with a wrong graph fails, and applications use `CalculatorGraph`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from penstock import CalculatorContract
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.lowlevel import NodePlan, Plan
from penstock.ports import TaggedPort, TagMap
from penstock.runs import ExecutorPlan, HandlerPlan, PortPlan, SidePortPlan, StreamPlan, plan_throttling
from penstock.types import runtime_classes
from penstock_testing.one_set import OneSetInputStreamHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Calculator, InputStreamHandler
    from penstock.ports import PortSpec, PortSpecs

    #: Ports as in a graph: a sequence, or a string with blanks between them ("frames MASK:0:mask").
    PortList: TypeAlias = str | Sequence[str]


@attrs.frozen(eq=False)
class NodeLine:
    """One node of `wired`; made by `node`."""

    calculator: type[Calculator]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str
    side_inputs: tuple[str, ...]
    side_outputs: tuple[str, ...]
    back_edges: frozenset[str]
    handler: type[InputStreamHandler]
    options: tuple[object, ...]
    executor: str
    layer: int
    max_in_flight: int


def node(  # noqa: PLR0913  # each is one thing that a node can have
    calculator: type[Calculator],
    inputs: PortList = (),
    outputs: PortList = (),
    *,
    name: str = "",
    side_inputs: PortList = (),
    side_outputs: PortList = (),
    back_edges: PortList = (),
    handler: type[InputStreamHandler] = OneSetInputStreamHandler,
    options: Sequence[object] = (),
    executor: str = "",
    layer: int = 0,
    max_in_flight: int = 1,
) -> NodeLine:
    """Describe a node for `wired`.

    Args:
        calculator: the class.
        inputs: ports as in a graph, "name" or `"TAG:index:name"`.
        outputs: ports likewise.
        side_inputs: side packets likewise.
        side_outputs: side packets likewise.
        name: of the node; by default the class's, numbered where several have it.
        back_edges: names of input streams that close a cycle.
        handler: the input stream handler.
        options: options messages, at most one of each class.
        executor: name of the executor.
        layer: the source layer.
        max_in_flight: how many calls of `process` may overlap.
    """
    return NodeLine(
        calculator=calculator,
        inputs=_ports(inputs),
        outputs=_ports(outputs),
        name=name,
        side_inputs=_ports(side_inputs),
        side_outputs=_ports(side_outputs),
        back_edges=frozenset(_ports(back_edges)),
        handler=handler,
        options=tuple(options),
        executor=executor,
        layer=layer,
        max_in_flight=max_in_flight,
    )


def wired(
    *nodes: NodeLine, inputs: PortList = (), max_queue_size: int = 100, report_deadlock: bool = False
) -> Plan:
    """Connect nodes to a plan.

    Args:
        nodes: upstream first; only a back edge may name a stream of a later node.
        inputs: names of the graph inputs.
        max_queue_size: packets per input stream; -1 for no limit.
        report_deadlock: whether a deadlock of full queues is an error.

    Raises:
        NotFoundError: a stream is read that nothing above writes.
        InvalidArgumentError: a stream is written twice.
        Whatever a `get_contract` raises.
    """
    return _Wiring(nodes, _ports(inputs)).plan(max_queue_size, report_deadlock)


class _Wiring:
    """Numbers nodes and streams, and asks for contracts."""

    def __init__(self, nodes: Sequence[NodeLine], inputs: tuple[str, ...]) -> None:
        self._nodes: Final = nodes
        self._inputs: Final = inputs
        self._names: Final = _unique_names(nodes)
        self._producer: dict[str, int | None] = dict.fromkeys(inputs)
        for number, line in enumerate(nodes):
            for port in TagMap(line.outputs):
                if port.name in self._producer:
                    raise InvalidArgumentError(
                        f"stream {port.name!r} is written by two outputs of the wired nodes"
                    )
                self._producer[port.name] = number
        self._ids: Final = {name: number for number, name in enumerate(self._producer)}
        self._made: Final = {port.name for line in nodes for port in TagMap(line.side_outputs)}
        self._writers: dict[str, PortSpec] = {}
        #: Stream → what its readers declare.
        self._readers: dict[str, list[PortSpec]] = {name: [] for name in self._ids}

    def plan(self, max_queue_size: int, report_deadlock: bool) -> Plan:  # noqa: FBT001
        nodes = tuple(self._node(number, line) for number, line in enumerate(self._nodes))
        executors = dict.fromkeys(["", *(line.executor for line in self._nodes)])
        return Plan(
            nodes=nodes,
            streams=tuple(self._stream(name) for name in self._ids),
            graph_inputs=len(self._inputs),
            executors=tuple(ExecutorPlan(name, "", GivenOptions(())) for name in executors),
            throttled=plan_throttling(nodes, len(self._ids), len(self._inputs)),
            max_queue_size=max_queue_size,
            report_deadlock=report_deadlock,
            config=None,
            stream_ids=self._ids,
        )

    def _node(self, number: int, line: NodeLine) -> NodePlan:
        options = GivenOptions(line.options)
        reads, writes = TagMap(line.inputs), TagMap(line.outputs)
        side_reads, side_writes = TagMap(line.side_inputs), TagMap(line.side_outputs)
        contract = CalculatorContract(self._names[number], reads, writes, side_reads, side_writes, options)
        line.calculator.get_contract(contract)
        for port, spec in zip(reads, contract.inputs, strict=True):
            self._check_producer(number, line, port.name)
            self._readers[port.name].append(spec)
        self._writers.update((port.name, spec) for port, spec in zip(writes, contract.outputs, strict=True))
        return NodePlan(
            id=number,
            name=self._names[number],
            calculator=line.calculator.__name__,
            factory=line.calculator,
            contract=contract,
            options=options,
            inputs=tuple(self._port(port, line.back_edges) for port in reads),
            outputs=tuple(self._port(port) for port in writes),
            input_side_packets=self._sides(side_reads, contract.input_side_packets),
            output_side_packets=self._sides(side_writes, contract.output_side_packets),
            handler=HandlerPlan(line.handler.__name__, line.handler, options),
            executor=line.executor,
            source_layer=line.layer,
            max_in_flight=line.max_in_flight,
        )

    def _port(self, port: TaggedPort, back_edges: frozenset[str] = frozenset()) -> PortPlan:
        return PortPlan(port.tag, port.index, self._ids[port.name], port.name in back_edges)

    def _check_producer(self, number: int, line: NodeLine, stream: str) -> None:
        writer = self._producer.get(stream)
        is_above = stream in self._ids and (writer is None or writer < number)
        if not is_above and not (stream in self._ids and stream in line.back_edges):
            raise NotFoundError(
                f"node {self._names[number]!r} of the wired nodes reads stream {stream!r}, which no input "
                "and no node above it writes; give nodes upstream first, and name back edges",
                node=self._names[number],
                stream=stream,
            )

    def _sides(self, ports: TagMap, specs: PortSpecs) -> tuple[SidePortPlan, ...]:
        return tuple(
            SidePortPlan(
                port.tag,
                port.index,
                port.name,
                _classes(spec),
                spec.type_name(),
                optional=spec.is_optional,
                produced=port.name in self._made,
            )
            for port, spec in zip(ports, specs, strict=True)
        )

    def _stream(self, name: str) -> StreamPlan:
        spec = self._writers.get(name) or next(iter(self._readers[name]), None)
        return StreamPlan(
            id=self._ids[name],
            name=name,
            producer=self._producer[name],
            classes=None if spec is None else _classes(spec),
            type_name="any type" if spec is None else spec.type_name(),
        )


class GivenOptions:
    """The options of a node as a test gives them: messages, found by their class."""

    def __init__(self, messages: Sequence[object]) -> None:
        self._by_class: Final = {type(message): message for message in messages}

    def get(self, message_type: type[Any]) -> Any:
        """Return the message of this class, or a fresh one."""
        return self._by_class.get(message_type) or message_type()

    def has(self, message_type: type[Any]) -> bool:
        """Return whether there is a message of this class."""
        return message_type in self._by_class

    def are_given(self) -> bool:
        """Return whether there is any message."""
        return bool(self._by_class)


def _ports(ports: PortList) -> tuple[str, ...]:
    return tuple(ports.split()) if isinstance(ports, str) else tuple(ports)


def _classes(spec: PortSpec) -> tuple[type, ...] | None:
    return runtime_classes(spec.root().types)


def _unique_names(nodes: Sequence[NodeLine]) -> list[str]:
    """Return canonical names: those that several nodes would have are numbered from 1."""
    bases = [line.name or line.calculator.__name__ for line in nodes]
    total, seen = Counter(bases), Counter[str]()
    names = []
    for base in bases:
        seen[base] += 1
        names.append(base if total[base] == 1 else f"{base}_{seen[base]}")
    return names
