"""From the graph of objects to its config."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import FailedPreconditionError
from penstock.ports import port_name
from penstock_builder.interfaces import KINDS
from penstock_builder.loops import LoopStream

if TYPE_CHECKING:
    from penstock_builder.draft import Draft
    from penstock_builder.node import Node


def config_of(graph: Draft) -> Any:
    """Return the config of a graph. Raises as `Graph.to_config`."""
    config = type(graph.settings)()
    config.CopyFrom(graph.settings)
    for kind, (_, field) in KINDS.items():
        getattr(config, field).extend(getattr(graph, kind).entries("the graph"))
    for node in graph.nodes:
        _write(node, config.node.add())
    return config


def _write(node: Node, message: Any) -> None:
    message.CopyFrom(node.message)
    for (tag, index), stream in node.table("inputs").items():
        if not isinstance(stream, LoopStream):
            continue
        if stream.source is None:
            raise FailedPreconditionError(
                f"the builder's graph cannot be written: input {port_name(tag, index)} of {node.who} reads a "
                "loop that is not connected; call its connect(stream)",
                node=node.name or node.calculator,
            )
        place = f"{tag}:{index}" if index else tag
        message.input_stream_info.add(tag_index=place, back_edge=True)
    for kind, (_, field) in KINDS.items():
        getattr(message, field).extend(node.table(kind).entries(node.who))
    if node.error_stream is not None:
        message.failure.error_stream = node.error_stream.name
