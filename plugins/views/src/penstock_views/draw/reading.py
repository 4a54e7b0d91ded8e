"""From any form of a graph to its `Drawing`. A graph that cannot run is drawn as far as it can be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.config import read_definition
from penstock.errors import GraphConfigError, GraphParseError, NameClashError, PluginError
from penstock_views.draw.drawing import Drawing, DrawnNode, NodeKind, Port

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock import Registry
    from penstock.readers import ReadGraph

_PLACE: Final = re.compile(r"(?P<tag>[^:]*)(?::(?P<index>\d+))?")
_PORT_FIELDS: Final = {
    "inputs": "input_stream",
    "outputs": "output_stream",
    "input_side_packets": "input_side_packet",
    "output_side_packets": "output_side_packet",
}


def drawing(graph: object, registry: Registry | None = None, *, expand: bool = False) -> Drawing:
    """Return the drawing of a graph. Nothing is checked and nothing is run.

    Args:
        graph: what `CalculatorGraph` takes: graph text as a `str`, a file as a `pathlib.Path`, a message, a
            dict, a graph from the builder; or a `CalculatorGraph`, whose subgraphs are expanded already.
        registry: of subgraphs and calculators; None for what the installed plugins provide.
        expand: draw what is inside of subgraphs, in a box each, instead of one node for each. Subgraphs
            whose class computes them run its `get_config`.

    Returns:
        The drawing. Nodes of packs that are not installed are of the kind UNKNOWN. Where options of such
        packs keep the graph from being read, it is read without any options, and `notes` says so.

    Raises:
        GraphParseError, NotFoundError, InvalidArgumentError, PenstockError: it is no graph, or cannot be
            read.
    """
    if registry is None:
        from penstock.packs import default_registry  # loads the plugins

        registry = default_registry()
    name = graph.name if isinstance(graph, Path) else ""
    checked = getattr(graph, "binary_config", None)
    if isinstance(checked, bytes):
        from penstock.config import CalculatorGraphConfig  # protobuf

        message = CalculatorGraphConfig.FromString(checked)
        return _with_leading(read_drawing(message), message, registry)
    message, places, notes = _read(graph, registry)
    titles: dict[str, str] = {}
    if expand and not notes:
        message, titles, notes = _expanded(message, places, registry)
    elif expand:
        notes = (*notes, "subgraphs are not expanded: they may depend on options")
    drawn = _with_leading(read_drawing(message, registry), message, registry)
    return attrs.evolve(drawn, name=drawn.name or name, notes=notes, titles=titles)


def read_drawing(message: Any, registry: Registry | None = None) -> Drawing:
    """Return the drawing of a CalculatorGraphConfig as it is, with no subgraph expanded.

    Args:
        message: the config.
        registry: of calculators; None where all of them are known, as in a graph that was checked.
    """
    from penstock.readers import numbered_nodes  # with protobuf, which a drawing does not need

    names = numbered_nodes([node.name or node.calculator for node in message.node])
    kinds = {node.calculator: _kind(node.calculator, message.package, registry) for node in message.node}
    nodes = [_node(node, name, kinds) for node, name in zip(message.node, names, strict=True)]
    ports = _ports(message)
    return Drawing(
        name=message.type,
        nodes=tuple(nodes),
        executors=tuple((one.name, one.type) for one in message.executor),
        inputs=ports["inputs"],
        outputs=ports["outputs"],
        input_side_packets=ports["input_side_packets"],
        output_side_packets=ports["output_side_packets"],
    )


def _read(graph: object, registry: Registry) -> tuple[Any, Any, tuple[str, ...]]:
    """Return message, places and notes."""
    try:
        message, places, _ = _with_places(graph, registry)
    except (GraphConfigError, GraphParseError, NameClashError, PluginError) as error:
        from penstock_views.draw.outline import outline

        label = str(graph) if isinstance(graph, Path) else None
        try:
            message, places, _ = _with_places(outline(graph), registry, label)
        except Exception:  # noqa: BLE001  # it is not the options: the first error says what is wrong
            raise error from None
        faults = error.faults if isinstance(error, GraphConfigError) else (error,)
        return message, places, tuple(f"drawn without options: {fault}" for fault in faults)
    return message, places, ()


def _with_places(graph: object, registry: Registry, label: str | None = None) -> ReadGraph:
    """Read a graph, whether it could run or not, and where its parts stand."""
    from penstock.readers import ReadGraph, definition_as_read_graph  # protobuf

    found = read_definition(graph, registry, label=label)
    return found if isinstance(found, ReadGraph) else definition_as_read_graph(found)


def _expanded(message: Any, places: Any, registry: Registry) -> tuple[Any, dict[str, str], tuple[str, ...]]:
    """Return the graph without subgraphs, what its outermost groups are uses of, and what went wrong.

    A node whose subgraph has a fault stands for that subgraph.
    """
    from penstock.readers import Faults, expand, numbered_nodes, prefix_of  # protobuf
    from penstock.types import OptionTypes

    found = Faults(places)
    expanded = expand(message, places, registry, found, OptionTypes(registry)).message
    faults: tuple[Exception, ...] = ()
    try:
        found.raise_any()
    except GraphConfigError as error:
        faults = error.faults
    plain = [node for node in message.node if not registry.has("subgraph", node.calculator, message.package)]
    used = [node for node in message.node if registry.has("subgraph", node.calculator, message.package)]
    names = numbered_nodes([node.name or node.calculator for node in (*plain, *used)])
    titles = {
        prefix_of(name).removesuffix("__"): node.calculator
        for node, name in zip(used, names[len(plain) :], strict=True)
    }
    return expanded, titles, tuple(map(str, faults))


def _kind(calculator: str, package: str, registry: Registry | None) -> NodeKind:
    if registry is None:
        return NodeKind.CALCULATOR
    if registry.has("subgraph", calculator, package):
        return NodeKind.SUBGRAPH
    is_known = registry.has("calculator", calculator, package)
    return NodeKind.CALCULATOR if is_known else NodeKind.UNKNOWN


def _node(node: Any, name: str, kinds: dict[str, NodeKind]) -> DrawnNode:
    ports = _ports(node)
    back = {_place(info.tag_index) for info in node.input_stream_info if info.back_edge}
    marked = zip(ports["inputs"], _places(port.place for port in ports["inputs"]), strict=True)
    ports["inputs"] = tuple(attrs.evolve(port, back_edge=place in back) for port, place in marked)
    if node.failure.error_stream:
        ports["outputs"] += (Port("", node.failure.error_stream, is_error=True),)
    kind = kinds[node.calculator]
    return DrawnNode(name, node.calculator, kind, node.executor, *(ports[field] for field in _PORT_FIELDS))


def _with_leading(drawn: Drawing, message: Any, registry: Registry) -> Drawing:
    """Return a drawing whose nodes name the input at whose packets their policy runs them."""
    nodes = [
        attrs.evolve(one, notes=_leading(node, one, message, registry))
        for node, one in zip(message.node, drawn.nodes, strict=True)
    ]
    return attrs.evolve(drawn, nodes=tuple(nodes))


def _leading(node: Any, drawn: DrawnNode, message: Any, registry: Registry) -> tuple[str, ...]:
    """Return a line that names the input at whose packets the policy of a node runs it; else nothing."""
    from penstock.types import Options  # protobuf

    holder = node if node.HasField("input_stream_handler") else message
    handler = holder.input_stream_handler
    if not handler.input_stream_handler or not drawn.inputs:
        return ()
    ids = list(_places(port.place for port in drawn.inputs))
    ordered = sorted(ids)
    try:
        policy: Any = registry.find("input stream handler", handler.input_stream_handler, message.package)
        options = Options(handler.options if handler.HasField("options") else None, ())
        position = policy.leading_input(options, ordered)
    except Exception:  # noqa: BLE001  # foreign code; a drawing goes without, and the check of the graph says why
        return ()
    if position is None:
        return ()
    port = drawn.inputs[ids.index(ordered[position])]
    return (f"{handler.input_stream_handler}: at each {port.entry}",)


def _ports(holder: Any) -> dict[str, tuple[Port, ...]]:
    return {
        attribute: tuple(_port(entry) for entry in getattr(holder, field))
        for attribute, field in _PORT_FIELDS.items()
    }


def _port(entry: str) -> Port:
    place, _, name = entry.rpartition(":")
    return Port(place, name)


def _place(tag_index: str) -> tuple[str, int]:
    match = _PLACE.fullmatch(tag_index)
    return (match["tag"], int(match["index"] or 0)) if match else (tag_index, 0)


def _places(written: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield tag and index of each port; ports without an index are numbered in their order."""
    following: dict[str, int] = {}
    for text in written:
        tag, index = _place(text)
        if ":" not in text:
            index = following.get(tag, 0)
        following[tag] = index + 1
        yield tag, index
