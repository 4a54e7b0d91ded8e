"""The streams that stand for the ways back of loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from penstock.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
from penstock_builder.wires import Stream

if TYPE_CHECKING:
    from penstock_builder.wires import Namer, Wire


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
            f"the builder's loop has no name of its own; name {name!r} the stream that it stands for"
        )

    def described(self) -> str:
        """Return what it comes from, for errors."""
        return "a loop that is not connected yet" if self.source is None else self.source.described()


def resolved(wire: Wire) -> Wire:
    """Return the wire itself, or what a loop stands for where that is known."""
    if isinstance(wire, LoopStream) and wire.source is not None:
        return wire.source
    return wire
