"""Side packets of a graph: where each comes from, what a run needs, what its nodes made.

A side packet comes from the application (for all runs, or for one), or from a node's output side
packet in the run. Runs share the payload: a second run sees the same object, so models and other
objects that are expensive to make belong here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.engine.layer import Layer, LayerLevel
from penstock.engine.methods import OPEN
from penstock.engine.packet import Packet
from penstock.errors import (
    AlreadyExistsError,
    GraphConfigError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    PacketTypeError,
    PenstockError,
    StatusCode,
    UnavailableError,
)
from penstock.near_names import did_you_mean, near_names
from penstock.payload_types import cure, fits
from penstock.port_collection import Ports
from penstock.timestamp import UNSET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.engine.node import Node
    from penstock.engine.step import Step
    from penstock.plan import NodePlan, Plan, SidePortPlan


#: For nodes without input side packets; never changed.
NO_SIDE_PACKETS: Final[Ports[Packet]] = Ports("input side packet", (), ())


def as_side_packets(given: Mapping[str, Any] | None) -> dict[str, Packet]:
    """Return the side packets that the application gave: payloads become packets, packets stay as they are.

    Raises:
        InvalidArgumentError: a packet has a timestamp.
    """
    packets = {n: v if isinstance(v, Packet) else Packet(v) for n, v in (given or {}).items()}
    for name, packet in packets.items():
        if packet.stamp != UNSET:
            raise InvalidArgumentError(
                f"side packet {name!r} has the timestamp {packet.timestamp}; side packets have none",
                stream=name,
            )
    return packets


def merged(base: Mapping[str, Packet], run: Mapping[str, Packet]) -> dict[str, Packet]:
    """Return the side packets of a run: those of all runs and those of this one.

    Raises:
        AlreadyExistsError: a side packet is in both.
    """
    twice = sorted(base.keys() & run.keys())
    if twice:
        raise AlreadyExistsError(
            f"side packet {twice[0]!r} was given to the graph and to this run too; give it once",
            stream=twice[0],
        )
    return {**base, **run}


def checked_side_packets(plan: Plan, given: Mapping[str, Any]) -> SidePackets:
    """Return the side packets of a run, from those that the application gives: name → payload, or Packet.

    Raises:
        GraphConfigError: as `check_given`.
    """
    packets = as_side_packets(given)
    check_given(plan, packets)
    return SidePackets(packets)


def check_given(plan: Plan, given: Mapping[str, Packet]) -> None:
    """Check the side packets that the application gives.

    Raises:
        GraphConfigError: one is unknown, missing, of a wrong type, empty, or made by a node too; carries all
            such faults, those of unknown ones first, then in the order of the nodes. Nothing has started.
    """
    read = {port.name for node in plan.nodes for port in node.input_side_packets if not port.produced}
    known = sorted(read | plan.declared_side_packets)
    made = {port.name for node in plan.nodes for port in node.output_side_packets}
    unknown = [name for name in given if name not in known and name not in made]
    free = [name for name in known if name not in given]
    faults: list[PenstockError] = [_unknown(name, known, free) for name in unknown]
    #: One slip is one fault: what an unknown name means is not missing too.
    seen = {near for name in unknown for near in near_names(name, free, 1)}
    for node in plan.nodes:
        faults += [_made_too(node, port) for port in node.output_side_packets if port.name in given]
        for port in node.input_side_packets:
            fault = _fault_of(node, port, given)
            if fault is not None and port.name not in seen:
                seen.add(port.name)
                faults.append(fault)
    if faults:
        raise GraphConfigError(faults, file=plan.file)


def _unknown(name: str, known: list[str], free: list[str]) -> PenstockError:
    listed = f"its side packets are: {', '.join(map(repr, known))}" if known else "it has no side packets"
    return NotFoundError(
        f"the graph has no side packet {name!r}{did_you_mean(name, free, 1)}; {listed}", stream=name
    )


def _made_too(node: NodePlan, port: SidePortPlan) -> PenstockError:
    return PenstockError(
        f"side packet {port.name!r} is given by the application, but node {node.name!r} makes it too",
        code=StatusCode.UNKNOWN,
        node=node.name,
        stream=port.name,
    )


def _fault_of(node: NodePlan, port: SidePortPlan, given: Mapping[str, Packet]) -> PenstockError | None:
    if port.produced:
        return None
    packet = given.get(port.name)
    where = f"side packet {port.name!r} of node {node.name!r}"
    if packet is None:
        if port.optional:
            return None
        return InvalidArgumentError(
            f"{where} is required but was not given; pass it to CalculatorGraph(..., side_packets=...) or "
            f"start_run({{{port.name!r}: ...}})",
            node=node.name,
            stream=port.name,
        )
    if packet.is_empty():
        return InternalError(
            f"side packet {port.name!r} of node {node.name!r} is an empty packet",
            node=node.name,
            stream=port.name,
        )
    if port.classes is not None and not fits(packet.value, port.classes):
        return PacketTypeError(
            f"{where} is a {type(packet.value).__name__!r}{cure(packet.value, port.classes)}, but the node "
            f"expects {port.type_name}",
            node=node.name,
            stream=port.name,
        )
    return None


class SidePackets:
    """The side packets of one run, as its nodes see them; those given by the application are checked."""

    def __init__(self, given: Mapping[str, Packet]) -> None:
        self._given = given
        #: Made by nodes of this run; changed under the runner's lock.
        self.made: dict[str, Packet] = {}

    def ports_of(self, node: NodePlan) -> Ports[Packet]:
        """Return the side packets of a node that exist now; optional ones that do not are absent."""
        found = [(port, self.value(port.name)) for port in node.input_side_packets]
        there = [(port, packet) for port, packet in found if packet is not None]
        return Ports(
            "input side packet", [(p.tag, p.index) for p, _ in there], [packet for _, packet in there]
        )

    def value(self, name: str) -> Packet | None:
        """Return a side packet of this run, or None if it does not exist yet."""
        return self.made.get(name) or self._given.get(name)

    def output(self, name: str, plan: Plan) -> Packet:
        """As `CalculatorGraph.get_output_side_packet`."""
        packet = self.value(name)
        if packet is not None:
            return packet
        if any(port.name == name for node in plan.nodes for port in node.output_side_packets):
            raise UnavailableError(f"side packet {name!r} of the graph has not been made yet", stream=name)
        raise NotFoundError(f"the graph has no side packet {name!r}", stream=name)

    def publish(self, node: Node, name: str, packet: Packet) -> None:
        """Keep a side packet that a node has made. Called under the runner's lock.

        Raises:
            AlreadyExistsError: it was made before in this run.
        """
        if name in self.made:
            raise AlreadyExistsError(
                f"output side packet {name!r} was already set in this run", node=node.name, stream=name
            )
        self.made[name] = packet


class SidePacketLayer(Layer):
    """Hands a node its side packets before it is opened; all that it waits for have been made then."""

    def __init__(self, side_packets: SidePackets, node: NodePlan) -> None:
        super().__init__(LayerLevel.SIDE_PACKETS, (OPEN,))
        self._side_packets: Final = side_packets
        self._node: Final = node

    def open(self, step: Step, /) -> object:
        """Hand them over, and open what is inside."""
        step.input_side_packets = self._side_packets.ports_of(self._node)
        return self.inner.open(step)


class ConstantOutputs:
    """Remembers the side packets that nodes without streams made, so that these nodes need not run again.

    Such a node depends on its input side packets only. While these are the same objects as in an earlier
    run, `open` is not called again and the output side packets of that run are used.
    """

    def __init__(self) -> None:
        self._by_node: dict[int, tuple[tuple[tuple[str, object], ...], dict[str, Packet]]] = {}

    def remember(self, plan: Plan, side_packets: SidePackets) -> None:
        """Keep the outputs of a run that ended well."""
        made = side_packets.made
        for node in plan.nodes:
            names = [port.name for port in node.output_side_packets]
            if names and not node.inputs and not node.outputs and made.keys() >= set(names):
                outputs = {name: made[name] for name in names}
                self._by_node[node.id] = (self._key(node, side_packets), outputs)

    def recall(self, node: NodePlan, side_packets: SidePackets) -> dict[str, Packet] | None:
        """Return what a node made before from the same input side packets, or None if it must run."""
        known = self._by_node.get(node.id)
        if known is None:
            return None
        before, made = known
        now = self._key(node, side_packets)
        same = len(now) == len(before) and all(
            a[0] == b[0] and a[1] is b[1] for a, b in zip(now, before, strict=True)
        )
        return made if same else None

    @staticmethod
    def _key(node: NodePlan, side_packets: SidePackets) -> tuple[tuple[str, object], ...]:
        values = ((port.name, side_packets.value(port.name)) for port in node.input_side_packets)
        return tuple((name, None if packet is None else packet.value) for name, packet in values)
