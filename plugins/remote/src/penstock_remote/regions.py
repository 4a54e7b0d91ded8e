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
- another node stands between it and the region: the neighbours are then split into two regions.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import CalculatorContract, InputStreamHandler
from penstock.ports import TagMap
from penstock.runs import HandlerPlan, PortPlan, ServiceScope, SidePortPlan
from penstock_remote.joined_nodes import JoinedNodes
from penstock_remote.region_policy import RegionInputStreamHandler

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from penstock.lowlevel import NodePlan, Plan

#: What the node of a region has for the name of its calculator.
REGION: Final = "Region"
#: From so many nodes on, the name of a region has only the first and the last of them.
_MANY: Final = 4


class Region(NamedTuple):
    """The nodes of a region, and its streams. The `options` of its node in the plan."""

    #: In topological order, as they were in the plan without regions.
    nodes: tuple[NodePlan, ...]
    #: `entering`, `leaving`: the names of its streams, in the order of the ports of its node.
    entering: tuple[str, ...]
    leaving: tuple[str, ...]
    #: Numbers of the streams that no other node reads, and nobody observes.
    inner: tuple[int, ...]
    #: Names of its input side packets, in the order of the ports of its node.
    side_packets: tuple[str, ...]
    #: A graph of its nodes alone, as a message.
    config: Any

    def get(self, message_type: type[Any]) -> Any:
        """Return no options: those of its nodes are theirs."""
        raise LookupError(f"a region of remote nodes has no options {message_type.__name__}")


def region_of(node: NodePlan) -> Region | None:
    """Return the region that a node of a plan stands for; None where it is an ordinary node."""
    return node.options if isinstance(node.options, Region) else None


def region_names(node: NodePlan) -> list[str]:
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
    numbers = {node.name: node.id for node in plan.nodes}
    joined = JoinedNodes(plan)
    regions: dict[int, NodePlan] = {}
    names = set(numbers)
    for name, members in groups:
        for group in _neighbours(joined, [numbers[one] for one in members if one in numbers]):
            its_nodes = [plan.nodes[number].name for number in group]
            region = _node_of(
                joined, group, _free_name(name or _name_of(its_nodes), names), watched, messages
            )
            regions[joined.join(group)] = region
            names.difference_update(its_nodes)
            names.add(region.name)
    return _plan_of(joined, regions, messages) if regions else plan


def _name_of(names: Sequence[str]) -> str:
    return "+".join(names) if len(names) < _MANY else f"{names[0]}+...+{names[-1]}"


