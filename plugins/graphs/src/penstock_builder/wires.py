"""Streams and side packets of a graph that is being written: they connect nodes.

A wire belongs to one graph and has one writer: an output of a node, or the graph's own input. It may
have any number of readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Protocol, Self

from penstock.errors import InvalidArgumentError
from penstock.ports import port_name

if TYPE_CHECKING:
    from penstock import CalculatorContract
    from penstock.types import PayloadType


#: In the place of an output's tag and number: the stream of a node's failures, which no contract has.
FAILURES: Final = ("failure", 0)


class Namer(Protocol):
    """What a wire uses of the graph that it belongs to."""

    def name_stream(self, stream: Stream, name: str) -> None:
        """Give a stream a chosen name, under the prefix that is in force; as `Stream.named`."""

    def name_side_packet(self, side_packet: SidePacket, name: str) -> None:
        """Give a side packet a chosen name; as `SidePacket.named`."""

    def check_own(self, wire: object, wanted: type[Wire]) -> None:
        """Accept a stream or side packet of this graph; raise InvalidArgumentError for anything else."""

    def check_readers(self, loop: Stream, stream: Stream) -> None:
        """Raise InvalidArgumentError where a reader of a loop does not take the type of a stream."""


class Writer(Protocol):
    """What a wire uses of the node that writes it."""

    @property
    def who(self) -> str:
        """How errors name the node."""

    @property
    def contract(self) -> CalculatorContract | None:
        """What the calculator declares for the connected ports; None where it cannot be known."""

    def wire_at(self, kind: str, place: tuple[str, int]) -> Wire | None:
        """Return what a port of a kind ("inputs", say) is connected to."""


class Wire:
    """What streams and side packets have in common. Made by a graph or a node, not by hand."""

    #: For errors.
    what: ClassVar[str] = "wire"

    def __init__(
        self,
        graph: Namer,
        writer: tuple[Writer, tuple[str, int]] | None = None,
        declared: PayloadType | None = None,
    ) -> None:
        #: The `Graph` that it belongs to.
        self.graph = graph
        #: The `Node` that writes it and the (tag, index) of the output; None for a graph input.
        self.writer = writer
        #: The type that a graph input was given, or None.
        self.declared = declared
        #: Whether the application chose the name; then it stays.
        self.is_named = False
        self._name = ""

    @property
    def name(self) -> str:
        """The name in the config. A name that nobody chose changes where another wire is given it."""
        return self._name

    def rename(self, name: str, *, is_named: bool) -> None:
        """Take a name; called by `Names`, which keeps names unique."""
        self._name = name
        self.is_named = is_named

    def check_graph(self, graph: Namer) -> None:
        """Accept the wire in its own graph; raise InvalidArgumentError for another one."""
        if self.graph is not graph:
            raise InvalidArgumentError(
                f"{self.what} {self.name!r} belongs to another graph of the builder; a graph connects its "
                "own wires only",
                stream=self.name,
            )

    def described(self) -> str:
        """Return what it comes from, for errors."""
        if self.writer is None:
            return f"{self.what} {self.name!r} of the graph"
        node, place = self.writer
        return f"output {port_name(*place)} of {node.who}"

    def __repr__(self) -> str:
        return f"<{self.what} {self.name!r}, {self.described()}>"


class Stream(Wire):
    """A stream of packets."""

    what = "stream"

    def named(self, name: str) -> Self:
        """Choose the name, under the prefix that is in force; return the stream.

        Raises:
            InvalidArgumentError: it does not follow the grammar.
            AlreadyExistsError: another stream was given that name. Nothing changes.
        """
        self.graph.name_stream(self, name)
        return self


class SidePacket(Wire):
    """A packet that is there before, and for, a whole run."""

    what = "side packet"

    def named(self, name: str) -> Self:
        """Choose the name, under the prefix that is in force; return the side packet.

        Raises:
            InvalidArgumentError: it does not follow the grammar.
            AlreadyExistsError: another side packet was given that name. Nothing changes.
        """
        self.graph.name_side_packet(self, name)
        return self
