"""Makes the `Plan` of a graph that was checked: numbers instead of names, types as classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.check.failure_layer import ERROR_STREAM
from penstock.payload_types import runtime_classes
from penstock.plan import NodePlan, Plan, PortPlan, SidePortPlan, StreamPlan, plan_throttling
from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.check.edges import Wiring
    from penstock.check.nodes import Draft
    from penstock.check.port_types import PortTypes
    from penstock.check.spec import GraphSpec
    from penstock.contract import PortSpec
    from penstock.plan import ExecutorPlan, HandlerPlan
    from penstock.port_tags import TagMap

#: Packets per input stream. Source: MediaPipe `CalculatorGraph`.
DEFAULT_QUEUE_SIZE: Final = 100


class Checked(NamedTuple):
    """The results of the checks, for a graph without faults."""

    graph: GraphSpec
    graph_inputs: TagMap
    #: In the order of the plan.
    drafts: Sequence[Draft]
    #: One for each draft.
    handlers: Sequence[HandlerPlan]
    executors: tuple[ExecutorPlan, ...]
    wiring: Wiring
    types: PortTypes
    #: What the plan keeps: a message, or a `LateMessage`.
    config: Any
    #: Knows the options in `config`; None where nothing does.
    option_types: Any


def assemble(checked: Checked) -> Plan:
    """Return the plan of a graph without faults."""
    graph = checked.graph
    ids = _stream_ids(checked)
    nodes = tuple(_node(i, checked, ids) for i in range(len(checked.drafts)))
    graph_inputs = len(checked.graph_inputs)
    hints = [node.buffer_size_hint or -1 for node in graph.nodes]
    return Plan(
        nodes=nodes,
        streams=_streams(checked, nodes, ids),
        graph_inputs=graph_inputs,
        executors=checked.executors,
        throttled=plan_throttling(nodes, len(ids), graph_inputs),
        max_queue_size=max([graph.max_queue_size.value or DEFAULT_QUEUE_SIZE, *hints]),  # -1 is none at all
        report_deadlock=graph.report_deadlock,
        config=checked.config,
        stream_ids=ids,
        file=graph.file,
        option_types=checked.option_types,
        declared_side_packets=frozenset(one.text.rpartition(":")[2] for one in graph.input_side_packets),
    )


def _stream_ids(checked: Checked) -> dict[str, int]:
    """Return the number of each stream: graph inputs first, then the outputs of each node."""
    names = [port.name for port in checked.graph_inputs]
    names += [port.name for draft in checked.drafts for port in (*draft.outputs, *draft.error_streams)]
    return {name: i for i, name in enumerate(names)}


def _streams(checked: Checked, nodes: tuple[NodePlan, ...], ids: dict[str, int]) -> tuple[StreamPlan, ...]:
    writer = {port.stream: node.id for node in nodes for port in node.outputs}
    plans = []
    for name, i in ids.items():
        spec = checked.wiring.streams[name].spec
        classes, type_name = _class_and_name(checked, spec)
        plans.append(StreamPlan(i, name, writer.get(i), classes, type_name, checked.types.of(spec) or ()))
    return tuple(plans)


def _node(i: int, checked: Checked, streams: dict[str, int]) -> NodePlan:
    draft = checked.drafts[i]
    spec, contract = draft.spec, draft.contract
    return NodePlan(
        id=i,
        name=draft.name,
        calculator=spec.calculator.text,
        factory=draft.factory,
        contract=contract,
        options=spec.options,
        inputs=tuple(
            [
                PortPlan(port.tag, port.index, streams[port.name], j in draft.back_edges)
                for j, port in enumerate(draft.inputs)
            ]
        ),
        outputs=(
            *[PortPlan(port.tag, port.index, streams[port.name]) for port in draft.outputs],
            *[PortPlan(ERROR_STREAM, 0, streams[port.name]) for port in draft.error_streams],
        ),
        input_side_packets=tuple(
            [
                _side_port(checked, one, produced=one.name in checked.wiring.side_packets)
                for one in contract.input_side_packets
            ]
        ),
        output_side_packets=tuple([_side_port(checked, one) for one in contract.output_side_packets]),
        handler=checked.handlers[i],
        executor=spec.executor.text,
        source_layer=spec.source_layer,
        # A source has one call at a time, whatever the file says.
        max_in_flight=1 if draft.is_source else spec.max_in_flight.value or 1,
        failure=draft.failure,
    )


def _side_port(checked: Checked, spec: PortSpec, *, produced: bool = False) -> SidePortPlan:
    classes, type_name = _class_and_name(checked, spec)
    return SidePortPlan(spec.tag, spec.index, spec.name, classes, type_name, spec.is_optional, produced)


def _class_and_name(checked: Checked, spec: PortSpec) -> tuple[tuple[type, ...] | None, str]:
    types = checked.types.of(spec)
    return (None if types is None else runtime_classes(types)), checked.types.name_of(spec)
