"""The ports of a node that is being written, and of its graph: which wire is connected to which.

`ports["TAG"]`, `ports["TAG", 1]`, `ports[0]` and `ports.TAG` name a port, as everywhere in Penstock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from penstock.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError, NotFoundError
from penstock.ports import parse_tag_index, parse_tag_index_name, port_id, port_name
from penstock_builder.loops import resolved
from penstock_builder.wires import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.ports import PortKey

W = TypeVar("W", bound=Wire)

#: Port → wire. Any key: those of a dict that mixes "TAG" and 0 have no common type but `object`.
ByPort: TypeAlias = "Mapping[Any, W]"
#: What nodes take as inputs: ports and wires, or one wire, or several in order.
Wires: TypeAlias = "W | Iterable[W] | ByPort[W]"

_TAG: Final = re.compile(r"[A-Z][A-Z0-9_]*")


def place_of(key: PortKey) -> tuple[str, int]:
    """Return the tag and index that a key means; a "TAG:1" is taken too.

    Raises:
        InvalidArgumentError: it names no port.
    """
    if isinstance(key, str):
        return parse_tag_index(key)
    tag, index = port_id(key)
    if isinstance(key, bool) or index < 0:
        raise InvalidArgumentError(f"{key!r} names no port of the builder: an index is an int from 0")
    parse_tag_index(tag)
    return tag, index


def by_place(wires: Mapping[Any, W], what: str, who: str) -> dict[tuple[str, int], W]:
    """Return what ports are given, by tag and index.

    Raises:
        InvalidArgumentError: a key names no port, or two keys name the same one.
    """
    places = {place_of(key): wire for key, wire in wires.items()}
    if len(places) != len(wires):
        raise InvalidArgumentError(f"the builder's {who}: two of the ports {list(wires)} are one {what}")
    return places


class _Connected(NamedTuple, Generic[W]):
    """One port."""

    wire: W
    #: The text before the name in the file, such as "TAG:0:"; None for a port that no file wrote.
    written: str | None


class PortTable(Generic[W]):
    """The ports of one kind, in the order in which they were connected.

    Args:
        what: "input", "output side packet", ..., for errors.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._ports: dict[tuple[str, int], _Connected[W]] = {}

    def connect(self, place: tuple[str, int], wire: W, written: str | None = None) -> None:
        """Connect a port that is not connected."""
        self._ports[place] = _Connected(wire, written)

    def disconnect(self, place: tuple[str, int]) -> None:
        """Take a connection back."""
        del self._ports[place]

    def check_free(self, place: tuple[str, int], who: str, node: str) -> None:
        """Accept a port that is not connected; raise AlreadyExistsError for another one."""
        old = self.get(place)
        if old is not None:
            raise AlreadyExistsError(
                f"the builder's {who}: its port, {self.what} {port_name(*place)}, is connected to "
                f"{old.what} {old.name!r} already",
                node=node,
                stream=old.name,
            )

    def get(self, place: tuple[str, int]) -> W | None:
        """Return what a port is connected with."""
        found = self._ports.get(place)
        return None if found is None else found.wire

    def items(self) -> Iterator[tuple[tuple[str, int], W]]:
        """Yield (tag, index) and wire of each port."""
        return ((place, port.wire) for place, port in self._ports.items())

    def names(self) -> str:
        """Return the connected ports as an error lists them."""
        return ", ".join(port_name(*place) for place in sorted(self._ports)) or "none"

    def count(self, tag: str) -> int:
        """Return how many ports have a tag."""
        return sum(1 for one, _ in self._ports if one == tag)

    def next_place(self, tag: str) -> tuple[str, int]:
        """Return the place of one more port of a tag.

        Raises:
            InvalidArgumentError: it is no tag.
        """
        if tag and not _TAG.fullmatch(tag):
            raise InvalidArgumentError(
                f"the builder's ports: tag {tag!r} must be upper case letters, digits and _"
            )
        return tag, self.count(tag)

    def read(self, entries: Iterable[str], wire_of: Callable[[str, tuple[str, int]], W], who: str) -> None:
        """Connect the ports of a file, keeping its spelling and order.

        Args:
            entries: "name", "TAG:name" or "TAG:1:name".
            wire_of: gives the wire for a name and its place.
            who: what an error begins with.

        Raises:
            InvalidArgumentError: an entry is no port, or a port is named twice.
        """
        for text in entries:
            tag, index, name = parse_tag_index_name(text)
            place = (tag, self.count("") if index < 0 else index)
            if place in self._ports:
                raise InvalidArgumentError(
                    f"{who}: {self.what} {port_name(*place)} is twice among the builder's ports; name each "
                    "port once"
                )
            self.connect(place, wire_of(name, place), text[: len(text) - len(name)])

    def entries(self, who: str) -> list[str]:
        """Return the ports as the config has them: "name", "TAG:name", "TAG:1:name".

        Raises:
            FailedPreconditionError: an index is missing below one that is connected.
        """
        count: dict[str, int] = {}
        for tag, index in self._ports:
            count[tag] = max(count.get(tag, 0), index + 1)
        for tag, number in count.items():
            for index in range(number):
                if (tag, index) not in self._ports:
                    raise FailedPreconditionError(
                        f"{who}: {self.what} {port_name(tag, index)} is missing among the builder's ports, "
                        f"which have {port_name(tag, number - 1)}; connect all indices from 0"
                    )
        # Without a tag, the index is the position among the ports without a tag, in any order of connecting.
        untagged = iter(range(count.get("", 0)))
        return [self._entry(place if place[0] else ("", next(untagged)), count) for place in self._ports]

    def _entry(self, place: tuple[str, int], count: dict[str, int]) -> str:
        wire, written = self._ports[place]
        tag, index = place
        if written is None:
            written = "" if not tag else f"{tag}:" if count[tag] == 1 else f"{tag}:{index}:"
        return f"{written}{resolved(wire).name}"