def _free_name(name: str, taken: Collection[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


# --- which nodes ------------------------------------------------------------------------------


def _neighbours(joined: JoinedNodes, members: Iterable[int]) -> list[list[int]]:
    """Return the nodes that become regions: two or more each, in the order of the graph."""
    nodes = joined.plan.nodes
    chosen = {one for one in members if joined.is_alone(one) and _may_join(nodes[one])}
    chosen -= _loop_heads(joined, chosen)
    stages = _stages(joined, chosen)
    found: list[frozenset[int]] = []
    for group in _connected(joined.plan, joined.ordered(chosen), stages):
        sources = {number for number in group if nodes[number].is_source}
        if sources and (
            _entering(joined.plan, joined.ordered(group))
            or len({nodes[one].source_layer for one in sources}) > 1
        ):
            found += _connected(joined.plan, joined.ordered(group - sources), stages)
        else:
            found.append(group)
    ordered = [joined.ordered(group) for group in found if len(group) > 1]
    return sorted(ordered, key=lambda group: joined.place[group[0]])


def _may_join(node: NodePlan) -> bool:
    """Return whether a node does the same in a region, whatever the rest of the graph is."""
    if node.failure is not None or not (node.inputs or node.outputs):
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


def _loop_heads(joined: JoinedNodes, chosen: set[int]) -> set[int]:
    """Return the chosen nodes with a back edge from a node that is not chosen, but below a chosen one."""
    nodes, streams = joined.plan.nodes, joined.plan.streams
    writers = {
        number: {streams[port.stream].producer for port in nodes[number].inputs if port.back_edge}
        for number in chosen
    }
    if not any(writers.values()):
        return set()
    below: set[int] = set()
    new = {reader for number in chosen for reader in joined.readers(number)} - chosen
    while new:
        below |= new
        new = {reader for number in new for reader in joined.readers(number)} - chosen - below
    return {
        number
        for number, its_writers in writers.items()
        if any(one is not None and joined.home[one] in below for one in its_writers)
    }


def _stages(joined: JoinedNodes, chosen: set[int]) -> dict[int, int]:
    """Return for each chosen node how often a way to it leaves the chosen ones and comes back, at most.

    So no way between two nodes of a stage leads over a node that is not of that stage.
    """
    stages: dict[int, int] = {}
    passed: dict[int, int] = {}
    for number in joined.between(chosen):
        above = joined.above(number)
        before = [stages[one] for one in above if one in stages]
        through = [passed[one] for one in above if one in passed]
        if number in chosen:
            stages[number] = max([*before, *(one + 1 for one in through)], default=0)
        elif before or through:
            passed[number] = max([*before, *through])
    return stages


def _connected(plan: Plan, chosen: Sequence[int], stages: Mapping[int, int]) -> list[frozenset[int]]:
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


def _entering(plan: Plan, group: Sequence[int]) -> list[int]:
    """Return the streams that nodes of a group read, and others write; in the order in which they read."""
    members = frozenset(group)
    read = dict.fromkeys(port.stream for number in group for port in plan.nodes[number].inputs)
    return [stream for stream in read if plan.streams[stream].producer not in members]


# --- the plan with a region -------------------------------------------------------------------


def _plan_of(joined: JoinedNodes, regions: Mapping[int, NodePlan], messages: Mapping[str, Any]) -> Plan:
    """Return the plan with one node for each region.

    Args:
        joined: the nodes of the plan, joined.
        regions: number of each region there → its node.
        messages: name of each node of the old plan → that of its graph.
    """
    plan = joined.plan
    order = joined.order()
    places = {number: place for place, number in enumerate(order)}
    numbers = [places[home] for home in joined.home]
    inner = {stream for node in regions.values() for stream in node.options.inner}
    streams = tuple(
        one._replace(producer=None if one.producer is None or one.id in inner else numbers[one.producer])
        for one in plan.streams
    )
    throttled = {
        id(sources): frozenset(one if one < 0 else numbers[one] for one in sources)
        for sources in plan.throttled
    }
    found = plan._replace(
        nodes=tuple(regions.get(one, plan.nodes[one])._replace(id=place) for place, one in enumerate(order)),
        streams=streams,
        throttled=tuple(throttled[id(sources)] for sources in plan.throttled),
    )
    return found._replace(config=_shown(found, messages))


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
    joined: JoinedNodes,
    group: Sequence[int],
    name: str,
    watched: Collection[int],
    messages: Mapping[str, Any],
) -> NodePlan:
    """Return what stands for a group in the plan; the nodes of the group are in order."""
    plan = joined.plan
    nodes = tuple(plan.nodes[number] for number in group)
    members = frozenset(group)
    written = [port.stream for node in nodes for port in node.outputs]
    leaving = [
        stream
        for stream in written
        if stream in watched or not members.issuperset(joined.stream_readers[stream])
    ]
    entering = _entering(plan, group)
    forward = {port.stream for node in nodes for port in node.inputs if not port.back_edge}
    made = {port.name for node in nodes for port in node.output_side_packets}
    needs = _side_ports([port for node in nodes for port in node.input_side_packets if port.name not in made])
    makes = _side_ports([port for node in nodes for port in node.output_side_packets])
    region = Region(
        nodes,
        tuple(plan.streams[stream].name for stream in entering),
        tuple(plan.streams[stream].name for stream in leaving),
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
    for node in region.nodes:  # so that the driver finds what it sends along
        for key, is_optional in node.contract.services.items():
            if key.scope is ServiceScope.COPY:
                contract.services[key] = is_optional and contract.services.get(key, True)
    return contract


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
