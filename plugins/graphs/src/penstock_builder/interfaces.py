"""What is known of a node's ports while its graph is being written: from its calculator, or its subgraph.

A calculator is asked for its contract with what is connected so far. Where it cannot answer yet, or
nothing is known of it, no port is refused: the graph is checked as a whole when it is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from penstock import CalculatorContract
from penstock.config import read_definition, read_graph
from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.ports import TagMap, port_name
from penstock.readers import ReadGraph
from penstock.types import Options, agree, payload_type_names, payload_types_in
from penstock_builder.loops import resolved
from penstock_builder.wires import FAILURES, Wire
from penstock_views.describe import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock import Registry
    from penstock.ports import PortSpec, PortSpecs
    from penstock.types import PayloadType
    from penstock_builder.ports import PortTable
    from penstock_builder.wires import Writer

#: Kinds of ports: attribute of a node and of a contract → the word for one, and the field of the config.
KINDS: Final = {
    "inputs": ("input", "input_stream"),
    "outputs": ("output", "output_stream"),
    "input_side_packets": ("input side packet", "input_side_packet"),
    "output_side_packets": ("output side packet", "output_side_packet"),
}

Place: TypeAlias = tuple[str, int]
#: Kind → places: what is about to be connected.
NewPorts: TypeAlias = "dict[str, list[Place]]"


class Component(NamedTuple):
    """What a node's name stands for."""

    #: A class, or None for a subgraph and for what is not known.
    calculator: Any = None
    #: The ports of a subgraph that is a graph file or the like: kind → its places; None where unknown.
    ports: dict[str, tuple[Place, ...]] | None = None


NOTHING_KNOWN: Final = Component()


class Connected(Protocol):
    """What this module uses of a node: what its name stands for, and what it is connected to."""

    #: The node's part of the config, without its ports.
    message: Any
    #: What its name stands for.
    component: Component

    @property
    def calculator(self) -> str:
        """The registered name."""

    @property
    def name(self) -> str:
        """The name of the node; "" for none."""

    @property
    def who(self) -> str:
        """How errors name the node."""

    @property
    def registry(self) -> Registry:
        """Where the calculator's name is looked up."""

    def table(self, kind: str) -> PortTable[Any]:
        """Return the ports of one kind of `KINDS`."""


def component(name: str, registry: Registry, package: str) -> Component:
    """Return what a registered name stands for. A subgraph wins over a calculator of the same name.

    Raises:
        UnknownNameError: the name is not registered; says what is near and what to install.
        NameClashError, PluginError: as `Registry.find`.
        PenstockError: it is a subgraph whose graph cannot be read.
    """
    if registry.has("subgraph", name, package):
        return _subgraph(registry.find("subgraph", name, package), registry)
    return Component(calculator=registry.find("calculator", name, package))


def _subgraph(target: object, registry: Registry) -> Component:
    # A `Subgraph` or a template makes its graph for the node; its ports are not known before.
    computes = isinstance(target, type) or hasattr(target, "get_config")
    if computes or not isinstance(read_definition(target, registry), ReadGraph):  # then it is a template
        return NOTHING_KNOWN
    graph = read_graph(target, registry)
    fields = {kind: getattr(graph, field) for kind, (_, field) in KINDS.items()}
    return Component(ports={kind: TagMap(entries).ids() for kind, entries in fields.items()})


def contract_with(node: Connected, new: NewPorts) -> CalculatorContract | None:
    """Return the contract of a node whose new ports are connected too; None where it cannot be known."""
    calculator = node.component.calculator
    if not callable(getattr(calculator, "get_contract", None)):
        return None
    message = node.message
    options = Options(message.options if message.HasField("options") else None, message.node_options)
    try:
        inputs, outputs, sides, made = (TagMap(_entries(node, kind, new.get(kind, ()))) for kind in KINDS)
        contract = CalculatorContract(node.name or node.calculator, inputs, outputs, sides, made, options)
        answer = calculator.get_contract(contract)
    except Exception:  # noqa: BLE001  # foreign code, asked too early: it is asked again when the graph is loaded
        return None
    if hasattr(answer, "close"):  # a coroutine, which loading the graph refuses
        answer.close()
        return None
    return contract