def by_port(given: Wires[W]) -> ByPort[W]:
    """Return the wires that a node is given, as port → wire."""
    if isinstance(given, Mapping):
        return given
    # A thing that is no wire is refused, with a message, where it is connected.
    return dict(enumerate(given if isinstance(given, Iterable) else (given,)))


class InputPorts(Generic[W]):
    """The inputs of a node: `node.inputs["TAG"] = stream`, or `node.inputs.TAG = stream`."""

    __slots__ = ("_connect", "_table")

    _table: PortTable[W]
    _connect: Callable[[tuple[str, int], W], None]

    def __init__(self, table: PortTable[W], connect: Callable[[tuple[str, int], W], None]) -> None:
        object.__setattr__(self, "_table", table)
        object.__setattr__(self, "_connect", connect)

    def __setitem__(self, key: PortKey, wire: W) -> None:
        """Connect a port.

        Raises:
            InvalidArgumentError: the key names no port; the node's calculator has no such port, or one of
                another type; the wire is none, or of another graph.
            AlreadyExistsError: the port is connected. Nothing changes.
        """
        self._connect(place_of(key), wire)

    def __setattr__(self, tag: str, wire: W) -> None:
        _check_attribute(tag, self._table.what)
        self[tag] = wire

    def __getitem__(self, key: PortKey) -> W:
        """Return what a port is connected with.

        Raises:
            NotFoundError: it is not connected.
        """
        place = place_of(key)
        wire = self._table.get(place)
        if wire is None:
            raise NotFoundError(
                f"the builder's {self._table.what} {port_name(*place)} is not connected; "
                f"ports that are connected: {self._table.names()}"
            )
        return wire

    def __getattr__(self, tag: str) -> W:
        _check_attribute(tag, self._table.what)
        return self[tag]

    def __len__(self) -> int:
        return sum(1 for _ in self._table.items())

    def __contains__(self, key: object) -> bool:
        return self._table.get(place_of(key)) is not None  # type: ignore[arg-type]  # it refuses others


class OutputPorts(Generic[W]):
    """The outputs of a node: `node.outputs["TAG"]` or `node.outputs.TAG` is the stream, made on first use."""

    __slots__ = ("_table", "_take")

    def __init__(self, table: PortTable[W], take: Callable[[tuple[str, int]], W]) -> None:
        self._table = table
        self._take = take

    def __getitem__(self, key: PortKey) -> W:
        """Return the wire of a port; the first time, connect it.

        Raises:
            InvalidArgumentError: the key names no port, or the node's calculator has no such port.
        """
        place = place_of(key)
        wire = self._table.get(place)
        return self._take(place) if wire is None else wire

    def __getattr__(self, tag: str) -> W:
        _check_attribute(tag, self._table.what)
        return self[tag]

    def __len__(self) -> int:
        return sum(1 for _ in self._table.items())


def _check_attribute(tag: str, what: str) -> None:
    """Accept an attribute that can only mean a tag; for any other one raise AttributeError."""
    if not _TAG.fullmatch(tag):
        raise AttributeError(
            f"the builder has no {what} {tag!r}: tags of ports are in upper case; an index is given in "
            "brackets"
        )
