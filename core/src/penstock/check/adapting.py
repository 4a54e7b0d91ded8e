"""Puts adapters between outputs and inputs whose types differ; see `penstock.adapters`.

The graph gets a node for each stream and type that is needed, which all inputs of that type read. So what a
graph does to its payloads shows in its config and its picture, and a run knows nothing of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from penstock.check.spec import NodeSpec, Number, Text
from penstock.plan import message_of
from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.adapters import Adapter
    from penstock.check.protocols import Options
    from penstock.check.spec import GraphSpec

_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Adaptation(NamedTuple):
    """One input that reads a stream of another type than its own."""

    #: Position of the node in the file.
    node: int
    #: Position in the node's `input_stream`.
    entry: int
    #: The stream.
    stream: str
    adapter: Adapter


def with_adapters(
    graph: GraphSpec, adaptations: Iterable[Adaptation], taken: Iterable[str], options: Options
) -> GraphSpec:
    """Return the graph with adapters between; the graph that is given, and its message, do not change.

    Args:
        graph: as the file has it.
        adaptations: where adapters are needed.
        taken: names of streams and nodes.
        options: of a node without any.
    """
    given = message_of(graph.message)
    message = type(given)()
    message.CopyFrom(given)
    nodes = list(graph.nodes)
    names = set(taken)
    made: dict[tuple[str, str], str] = {}
    for one in adaptations:
        key = (one.stream, one.adapter.calculator)
        reader = nodes[one.node]
        entry = reader.input_streams[one.entry]
        if key not in made:
            made[key] = name = _free(f"{one.stream}_as_{_snake(one.adapter.target.__name__)}", names)
            names.add(name)
            nodes.append(_node(one, name, reader, entry.at, options))
            message.node.add(
                name=name, calculator=one.adapter.calculator, input_stream=[one.stream], output_stream=[name]
            )
        text = f"{entry.text[: len(entry.text) - len(one.stream)]}{made[key]}"
        entries: Any = list(reader.input_streams)
        entries[one.entry] = Text(text, entry.at)
        nodes[one.node] = reader._replace(input_streams=tuple(entries))
        message.node[one.node].input_stream[one.entry] = text
    return graph._replace(nodes=tuple(nodes), message=message)


def _node(one: Adaptation, name: str, reader: NodeSpec, at: int, options: Options) -> NodeSpec:
    """Return a new node. Its faults, if any, stand where the reader's input does."""
    nothing = Text("", at)
    calculator, inputs, outputs = Text(one.adapter.calculator, at), (Text(one.stream, at),), (Text(name, at),)
    where = reader.option_places
    return NodeSpec(name, calculator, inputs, outputs, (), (), options, nothing, Number(0, at), at, where)


def _free(wanted: str, taken: set[str]) -> str:
    """Return a name that nothing has: the wanted one, or that with a number."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _snake(name: str) -> str:
    return _WORD.sub("_", name).lower()
