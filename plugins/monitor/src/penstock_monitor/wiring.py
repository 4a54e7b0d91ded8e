"""Who writes and who reads each stream of a graph, as the graph file says it, or as a run has it.

The two differ where an executor runs neighbours as one node in another process.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Self

import attrs

from penstock.config import CalculatorGraphConfig
from penstock.ports import TagMap
from penstock.readers import numbered_nodes

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock import CalculatorGraph
    from penstock.explain import Ledger


@attrs.frozen
class StreamWiring:
    """What does not change about a stream during a run."""

    #: The name of the stream.
    name: str
    #: The node that writes it; "" for a graph input, and where it is not known.
    writer: str = ""
    #: The nodes that read it, each once.
    readers: tuple[str, ...] = ()
    #: `is_input`, `is_output`: whether it is a graph input, or a graph output.
    is_input: bool = False
    is_output: bool = False


@attrs.frozen(slots=False)  # for cached_property
class Wiring:
    """The streams of a graph, and its nodes."""

    #: Canonical name → registered name of the calculator, in the order of the graph.
    nodes: dict[str, str]
    #: By their names, in the order of the plan.
    streams: dict[str, StreamWiring]
    #: Canonical name → how many calls of the node may overlap; nodes that a run has joined are missing.
    calls: dict[str, int] = attrs.field(factory=dict)

    @classmethod
    def of_graph(cls, graph: CalculatorGraph) -> Self:
        """Return what the graph file says."""
        message = CalculatorGraphConfig.FromString(graph.binary_config)
        names = numbered_nodes([node.name or node.calculator for node in message.node])
        writers = dict.fromkeys(graph.input_streams, "")
        readers: dict[str, list[str]] = {}
        for name, node in zip(names, message.node, strict=True):
            failures = [node.failure.error_stream] if node.failure.error_stream else []
            for port in (*TagMap(node.output_stream), *TagMap(failures)):
                writers[port.name] = name
            for port in TagMap(node.input_stream):
                readers.setdefault(port.name, []).append(name)
        inputs, outputs = set(graph.input_streams), set(graph.output_streams)
        streams = {
            name: _stream(name, writer, readers.get(name, ()), inputs, outputs)
            for name, writer in writers.items()
        }
        calls = {name: max(1, node.max_in_flight) for name, node in zip(names, message.node, strict=True)}
        calculators = {name: node.calculator for name, node in zip(names, message.node, strict=True)}
        return cls(calculators, streams, calls)

    @classmethod
    def of_run(cls, graph: CalculatorGraph, ledger: Ledger, nodes: dict[str, str]) -> Self:
        """Return what a run has; `nodes` as in the attributes."""
        inputs, outputs = set(graph.input_streams), set(graph.output_streams)
        streams = {
            one.name: _stream(
                one.name, _node_at(one.place), [at.node for at in one.readers if at.node], inputs, outputs
            )
            for one in ledger.streams
        }
        return cls(nodes, streams)

    def is_complete(self) -> bool:
        """Return whether the writer of each stream is known; nodes elsewhere tell theirs when they open."""
        return all(one.writer or one.is_input for one in self.streams.values())

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The streams by which packets enter the graph: graph inputs, and those that sources write."""
        return tuple(
            one.name
            for one in self.streams.values()
            if one.is_input or (one.writer and one.writer not in self.reads)
        )

    @cached_property
    def reads(self) -> dict[str, list[str]]:
        """Node → the streams that it reads; sources are missing."""
        found: dict[str, list[str]] = {}
        for one in self.streams.values():
            for node in one.readers:
                found.setdefault(node, []).append(one.name)
        return found

    @cached_property
    def _written(self) -> dict[str, list[str]]:
        """Node → the streams that it writes; "" for graph inputs."""
        found: dict[str, list[str]] = {}
        for one in self.streams.values():
            found.setdefault(one.writer, []).append(one.name)
        return found

    @cached_property
    def exits(self) -> tuple[str, ...]:
        """The streams at which packets leave: graph outputs, and those that no node or only sinks read.

        A sink is a node that writes no stream.
        """
        return tuple(
            one.name
            for one in self.streams.values()
            if one.is_output or self._written.keys().isdisjoint(one.readers)
        )

    def below(self, name: str) -> set[str]:
        """Return the streams that packets of a stream may lead to, itself included."""
        found, new = {name}, [name]
        while new:
            for node in self.streams[new.pop()].readers:
                fresh = [stream for stream in self._written.get(node, ()) if stream not in found]
                found.update(fresh)
                new += fresh
        return found


def _stream(
    name: str, writer: str, readers: Collection[str], inputs: Collection[str], outputs: Collection[str]
) -> StreamWiring:
    return StreamWiring(name, writer, tuple(dict.fromkeys(readers)), name in inputs, name in outputs)


def _node_at(place: str) -> str:
    """Return the node of a place of the ledger, "node 'X'"; "" for a graph input."""
    kind, _, quoted = place.partition(" ")
    return str(ast.literal_eval(quoted)) if kind == "node" else ""