def _entries(node: Connected, kind: str, new: Iterable[Place]) -> Iterator[str]:
    names = {place: resolved(wire).name for place, wire in node.table(kind).items()}
    names.update((place, "") for place in new)
    untagged = [index for tag, index in names if not tag]
    if len(untagged) <= max(untagged, default=-1):
        raise InvalidArgumentError(
            "the builder's interfaces: the node's lacks an index; without a tag the entries would not show it"
        )
    for (tag, index), name in sorted(names.items()):
        # A name that is not known yet stands for itself: calculators do not look at names.
        known = name or "unnamed"
        yield f"{tag}:{index}:{known}" if tag else known


def check_ports(node: Connected, new: NewPorts, contract: CalculatorContract | None) -> None:
    """Refuse ports that a node does not have.

    Args:
        node: before they are connected.
        new: the ports.
        contract: as `contract_with` returns it for them.

    Raises:
        InvalidArgumentError: there is no such port; says which are near and which there are.
    """
    for kind, places in new.items():
        for place in places:
            known = _known(node, kind, place, contract)
            if known is not None:
                choice = _choice(node, kind, place, known)
                raise InvalidArgumentError(
                    f"{node.who} has no {KINDS[kind][0]} {port_name(*place)}{choice}",
                    node=node.name or node.calculator,
                )


def _known(
    node: Connected, kind: str, place: Place, contract: CalculatorContract | None
) -> list[Place] | None:
    """Return the ports of a node where `place` is none of them; None where it is one, or nothing is known."""
    if contract is not None:
        specs: PortSpecs = getattr(contract, kind)
        if specs[place].is_declared():
            return None
        all_specs = {**{(spec.tag, spec.index): spec for spec in specs}, **specs.unconnected}
        return [one for one, spec in all_specs.items() if spec.is_declared()]
    ports = node.component.ports
    return list(ports[kind]) if ports is not None and place not in ports[kind] else None


def _choice(node: Connected, kind: str, place: Place, known: list[Place]) -> str:
    known = sorted({*known, *_described(node, kind)})
    meant = did_you_mean(place[0], (tag for tag, _ in known if tag))
    word = KINDS[kind][0]
    listed = ", ".join(port_name(*one) for one in known)
    return f"{meant}; its {word}s are: {listed}" if listed else f"{meant}; it has no {word}s"


def _described(node: Connected, kind: str) -> list[Place]:
    """Return the ports that the calculator's own example connects; its contract may not name them."""
    if node.component.calculator is None:
        return []
    try:
        described = describe(node.calculator, node.registry, "calculator")
    except PenstockError:  # a name that is qualified by the graph's package, say
        return []
    return [(port.tag, port.index) for port in getattr(described, kind)]


def check_type(
    node: Connected, kind: str, place: Place, wire: Wire, contract: CalculatorContract | None
) -> None:
    """Refuse a wire whose payloads the port does not take.

    Raises:
        InvalidArgumentError: no type of the one is one of the other.
    """
    if contract is None:
        return
    spec: PortSpec = getattr(contract, kind)[place].root()
    if not spec.types or spec.is_any():
        return
    written = written_types(wire)
    if written is None or any(agree(one, other) for one in written for other in spec.types):
        return
    raise InvalidArgumentError(
        f"{wire.what} {resolved(wire).name!r} ({wire.described()}) has {payload_type_names(written)}, but "
        f"{KINDS[kind][0]} {port_name(*place)} of {node.who} takes {spec.type_name()} by its interface; "
        "connect another wire of the builder, or convert it between them",
        node=node.name or node.calculator,
        stream=resolved(wire).name,
    )


def written_types(wire: Wire) -> tuple[PayloadType, ...] | None:
    """Return the types of what a wire carries, followed up through nodes that forward what they get.

    Returns:
        None where the types are not known.
    """
    seen = set[int]()
    above: Wire | None = wire
    while above is not None and id(above) not in seen:
        seen.add(id(above))
        above = resolved(above)
        if above.writer is None:
            return None if above.declared is None else payload_types_in(above.declared)
        node, place = above.writer
        contract = node.contract
        if contract is None or place == FAILURES:
            return None
        kind = "output_side_packets" if above.what == "side packet" else "outputs"
        root = getattr(contract, kind)[place].root()
        if root.types and not root.is_any():
            types: tuple[PayloadType, ...] = root.types
            return types
        above = _passed_on(node, contract, root)
    return None


def _passed_on(node: Writer, contract: CalculatorContract, root: PortSpec) -> Wire | None:
    """Return what is connected to the input that an output has its type from."""
    for kind in ("inputs", "input_side_packets"):
        for spec in getattr(contract, kind):
            if spec is root:
                return node.wire_at(kind, (spec.tag, spec.index))
    return None
