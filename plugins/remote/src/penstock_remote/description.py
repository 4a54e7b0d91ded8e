"""A node as plain data, for the other end that makes it: what it is, and what its contract says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from penstock.errors import InvalidArgumentError
from penstock.packs import calculator_of_entry, entry_spelling
from penstock.ports import port_name
from penstock_remote.movable import check_movable, find_code
from penstock_remote.regions import region_of

if TYPE_CHECKING:
    from penstock import CalculatorContract
    from penstock.lowlevel import NodePlan, Plan


class RemoteNode(NamedTuple):
    """All that the other end needs to make a node; plain data."""

    #: Canonical name of the node.
    name: str
    #: Registered name of its calculator.
    calculator: str
    #: "module:attribute" of the class, or of the function that it was made from.
    code: str
    #: A graph of this node alone, serialized.
    config: bytes
    #: Each input port, as a user reads it.
    inputs: tuple[str, ...]
    #: The contract in words, a line for each thing that it says, to be compared.
    contract: tuple[str, ...]
    #: How many calls of `process` may overlap.
    max_in_flight: int

    @property
    def codes(self) -> tuple[str, ...]:
        """Where its calculator is."""
        return (self.code,)


class RemoteRegion(NamedTuple):
    """All that the other end needs to make a region; plain data."""

    #: The name of the region's node in the driver.
    name: str
    #: The nodes of each node name, registered name of its calculator, "module:attribute" of that, and its
    #: contract in words.
    nodes: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    #: A graph of these nodes alone, serialized.
    config: bytes
    #: `inputs`, `leaving`, `inner`: names of the streams that enter it, that leave it, and that do neither.
    inputs: tuple[str, ...]
    leaving: tuple[str, ...]
    inner: tuple[str, ...]
    #: Names of its input side packets.
    side_packets: tuple[str, ...]
    #: How many calls of `process` may overlap.
    max_in_flight: int = 1

    @property
    def codes(self) -> tuple[str, ...]:
        """Where its calculators are."""
        return tuple(code for _, _, code, _ in self.nodes)


#: What an executor's pack sends to the other end, which makes a `hosted` of it.
Described: TypeAlias = RemoteNode | RemoteRegion


def described(node: NodePlan, plan: Plan) -> Described:
    """Describe a node for the other end, or the region that it stands for.

    Raises:
        InvalidArgumentError: as `remote_node`.
    """
    region = region_of(node)
    if region is None:
        return remote_node(node, plan)
    for one in region.nodes:
        check_movable(one)
    return RemoteRegion(
        node.name,
        tuple(
            (one.name, one.calculator, entry_spelling(one.factory), contract_lines(one.contract))
            for one in region.nodes
        ),
        region.config.SerializePartialToString(deterministic=True),
        region.entering,
        region.leaving,
        tuple(plan.streams[stream].name for stream in region.inner),
        region.side_packets,
    )


def remote_node(node: NodePlan, plan: Plan) -> RemoteNode:
    """Describe a node for the other end.

    Raises:
        InvalidArgumentError: it cannot leave the driver: it asks for a service that belongs to the graph, or
            for a thread of a service, or its class cannot be imported elsewhere.
    """
    check_movable(node)
    alone = description_graph(plan.config.node[node.id], node.name, plan.config)
    config: bytes = alone.SerializePartialToString(deterministic=True)
    code = entry_spelling(node.factory)
    inputs = tuple(port_name(port.tag, port.index) for port in node.inputs)
    lines = contract_lines(node.contract)
    return RemoteNode(node.name, node.calculator, code, config, inputs, lines, node.max_in_flight)


def description_graph(node: Any, name: str, config: Any) -> Any:
    """Return a graph of one node alone, without what says how and where it is called.

    Args:
        node: the message of the node, which is not changed.
        name: its canonical name.
        config: the message of the graph that it is in.
    """
    alone = type(config)()
    alone.package = config.package
    message = alone.node.add()
    message.CopyFrom(node)
    message.name = name
    for field in ("executor", "max_in_flight", "input_stream_info", "input_stream_handler", "failure"):
        message.ClearField(field)
    alone.input_stream.extend(dict.fromkeys(_own_inputs(message)))
    return alone


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
    lines.append(f"is stateless: {contract.declared.stateless}")
    return tuple(lines)


def contract_difference(mine: CalculatorContract, other: CalculatorContract) -> str:
    """Return in words why a calculator cannot take the place of a node's own, for an error; "" where it can.

    Args:
        mine: the contract of the node.
        other: that of the other calculator, at the same ports. Services and `stateless` are not compared.
    """
    here, there = (
        [line for line in contract_lines(one) if not line.startswith("is stateless")] for one in (mine, other)
    )
    differs = [f"{line!r}, here {own!r}" for line, own in zip(there, here, strict=False) if line != own]
    if other.runs_on is not mine.runs_on and other.runs_on != mine.runs_on:
        differs.append("another thread to run on")
    if not differs and len(here) != len(there):
        differs.append("other ports")
    return "; ".join(differs)


def code_here(node: str, code: str, given: object = None) -> object:
    """Return the calculator class of a node.

    Args:
        node: its name.
        code: "module:attribute".
        given: the class, or what it was made from, where it came by value; None: it is found by its name.

    Raises:
        InvalidArgumentError: there is none here.
    """
    found = find_code(code) if given is None else calculator_of_entry(given)
    if found is None:
        raise InvalidArgumentError(
            f"the description of remote node {node!r} names the calculator {code}, which is not here; "
            "install its pack here too, or put its module where this process finds it",
            node=node,
        )
    return found


def check_same(node: str, code: str, there: tuple[str, ...], here: tuple[str, ...]) -> None:
    """Check that the contract of a node is the one that the driver has checked.

    Raises:
        InvalidArgumentError: it is another one; names what differs.
    """
    if here == there:
        return
    missing = [line for line in there if line not in here]
    other = [line for line in here if line not in there]
    raise InvalidArgumentError(
        f"the description of remote node {node!r} does not fit: {code} has another contract here than in the "
        "driver, so another version of its pack is installed; "
        f"there: {'; '.join(missing) or 'no such line'}; here: {'; '.join(other)}",
        node=node,
    )
