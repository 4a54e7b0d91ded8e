"""A graph as it is drawn: its nodes, and the writer and the readers of each stream and side packet.

Plain data, made by `reading`; the writers of Mermaid, DOT, SVG and words read nothing else. Everything
is in the order of the graph, so that equal graphs give equal drawings.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Stands between the names of a subgraph, or of a builder's prefix, and of what is inside.
SEPARATOR: Final = "__"


#: The graph's own ports: what their ids begin with in text formats → attribute of `Drawing`.
GRAPH_PORTS: Final = {
    "in": "inputs",
    "side_in": "input_side_packets",
    "out": "outputs",
    "side_out": "output_side_packets",
}


class NodeKind(enum.StrEnum):
    """What a node is, as far as it is known."""

    CALCULATOR = "calculator"
    SUBGRAPH = "subgraph"
    UNKNOWN = "unknown"


@attrs.frozen
class Port:
    """One connection as the graph writes it: "FRAMES:1:video"."""

    #: "TAG", `"TAG:1"` or "".
    place: str
    #: The name of the stream or side packet.
    name: str
    #: For input streams: whether the connection closes a cycle.
    back_edge: bool = False
    #: For output streams: whether it is the error stream of the node's failure policy.
    is_error: bool = False

    @property
    def entry(self) -> str:
        """The connection as the graph writes it."""
        return f"{self.place}:{self.name}" if self.place else self.name


@attrs.frozen
class DrawnNode:
    """One node."""

    #: Canonical, unique in the graph.
    name: str
    #: Registered name of the calculator or subgraph.
    calculator: str
    #: What that is; UNKNOWN where nothing that is installed provides it.
    kind: NodeKind = NodeKind.CALCULATOR
    #: "" for the default one.
    executor: str = ""
    #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: connections, in the order of the
    #: graph.
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    input_side_packets: tuple[Port, ...] = ()
    output_side_packets: tuple[Port, ...] = ()
    #: Further lines in its box, such as times of a run.
    notes: tuple[str, ...] = attrs.field(default=(), kw_only=True)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that it is in, outermost first: the parts of its name before each "__"."""
        return tuple(self.name.split(SEPARATOR)[:-1])

    @property
    def label(self) -> str:
        """Its name inside of its groups."""
        return self.name.rpartition(SEPARATOR)[2] or self.name

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines in its box: label, calculator where that is another word, executor if any, and notes."""
        calculator = (self.calculator,) if self.calculator != self.label else ()
        return (self.label, *calculator, *((f"on {self.executor}",) if self.executor else ()), *self.notes)


@attrs.frozen
class End:
    """One end of a wire."""

    #: Position in `Drawing.nodes`; -1 for the graph itself.
    node: int
    #: Position among the ports of its kind there.
    port: int
    #: The connection as the graph writes it.
    entry: str
    #: `back_edge`, `is_error`: see `Port`.
    back_edge: bool = False
    is_error: bool = False


@attrs.frozen
class Wire:
    """A stream or side packet."""

    #: The name of it.
    name: str
    #: Whether it is a side packet.
    is_side: bool
    #: None where nothing in the graph makes it. That is a fault for a stream; a side packet is then expected
    #: from the application, as one that the graph declares is.
    writer: End | None
    #: The graph's own outputs last.
    readers: tuple[End, ...]

    @property
    def is_error(self) -> bool:
        """Whether it carries the failures of its writer."""
        return self.writer is not None and self.writer.is_error

    def start(self) -> str:
        """Return the id of its writer in text formats; "" where it has no writer."""
        if self.writer is None:
            return ""
        return f"n{self.writer.node}" if self.writer.node >= 0 else f"{self._side}in{self.writer.port}"

    def target(self, end: End) -> str:
        """Return the id of a reader in text formats."""
        return f"n{end.node}" if end.node >= 0 else f"{self._side}out{end.port}"

    @property
    def _side(self) -> str:
        return "side_" if self.is_side else ""


@attrs.frozen
class Drawing:
    """A whole graph."""

    #: Its type, or its file's name; "" where it has neither.
    name: str
    #: In the order of the graph.
    nodes: tuple[DrawnNode, ...]
    #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: of the graph itself.
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    input_side_packets: tuple[Port, ...] = ()
    output_side_packets: tuple[Port, ...] = ()
    #: Name ("" for the default one) and type ("" where the application hands it in).
    executors: tuple[tuple[str, str], ...] = ()
    #: What could not be drawn, in words.
    notes: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    #: Outermost group → name of the subgraph that it is a use of, where that is known.
    titles: dict[str, str] = attrs.field(factory=dict)
    #: Stream → further lines under its name, such as how many packets it carried.
    stream_notes: dict[str, tuple[str, ...]] = attrs.field(factory=dict, kw_only=True)

    def wires(self) -> list[Wire]:
        """Return all streams, then all side packets, each in the order in which the graph names them."""
        return [
            *_wires(self.inputs, self.outputs, [(node.inputs, node.outputs) for node in self.nodes]),
            *_wires(
                self.input_side_packets,
                self.output_side_packets,
                [(node.input_side_packets, node.output_side_packets) for node in self.nodes],
                is_side=True,
            ),
        ]

    def group_title(self, group: tuple[str, ...]) -> str:
        """Return the title over a group."""
        name = group[-1]
        kind = self.titles.get(name, "") if len(group) == 1 else ""
        if kind and kind.lower() != name:
            return f"{name} ({kind})"
        return kind or name


def _wires(
    given: Sequence[Port],
    taken: Sequence[Port],
    nodes: Sequence[tuple[Sequence[Port], Sequence[Port]]],
    *,
    is_side: bool = False,
) -> Iterator[Wire]:
    writers: dict[str, End] = {}
    readers: dict[str, list[End]] = {}
    for end, port in _ends(-1, given):
        writers.setdefault(port.name, end)
    for number, (_, outputs) in enumerate(nodes):
        for end, port in _ends(number, outputs):
            writers.setdefault(port.name, end)
    for number, (inputs, _) in enumerate(nodes):
        for end, port in _ends(number, inputs):
            readers.setdefault(port.name, []).append(end)
    for end, port in _ends(-1, taken):
        readers.setdefault(port.name, []).append(end)
    for name in dict.fromkeys((*writers, *readers)):
        yield Wire(name, is_side, writers.get(name), tuple(readers.get(name, ())))


def _ends(node: int, ports: Sequence[Port]) -> Iterator[tuple[End, Port]]:
    for number, port in enumerate(ports):
        yield End(node, number, port.entry, port.back_edge, port.is_error), port
