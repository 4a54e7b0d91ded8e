"""Streams and side packets of a graph that is being written: they connect nodes.

A wire belongs to one graph and has one writer: an output of a node, or the graph's own input. It may
have any number of readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Protocol, Self

from penstock.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
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


class LoopStream(Stream):
    """Stands for a stream that is not written yet: the way back of a loop.

    Inputs that read it become back edges. The application gets it inside of a `Feedback`.
    """

    what = "loop"

    def __init__(self, graph: Namer) -> None:
        super().__init__(graph)
        #: The stream that it stands for, or None.
        self.source: Stream | None = None

    @property
    def name(self) -> str:
        """The name of the stream that it stands for; "" until it is connected."""
        return "" if self.source is None else self.source.name

    def connect(self, stream: Stream) -> Stream:
        """Say which stream goes round; return it.

        Raises:
            InvalidArgumentError: it belongs to another graph, is a loop itself, or has a type that a
                reader does not take.
            AlreadyExistsError: the loop is connected. Nothing changes.
        """
        if self.source is not None:
            raise AlreadyExistsError(f"the builder's loop is wired to stream {self.source.name!r} already")
        if isinstance(stream, LoopStream):
            raise InvalidArgumentError(
                "a loop of the builder cannot be wired to a loop; connect both to the stream"
            )
        self.graph.check_own(stream, Stream)
        self.graph.check_readers(self, stream)
        self.source = stream
        return stream

    def named(self, name: str) -> Self:
        """Refuse: the name belongs to the stream.

        Raises:
            FailedPreconditionError: always.
        """
        raise FailedPreconditionError(
            f"the wire of a loop has no name of its own; name {name!r} the stream it stands for"
        )

    def described(self) -> str:
        """Return what it comes from, for errors."""
        return "a loop that is not connected yet" if self.source is None else self.source.described()


def resolved(wire: Wire) -> Wire:
    """Return the wire itself, or what a loop stands for where that is known."""
    if isinstance(wire, LoopStream) and wire.source is not None:
        return wire.source
    return wire
