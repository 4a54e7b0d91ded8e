"""Regions: neighbours that share a process, run there as one graph; which nodes can, and the plan with them.

In the driver a region is one node. Its inputs are the streams that enter the region, its outputs those that
leave it; packets between its nodes never leave their process. `penstock_remote.hosted_region` is the other
end, `penstock_remote.region_stand_in` this one.

A node stays a node of its own, in the same process, where a region could change what it does:

- its policy decides by the order of arrival, or drops: a region hands over one input set after the other,
  and packets that wait for it wait in front of the region;
- it has a failure policy, or several objects;
- it is a source, and something else enters the region;
- it closes a cycle that leaves the region: `close` of a region is one call;
- another node stands between it and the region: two regions come of that.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import CalculatorContract, InputStreamHandler
from penstock.lowlevel import HandlerPlan, NodePlan, Plan, PortPlan, SidePortPlan, TagMap
from penstock_remote.region_policy import RegionInputStreamHandler

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

#: What the node of a region has for the name of its calculator.
REGION: Final = "Region"
#: From so many nodes on, the name of a region has only the first and the last of them.
_MANY: Final = 4


class Region(NamedTuple):
    """The nodes of a region, and its streams. The `options` of its node in the plan.

    Attributes:
        nodes: in topological order, as they were in the plan without regions.
        entering, leaving: the names of its streams, in the order of the ports of its node.
        inner: numbers of the streams that no other node reads, and nobody observes.
        side_packets: names of its input side packets, in the order of the ports of its node.
        config: a graph of its nodes alone, as a message.
    """

    nodes: tuple[NodePlan, ...]
    entering: tuple[str, ...]
    leaving: tuple[str, ...]
    inner: tuple[int, ...]
    side_packets: tuple[str, ...]
    config: Any

    def get(self, message_type: type[Any]) -> Any:
        """Return no options: those of its nodes are theirs."""
        raise LookupError(f"a region has no {message_type.__name__}")


def region_of(node: NodePlan) -> Region | None:
    """Return the region that a node of a plan stands for; None where it is an ordinary node."""
    return node.options if isinstance(node.options, Region) else None


def names_of(node: NodePlan) -> list[str]:
    """Return the name of a node; of a region, those of its nodes."""
    region = region_of(node)
    return [node.name] if region is None else [one.name for one in region.nodes]


def with_regions(plan: Plan, groups: Iterable[tuple[str, Collection[str]]], watched: Collection[int]) -> Plan:
    """Return a plan in which neighbours of each group are one node.

    Args:
        plan: the graph.
        groups: for each the name that its regions get, "" for that of their nodes; and the names of its
            nodes, all on one executor.
        watched: numbers of the streams that must leave their region though no other node reads them.
    """
    messages = {node.name: plan.config.node[node.id] for node in plan.nodes}
    found = plan
    for name, members in groups:
        for nodes in _neighbours(found, frozenset(members)):
            # Nodes have other numbers in the new plan, but the same names.
            group = frozenset(node.id for node in found.nodes if node.name in nodes)
            found = _collapsed(found, group, _free_name(name or _name_of(nodes), found), watched, messages)
    return plan if found is plan else found._replace(config=_shown(found, messages))


def _name_of(names: Sequence[str]) -> str:
    return "+".join(names) if len(names) < _MANY else f"{names[0]}+...+{names[-1]}"


def _free_name(name: str, plan: Plan) -> str:
    taken = {node.name for node in plan.nodes}
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


# --- which nodes ------------------------------------------------------------------------------


def _neighbours(plan: Plan, members: frozenset[str]) -> list[list[str]]:
    """Return the names of the nodes that become regions: two or more each, in the order of the graph."""
    above = _above(plan)
    chosen = {node.id for node in plan.nodes if node.name in members and _may_join(node)}
    chosen -= _loop_heads(plan, chosen)
    stages = _stages(plan, chosen, above)
    found: list[frozenset[int]] = []
    for group in _connected(plan, chosen, stages):
        sources = {number for number in group if plan.nodes[number].is_source}
        if sources and (_entering(plan, group) or len({plan.nodes[one].source_layer for one in sources}) > 1):
            found += _connected(plan, group - sources, stages)
        else:
            found.append(group)
    found = sorted((one for one in found if len(one) > 1), key=min)
    return [[plan.nodes[number].name for number in sorted(one)] for one in found]


def _may_join(node: NodePlan) -> bool:
    """Return whether a node does the same in a region, whatever the rest of the graph is."""
    if node.failure is not None or region_of(node) is not None or not (node.inputs or node.outputs):
        return False
    if node.max_in_flight > 1 and node.contract.declared.stateless:
        return False
    if not node.inputs:
        return True
    policy = node.handler.factory(node.handler.options)
    return not (
        policy.depends_on_arrival
        or policy.ignores_timestamps
        or policy.sees_every_packet
        or policy.takes_late
        or type(policy).lose_patience is not InputStreamHandler.lose_patience
    )


def _above(plan: Plan) -> list[set[int]]:
    """Return for each node those that write its streams and side packets; back edges do not count."""
    makers = {port.name: node.id for node in plan.nodes for port in node.output_side_packets}
    above: list[set[int]] = []
    for node in plan.nodes:
        streams = {plan.streams[port.stream].producer for port in node.inputs if not port.back_edge}
        sides = {makers.get(port.name) for port in node.input_side_packets}
        above.append({number for number in streams | sides if number is not None})
    return above


def _loop_heads(plan: Plan, chosen: set[int]) -> set[int]:
    """Return the chosen nodes with a back edge from a node that is not chosen, but below a chosen one."""
    readers: dict[int, set[int]] = defaultdict(set)
    for node in plan.nodes:
        for port in node.inputs:
            writer = plan.streams[port.stream].producer
            if writer is not None:
                readers[writer].add(node.id)
    below: set[int] = set()
    new = {reader for number in chosen for reader in readers[number]} - chosen
    while new:
        below |= new
        new = {reader for number in new for reader in readers[number]} - chosen - below
    return {
        number
        for number in chosen
        for port in plan.nodes[number].inputs
        if port.back_edge and plan.streams[port.stream].producer in below
    }


def _stages(plan: Plan, chosen: set[int], above: Sequence[set[int]]) -> dict[int, int]:
    """Return for each chosen node how often a way to it leaves the chosen ones and comes back, at most.

    So no way between two nodes of a stage leads over a node that is not of that stage.
    """
    stages: dict[int, int] = {}
    passed: dict[int, int] = {}
    for node in plan.nodes:
        before = [stages[one] for one in above[node.id] if one in chosen]
        through = [passed[one] for one in above[node.id] if one in passed]
        if node.id in chosen:
            stages[node.id] = max([*before, *(one + 1 for one in through)], default=0)
        elif before or through:
            passed[node.id] = max([*before, *through])
    return stages


def _connected(plan: Plan, chosen: Collection[int], stages: Mapping[int, int]) -> list[frozenset[int]]:
    """Return the chosen nodes by stage, and in groups that streams connect."""
    leader = {number: number for number in chosen}

    def first(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    for number in chosen:
        for port in plan.nodes[number].inputs:
            writer = plan.streams[port.stream].producer
            if writer in leader and stages[writer] == stages[number]:
                leader[first(number)] = first(writer)
    groups: dict[int, set[int]] = defaultdict(set)
    for number in chosen:
        groups[first(number)].add(number)
    return [frozenset(group) for group in groups.values()]


def _entering(plan: Plan, group: Collection[int]) -> list[int]:
    """Return the streams that nodes of a group read, and others write."""
    read = dict.fromkeys(port.stream for number in sorted(group) for port in plan.nodes[number].inputs)
    return [stream for stream in read if plan.streams[stream].producer not in group]


# --- the plan with a region -------------------------------------------------------------------


def _collapsed(
    plan: Plan, group: frozenset[int], name: str, watched: Collection[int], messages: Mapping[str, Any]
) -> Plan:
    """Return the plan with one node in the place of a group, and the config as it was."""
    region = _node_of(plan, group, name, watched, messages)
    rest = [node for node in plan.nodes if node.id not in group]
    ordered = _in_order([*rest, region._replace(id=max(group))], plan, group)
    numbers = {node.id: place for place, node in enumerate(ordered)}
    numbers.update(dict.fromkeys(group, numbers[max(group)]))
    inner = set(region.options.inner)
    streams = tuple(
        one._replace(producer=None if one.producer is None or one.id in inner else numbers[one.producer])
        for one in plan.streams
    )
    throttled = {
        id(sources): frozenset(one if one < 0 else numbers[one] for one in sources)
        for sources in plan.throttled
    }
    return plan._replace(
        nodes=tuple(node._replace(id=place) for place, node in enumerate(ordered)),
        streams=streams,
        throttled=tuple(throttled[id(sources)] for sources in plan.throttled),
    )


def _shown(plan: Plan, messages: Mapping[str, Any]) -> Any:
    """Return the graph of a plan, nodes in its order; `messages` has those that are no regions, by name."""
    config = type(plan.config)()
    config.CopyFrom(plan.config)
    config.ClearField("node")
    for node in plan.nodes:
        if region_of(node) is None:
            config.node.add().CopyFrom(messages[node.name])
        else:
            _write(config.node.add(), node)
    return config


def _node_of(
    plan: Plan, group: frozenset[int], name: str, watched: Collection[int], messages: Mapping[str, Any]
) -> NodePlan:
    """Return what stands for a group in the plan."""
    nodes = tuple(plan.nodes[number] for number in sorted(group))
    written = [port.stream for node in nodes for port in node.outputs]
    read = {port.stream for node in plan.nodes if node.id not in group for port in node.inputs}
    leaving = [stream for stream in written if stream in read or stream in watched]
    entering = _entering(plan, group)
    forward = {port.stream for node in nodes for port in node.inputs if not port.back_edge}
    made = {port.name for node in nodes for port in node.output_side_packets}
    needs = _side_ports([port for node in nodes for port in node.input_side_packets if port.name not in made])
    makes = _side_ports([port for node in nodes for port in node.output_side_packets])
    names = [stream.name for stream in plan.streams]
    region = Region(
        nodes,
        tuple(names[stream] for stream in entering),
        tuple(names[stream] for stream in leaving),
        tuple(stream for stream in written if stream not in leaving),
        tuple(port.name for port in needs),
        _graph_of(plan, nodes, entering, messages),
    )
    return nodes[0]._replace(
        name=name,
        calculator=REGION,
        contract=_contract_of(name, region, [port.name for port in makes]),
        options=region,
        inputs=tuple(PortPlan("", n, s, s not in forward) for n, s in enumerate(entering)),
        outputs=tuple(PortPlan("", n, stream) for n, stream in enumerate(leaving)),
        input_side_packets=needs,
        output_side_packets=makes,
        handler=HandlerPlan(RegionInputStreamHandler.__name__, RegionInputStreamHandler, None),
        source_layer=nodes[0].source_layer,
        max_in_flight=1,
    )


def _side_ports(ports: Iterable[SidePortPlan]) -> tuple[SidePortPlan, ...]:
    """Return one port for each side packet; it is required where one of the nodes requires it."""
    found: dict[str, SidePortPlan] = {}
    for port in ports:
        old = found.get(port.name)
        if old is None or (old.optional and not port.optional):
            found[port.name] = port
    return tuple(
        SidePortPlan("", n, one.name, one.classes, one.type_name, one.optional, one.produced)
        for n, one in enumerate(found.values())
    )


def _contract_of(name: str, region: Region, made: Sequence[str]) -> CalculatorContract:
    streams = TagMap(region.entering), TagMap(region.leaving)
    contract = CalculatorContract(name, *streams, TagMap(region.side_packets), TagMap(made), region)
    for spec in (
        *contract.inputs,
        *contract.outputs,
        *contract.input_side_packets,
        *contract.output_side_packets,
    ):
        spec.set_any()
    return contract


def _in_order(nodes: Sequence[NodePlan], plan: Plan, group: frozenset[int]) -> list[NodePlan]:
    """Return nodes in topological order; where there is a choice, as they were numbered."""
    by_id = {node.id: node for node in nodes}
    mine = max(group)
    before: dict[int, set[int]] = {node.id: set() for node in nodes}
    after: dict[int, set[int]] = {node.id: set() for node in nodes}
    for number, writers in enumerate(_above(plan)):
        reader = mine if number in group else number
        for one in writers:
            writer = mine if one in group else one
            if writer != reader:
                before[reader].add(writer)
                after[writer].add(reader)
    ready = [number for number, writers in before.items() if not writers]
    heapify(ready)
    ordered = []
    while ready:
        number = heappop(ready)
        ordered.append(by_id[number])
        for reader in after[number]:
            before[reader].discard(number)
            if not before[reader]:
                heappush(ready, reader)
    return ordered


def _graph_of(
    plan: Plan, nodes: Sequence[NodePlan], entering: Sequence[int], messages: Mapping[str, Any]
) -> Any:
    """Return the graph of the nodes of a region, without what says where they are called."""
    config = type(plan.config)()
    config.package = plan.config.package
    if plan.config.HasField("input_stream_handler"):
        config.input_stream_handler.CopyFrom(plan.config.input_stream_handler)
    config.input_stream.extend(plan.streams[stream].name for stream in entering)
    # What waits in a region throttles sources in the driver; where there is none, its own.
    config.max_queue_size = -1 if entering else plan.max_queue_size
    for node in nodes:
        message = config.node.add()
        message.CopyFrom(messages[node.name])
        message.name = node.name
        message.ClearField("executor")
        message.ClearField("input_stream_info")
        for port in node.inputs:
            if port.back_edge and port.stream not in entering:
                message.input_stream_info.add(tag_index=f"{port.tag}:{port.index}", back_edge=True)
    return config


def _write(message: Any, node: NodePlan) -> None:
    """Write the node of a region into the graph that shows it."""
    message.name = node.name
    message.calculator = REGION
    message.input_stream.extend(node.options.entering)
    message.output_stream.extend(node.options.leaving)
    if node.executor:
        message.executor = node.executor
    for port in node.inputs:
        if port.back_edge:
            message.input_stream_info.add(tag_index=f":{port.index}", back_edge=True)
    message.input_side_packet.extend(port.name for port in node.input_side_packets)
    message.output_side_packet.extend(port.name for port in node.output_side_packets)
