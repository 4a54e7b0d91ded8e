"""`LintedGraph`: a checked graph as rules look at it, and where its parts stand in the file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from penstock.lowlevel import ReadGraph, numbered_nodes, prefix_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from penstock import Registry
    from penstock.lowlevel import NodePlan, OptionTypes, Plan, PortPlan

#: Of the handler that keeps all inputs of a node in step.
DEFAULT_HANDLER: Final = "DefaultInputStreamHandler"


class LintedGraph:
    """A graph that loads.

    Args:
        plan: with subgraphs expanded.
        read: the graph as the file has it; None where it is a template, which has no places.
        registry, types: find components and options.

    Attributes:
        plan, message, registry, types: as given; `message` is that of the file, or of the plan.
    """

    def __init__(self, plan: Plan, read: ReadGraph | None, registry: Registry, types: OptionTypes) -> None:
        self.plan: Final = plan
        self.registry: Final = registry
        self.types: Final = types
        self.message: Any = plan.config if read is None else read.message
        self._read: Final = read
        names = numbered_nodes([node.name or node.calculator for node in self.message.node])
        self._own: Final = {name: number for number, name in enumerate(names)}
        self._prefixes: Final = {prefix_of(name): number for name, number in self._own.items()}

    # --- what the plan says -------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[NodePlan, ...]:
        """The nodes, those of subgraphs included."""
        return self.plan.nodes

    def stream(self, port: PortPlan) -> str:
        """Return the name of the stream of a port."""
        return self.plan.streams[port.stream].name

    def writer(self, stream: int) -> int | None:
        """Return the node that writes a stream; None for a graph input."""
        return self.plan.streams[stream].producer

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Stream → the nodes that read it."""
        found: dict[int, list[int]] = {}
        for node in self.nodes:
            for port in node.inputs:
                found.setdefault(port.stream, []).append(node.id)
        return found

    def behind(self, start: Collection[int], *, past_back_edges: bool = True) -> set[int]:
        """Return the streams that come of some streams, these included.

        Args:
            start: numbers of streams.
            past_back_edges: whether the way goes on where a back edge is read.
        """
        found, waiting = set(start), list(start)
        while waiting:
            stream = waiting.pop()
            for number in self.readers.get(stream, ()):
                node = self.nodes[number]
                is_read = any(
                    port.stream == stream and (past_back_edges or not port.back_edge) for port in node.inputs
                )
                new = {port.stream for port in node.outputs} - found if is_read else set()
                found |= new
                waiting += new
        return found

    def comes_from_outside(self, stream: int) -> bool:
        """Return whether a stream is an input of a graph that is made to be part of others.

        What the others connect with it is not known: it may well come of this graph's outputs.
        """
        return bool(self.message.type) and self.writer(stream) is None

    def outputs_of(self, node: NodePlan) -> set[int]:
        """Return the streams that a node writes."""
        return {port.stream for port in node.outputs}

    def is_default(self, node: NodePlan) -> bool:
        """Return whether all inputs of a node are kept in step."""
        return node.handler.name == DEFAULT_HANDLER

    def of_kind(self, *endings: str) -> Iterator[NodePlan]:
        """Yield the nodes whose calculator has one of these names, whatever package is before it."""
        for node in self.nodes:
            if node.calculator.rpartition(".")[2] in endings:
                yield node

    @property
    def text(self) -> str:
        """The text of the file; "" where it has none."""
        return "" if self._read is None else self._read.places.text

    # --- where it stands ----------------------------------------------------------------------

    def is_of_the_file(self, node: NodePlan) -> bool:
        """Return whether a node stands in the file itself, and not in a subgraph."""
        return node.name in self._own

    def message_of(self, node: NodePlan) -> Any:
        """Return the message of a node of the file, or None."""
        number = self._own.get(node.name)
        return None if number is None else self.message.node[number]

    def position(self, node: int | None, field: str, index: int) -> tuple[int, int]:
        """Return line and column of a node, or of the graph's own field; (0, 0) where there are no lines."""
        if self._read is None:
            return 0, 0
        if node is not None:
            number = self._number_of(self.nodes[node].name)
            return (0, 0) if number is None else self._read.places.position_of((("node", number),)) or (0, 0)
        path = ((field, index),) if field else ()
        return self._read.places.position_of(path) or (0, 0)

    def _number_of(self, name: str) -> int | None:
        """Return which node of the file a node is, or is inside of."""
        if name in self._own:
            return self._own[name]
        inside = [prefix for prefix in self._prefixes if name.startswith(prefix)]
        return self._prefixes[max(inside, key=len)] if inside else None
