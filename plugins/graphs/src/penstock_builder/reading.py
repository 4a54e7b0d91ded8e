"""From a config to the graph of objects that it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock_builder.interfaces import KINDS, NOTHING_KNOWN, component
from penstock_builder.node import Node
from penstock_builder.wires import SidePacket, Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_builder.draft import Draft
    from penstock_builder.interfaces import Component, Place


def fill(graph: Draft, config: Any) -> None:
    """Fill an empty graph from a config. Only what the objects need is checked.

    Args:
        graph: empty.
        config: becomes the graph's settings, without the fields that are objects now.

    Raises:
        InvalidArgumentError, InternalError: an entry is no port, or a port is connected twice.
        AlreadyExistsError: a stream or side packet has two writers.
    """
    messages = [type(node).FromString(node.SerializePartialToString()) for node in config.node]
    graph.settings = config
    for kind, who in (("inputs", "graph input"), ("input_side_packets", "graph input side packet")):
        _write(graph, kind, getattr(config, KINDS[kind][1]), None, who)
    known: dict[str, Component] = {}
    for message in messages:
        name = message.calculator
        if name not in known:
            known[name] = _component(graph, name)
        node = Node(graph, message, known[name])
        graph.nodes.append(node)
        for kind in ("outputs", "output_side_packets"):
            _write(graph, kind, getattr(message, KINDS[kind][1]), node, node.who)
        if message.failure.error_stream:
            graph.stream_names.give(node.failures, message.failure.error_stream)
    # All writers are known now, so that loops find their ends.
    for node in graph.nodes:
        for kind in ("inputs", "input_side_packets"):
            node.table(kind).read(getattr(node.message, KINDS[kind][1]), _reader(graph, kind), node.who)
    graph.outputs.read(config.output_stream, _reader(graph, "outputs"), "graph output")
    sides = _reader(graph, "output_side_packets")
    graph.output_side_packets.read(config.output_side_packet, sides, "graph output side packet")
    for _, field in KINDS.values():
        config.ClearField(field)
        for node in graph.nodes:
            node.message.ClearField(field)
    config.ClearField("node")


def _component(graph: Draft, name: str) -> Component:
    try:
        return component(name, graph.registry, graph.settings.package)
    except PenstockError:  # loading the graph reports it, with near names and what to install
        return NOTHING_KNOWN


def _write(graph: Draft, kind: str, entries: Any, node: Node | None, who: str) -> None:
    """Make the streams or side packets that a node, or the application, writes."""

    def new(name: str, place: Place) -> Any:
        writer = None if node is None else (node, place)
        wire: Any
        if "side" in kind:
            wire = SidePacket(graph, writer)
            graph.side_packet_names.give(wire, name)
        else:
            wire = Stream(graph, writer)
            graph.stream_names.give(wire, name)
        return wire

    table = getattr(graph, kind) if node is None else node.table(kind)
    table.read(entries, new, who)


def _reader(graph: Draft, kind: str) -> Callable[[str, Place], Any]:
    """Return a function that finds a wire by name, or makes one without a writer."""
    names: Any = graph.side_packet_names if "side" in kind else graph.stream_names
    made = SidePacket if "side" in kind else Stream

    def find(name: str, place: Place) -> Any:  # noqa: ARG001  # as the writers
        wire = names.find(name)
        if wire is None:
            wire = made(graph)
            names.give(wire, name)
        return wire

    return find
