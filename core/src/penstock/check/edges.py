"""Which node writes each stream and side packet, and which nodes read it. Notes the faults of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.check.spec import Text
from penstock.contract import PortSpec
from penstock.errors import StatusCode
from penstock.near_names import did_you_mean
from penstock.port_tags import port_name
from penstock.record import NamedTuple
from penstock.shown import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.check.faults import Faults
    from penstock.check.nodes import Draft
    from penstock.port_tags import TagMap

#: How often similar names are looked for in one graph: each search reads the names of all streams.
_MOST_SEARCHES: Final = 20


class Producer(NamedTuple):
    """The writer of a stream or side packet."""

    #: Position of its node in the file, or -1 for a graph input.
    node: int
    #: What it declares; a graph input takes anything.
    spec: PortSpec


class Edge(NamedTuple):
    """One connected input of a node."""

    #: Position of the reader in the file.
    node: int
    #: Position among the reader's inputs, in id order.
    port: int
    #: What the reader declares.
    spec: PortSpec
    #: The name of the stream or side packet.
    name: str
    #: Where the file connects it.
    at: int
    #: None where nothing in the graph writes it.
    producer: Producer | None
    #: Whether it closes a cycle.
    back_edge: bool


class Wiring:
    """The streams and side packets of a graph."""

    def __init__(self, drafts: Sequence[Draft], graph_inputs: TagMap, faults: Faults) -> None:
        self._drafts = drafts
        self._faults = faults
        self._searches = 0
        #: `streams`, `side_packets`: name → its producer; graph inputs come first.
        self.streams: dict[str, Producer] = {}
        self.side_packets: dict[str, Producer] = {}
        for port in graph_inputs:
            self.streams.setdefault(port.name, Producer(-1, PortSpec(name=port.name).set_any()))
        for node, draft in enumerate(drafts):
            contract, spec = draft.contract, draft.spec
            if draft.outputs.ports:
                self._produce(node, self.streams, draft.outputs, contract.outputs.items, spec.output_streams)
            if spec.failure is not None:
                entries = (Text(spec.failure[0].error_stream, spec.failure[1]),)
                self._produce(node, self.streams, draft.error_streams, draft.error_ports, entries)
            if draft.output_side_packets.ports:
                made, specs = draft.output_side_packets, contract.output_side_packets
                self._produce(node, self.side_packets, made, specs, spec.output_side_packets)
        #: Whether each node comes after the nodes that it reads, and none has a back edge.
        self.is_in_order = True
        #: `stream_edges`, `side_edges`: for each node in file order, its inputs in id order.
        self.stream_edges = [self._stream_edges(node, draft) for node, draft in enumerate(drafts)]
        self.side_edges = [self._side_edges(node, draft) for node, draft in enumerate(drafts)]

    def above(self, node: int) -> list[int]:
        """Return the nodes that must come before a node in the plan, once for each edge."""
        return [edge.producer.node for edge in self._ordering(node) if edge.producer is not None]

    def below(self, node: int, producer: int) -> Iterator[Edge]:
        """Yield the edges that put `node` after `producer`: streams first, then side packets."""
        return (edge for edge in self._ordering(node) if edge.producer and edge.producer.node == producer)

    def is_stream(self, edge: Edge) -> bool:
        """Return whether an edge is a stream's, not a side packet's."""
        edges = self.stream_edges[edge.node]
        return edge.port < len(edges) and edges[edge.port] is edge

    def _ordering(self, node: int) -> list[Edge]:
        edges = (*self.stream_edges[node], *self.side_edges[node])
        return [one for one in edges if one.producer and one.producer.node >= 0 and not one.back_edge]

    def _produce(
        self,
        node: int,
        producers: dict[str, Producer],
        ports: TagMap,
        specs: Iterable[PortSpec],
        entries: tuple[Text, ...],
    ) -> None:
        for port, spec in zip(ports.ports, specs, strict=True):
            old = producers.get(port.name)
            if old is None:
                producers[port.name] = Producer(node, spec)
                continue
            draft = self._drafts[node]
            what = "output stream" if producers is self.streams else "output side packet"
            first = "the graph has an input stream of that name" if old.node < 0 else self._writes(old, node)
            words = f"{what} {quoted(port.name)} is defined twice: {first}; give one of them another name"
            at = _place_of(entries, port.name, port.entry)
            self._faults.add(at, f"{draft.who}: {words}", node=draft.name, stream=port.name)

    def _writes(self, producer: Producer, node: int) -> str:
        if producer.node == node:
            return "this node has it already"
        return f"{self._drafts[producer.node].who} has it already"

    def _stream_edges(self, node: int, draft: Draft) -> Sequence[Edge]:
        edges = []
        for i, (port, spec) in enumerate(zip(draft.inputs.ports, draft.contract.inputs.items, strict=True)):
            at = _place_of(draft.spec.input_streams, port.name, port.entry)
            producer = self.streams.get(port.name)
            edge = Edge(node, i, spec, port.name, at, producer, i in draft.back_edges)
            if producer is None:
                self._missing(draft, edge)
            elif producer.node >= node or edge.back_edge:
                self.is_in_order = False
            edges.append(edge)
        return edges

    def _side_edges(self, node: int, draft: Draft) -> Sequence[Edge]:
        if not draft.input_side_packets.ports:
            return ()
        edges = []
        ports = zip(draft.input_side_packets, draft.contract.input_side_packets, strict=True)
        for i, (port, spec) in enumerate(ports):
            at = _place_of(draft.spec.input_side_packets, port.name, port.entry)
            producer = self.side_packets.get(port.name)
            if producer is not None and producer.node >= node:
                self.is_in_order = False
            edges.append(Edge(node, i, spec, port.name, at, producer, back_edge=False))
        return edges

    def _missing(self, draft: Draft, edge: Edge) -> None:
        self._searches += 1
        meant = did_you_mean(edge.name, self.streams) if self._searches <= _MOST_SEARCHES else ""
        port = port_name(edge.spec.tag, edge.spec.index)
        what = f"back edge {quoted(edge.name)}" if edge.back_edge else f"input stream {quoted(edge.name)}"
        words = f"{what} (input {port}) has no producer{meant}"
        words += "; let a node write it, or make it an input_stream of the graph"
        # The reference's codes: it checks back edges at a later stage.
        code = StatusCode.INTERNAL if edge.back_edge else StatusCode.UNKNOWN
        self._faults.add(edge.at, f"{draft.who}: {words}", code=code, node=draft.name, stream=edge.name)


def _place_of(entries: tuple[Text, ...], name: str, entry: int) -> int:
    """Return the place of an entry. Where some could not be read, its position is not that of the file."""
    if entry < len(entries) and entries[entry].text.endswith(name):
        return entries[entry].at
    return next((one.at for one in entries if one.text.endswith(name)), entries[0].at)
