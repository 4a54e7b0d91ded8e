"""How a subgraph's own graph is joined to the node that uses it: ports are matched and names changed.

Ports are matched by tag and index, never by name. Inside, the names of connected ports become the names
outside, every other name gets a prefix, and inputs that the node does not connect are removed from the
nodes that read them. Source: MediaPipe `tool/subgraph_expansion`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.config.places import Spot
from penstock.port_tags import is_name, port_name
from penstock.record import NamedTuple
from penstock.shown import quoted

if TYPE_CHECKING:
    from penstock.config.message import Message
    from penstock.port_tags import TaggedPort, TagMap

#: Fields of a node, and of a graph, that hold ports, and the word for one.
PORT_FIELDS: Final = {
    "input_stream": "input",
    "output_stream": "output",
    "input_side_packet": "input side packet",
    "output_side_packet": "output side packet",
}


class Misfit(NamedTuple):
    """A port of the node that cannot be joined: its field, its entry there, and what is wrong."""

    field: str
    entry: int
    words: str


class Interface:
    """The joint of one node and its subgraph.

    Args:
        prefix: of `expand.prefix_of`.
        outer: field → the ports that the node connects.
        inner: field → the ports of the subgraph's graph.
    """

    def __init__(self, prefix: str, outer: dict[str, TagMap], inner: dict[str, TagMap]) -> None:
        self._prefix = prefix
        #: The ports that cannot be joined. All others are joined.
        self.misfits: list[Misfit] = []
        #: Name inside → name outside.
        self._streams: dict[str, str] = {}
        self._side_packets: dict[str, str] = {}
        for field in PORT_FIELDS:
            self._join(field, outer[field], inner[field])
        self._unread = {
            field: _names_without(inner[field], outer[field]) - self._renamed(field).keys()
            for field in ("input_stream", "input_side_packet")
        }

    def rename(self, node: Message, name: str, spot: Spot | None) -> Spot | None:
        """Turn a node of the subgraph into one of the graph outside.

        Args:
            node: a Node message, which is changed.
            name: its canonical name inside.
            spot: where it stands.

        Returns:
            The spot, without the entries that were removed.
        """
        node.name = f"{self._prefix}{name}"
        for field in PORT_FIELDS:
            entries = getattr(node, field)
            unread = self._unread.get(field, ())
            kept = [i for i, entry in enumerate(entries) if entry.rpartition(":")[2] not in unread]
            if len(kept) < len(entries):
                spot = _spot_with(spot, field, kept)
            entries[:] = [self._outside(field, entries[i]) for i in kept]
        if node.failure.error_stream:
            node.failure.error_stream = self._outside("output_stream", node.failure.error_stream)
        return spot

    def _join(self, field: str, outer: TagMap, inner: TagMap) -> None:
        found = {(port.tag, port.index): port for port in inner}
        renamed = self._renamed(field)
        for port in outer:
            match = found.get((port.tag, port.index))
            if match is None:
                self._misfit(field, port, f"it has no such port; {_listed(field, inner)}")
            elif renamed.setdefault(match.name, port.name) != port.name:
                joined = quoted(renamed[match.name])
                words = f"inside it is {quoted(match.name)}, which is joined to {joined} already"
                self._misfit(field, port, f"{words}; put a node in between that forwards it")

    def _misfit(self, field: str, port: TaggedPort, words: str) -> None:
        words = f"{PORT_FIELDS[field]} {port_name(port.tag, port.index)} of the subgraph: {words}"
        self.misfits.append(Misfit(field, port.entry, words))

    def _renamed(self, field: str) -> dict[str, str]:
        return self._streams if field.endswith("stream") else self._side_packets

    def _outside(self, field: str, entry: str) -> str:
        place, colon, name = entry.rpartition(":")
        if not is_name(name):  # a fault, whose message quotes the entry of the file
            return entry
        outside = self._renamed(field).get(name, f"{self._prefix}{name}")
        return f"{place}{colon}{outside}"


def _names_without(inner: TagMap, outer: TagMap) -> set[str]:
    connected = set(outer.ids())
    return {port.name for port in inner if (port.tag, port.index) not in connected}


def _listed(field: str, ports: TagMap) -> str:
    listed = ", ".join(port_name(*place) for place in ports.ids())
    word = PORT_FIELDS[field]
    return f"its {word}s are: {listed}" if listed else f"it has no {word}s"


def _spot_with(spot: Spot | None, field: str, kept: list[int]) -> Spot | None:
    """Return a copy of a spot that has only these entries of a field."""
    if spot is None:
        return None
    made = Spot(spot.offset)
    made.fields = dict(spot.fields)
    entries = spot.fields.get(field, [])
    made.fields[field] = [entries[i] for i in kept if i < len(entries)]
    return made
