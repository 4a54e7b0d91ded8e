"""`Output` and `OutputSidePacket`: the output ports of a calculator.

What a calculator writes waits in its outputs: nothing else sees it until the invocation is complete. A
mistake raises where it is made and changes nothing, so that a calculator may catch it and go on.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.engine.methods import CLOSE, METHODS, OPEN, PROCESS
from penstock.engine.native import mypyc_attr
from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    PacketTypeError,
    PenstockError,
    StreamClosedError,
    TimestampError,
    TimestampOrderError,
)
from penstock.payload_types import cure, fits
from penstock.timestamp import (
    DONE,
    MAX,
    MIN,
    ONE_OVER_POSTSTREAM,
    POSTSTREAM,
    PRESTREAM,
    UNSET,
    check_offset,
    next_allowed,
    show,
)

if TYPE_CHECKING:
    from typing import SupportsIndex

    from penstock.engine.calculator import CalculatorContext
    from penstock.engine.stream import OutputStream


class Writer(Protocol):
    """The writer of an output: a context, or the application where the stream is a graph input."""

    @property
    def method(self) -> int:
        """OPEN, PROCESS or CLOSE."""

    @property
    def stamp(self) -> int:
        """The input timestamp."""


@mypyc_attr(allow_interpreted_subclasses=True)  # see `runtime.tracing`
class Output:
    """One output port during an invocation."""

    __slots__ = ("_accepted", "_context", "bound", "packets", "stream", "will_close")

    def __init__(self, stream: OutputStream, context: Writer) -> None:
        self.stream: Final = stream
        self._context: Final = context
        self._accepted: Final = stream.accepted
        #: The smallest timestamp that may be written now. For handlers and tests.
        self.bound = PRESTREAM
        #: What was written and not yet delivered.
        self.packets: list[Packet] = []
        self.will_close = False

    def add(self, payload: object, timestamp: SupportsIndex) -> None:
        """Write a payload at a timestamp.

        Raises:
            TimestampError: a packet in a stream cannot have the timestamp.
            TimestampOrderError: it is behind the stream's bound.
            PacketTypeError: the payload is not of the declared type.
            StreamClosedError: the stream is closed.
            FailedPreconditionError: called in `close` of a node with an offset.
            Nothing is written then.
        """
        self.add_packet(Packet(payload, timestamp))

    def add_packet(self, packet: Packet) -> None:
        """Write a packet; an empty one at `t` says that nothing comes up to and including `t`.

        Raises:
            As `add`.
        """
        stamp = packet.stamp
        value = packet.value
        accepted = self._accepted
        if (
            packet.is_ordinary
            and self.bound <= stamp
            and (accepted is None or value.__class__ in accepted)
            and value is not NO_PAYLOAD
        ):
            self.packets.append(packet)
            self.bound = stamp + 1
        else:
            self._add_with_care(packet)

    def empty(self, shape: object, dtype: object = "uint8") -> Any:
        """Return a new NumPy array to work in, whose values are undefined, for a payload of this output.

        In a process of a `ProcessExecutor` it lies where the packet is read from, so that an array, or an
        image over it, need not be copied once more. Elsewhere it is ordinary memory. It is the caller's, and
        writable.

        Args:
            shape: of the array, as for `numpy.empty`.
            dtype: of its elements.

        Raises:
            ImportError: NumPy is not installed.
            FailedPreconditionError: no node writes this stream.
        """
        node = self.stream.node
        if node is None:
            raise FailedPreconditionError(f"stream {self.name!r}: only a node makes arrays for its outputs")
        return node.services.empty_array(shape, dtype)

    def set_next_timestamp_bound(self, bound: SupportsIndex) -> None:
        """Promise that nothing below `bound` will be written.

        Raises:
            TimestampError: neither allowed in a stream nor ONE_OVER_POSTSTREAM.
            TimestampOrderError: below the present bound.
            StreamClosedError: the stream is closed.
        """
        t = Packet(timestamp=bound).stamp
        if self.is_closed():
            raise self._error(StreamClosedError, f"bound at {show(t)} after the stream was closed", t)
        if not PRESTREAM <= t <= ONE_OVER_POSTSTREAM:
            why = "is no timestamp bound; it must be allowed in a stream, or be ONE_OVER_POSTSTREAM"
            raise self._error(TimestampError, f"{show(t)} {why}", t)
        if t < self.bound and self.stream.is_ordered:
            why = f"is behind the present bound {show(self.bound)}; bounds only grow"
            raise self._error(TimestampOrderError, f"bound {show(t)} {why}", t)
        self.bound = max(t, self.bound)

    def set_header(self, packet: Packet) -> None:
        """Give the stream a header, which its readers see from their `open` on.

        Raises:
            FailedPreconditionError: not in `open`.
            InvalidArgumentError: the packet has a timestamp.
        """
        self._only_in_open("set_header")
        if packet.stamp != UNSET:
            what = f"a header has no timestamp, but this one has {show(packet.stamp)}"
            raise self._error(InvalidArgumentError, what)
        self.stream.header = packet

    def set_offset(self, offset: SupportsIndex) -> None:
        """Promise outputs at or after the input's timestamp plus `offset`, from the next call on.

        Raises:
            FailedPreconditionError: not in `open`.
        """
        self._only_in_open("set_offset")
        promised = index(offset)
        check_offset(promised)
        self.stream.offset = promised

    def close(self) -> None:
        """End the stream after this invocation; what was written is still delivered."""
        self.will_close = True
        self.bound = DONE

    def is_closed(self) -> bool:
        """Return whether nothing can be written any more."""
        return self.will_close or self.stream.is_closed

    @property
    def name(self) -> str:
        """The name of the stream."""
        return self.stream.name

    def count_dropped(self, reason: str, count: SupportsIndex = 1) -> None:
        """Count packets that this node had for the stream, and threw away in place of writing them.

        For sources that cannot wait, such as cameras: the graph's ledger then counts the packets as written
        and dropped here, before any reader.

        Args:
            reason: why, in a few words that stay the same: the ledger adds up by reason.
            count: how many packets.

        Raises:
            InvalidArgumentError: `count` is negative.
        """
        number = index(count)
        if number < 0:
            raise self._error(
                InvalidArgumentError, f"its output cannot have dropped {number} packets; give 0 or more"
            )
        node = self.stream.node
        if number and node is not None:
            node.services.count_unwritten(self.stream, reason, number)

    def _only_in_open(self, what: str) -> None:
        if self._context.method != OPEN:
            method = METHODS[self._context.method]
            why = f"{what} can be called in open() only, not in {method}()"
            raise self._error(FailedPreconditionError, why)

    def _error(self, kind: type[PenstockError], what: str, timestamp: int | None = None) -> PenstockError:
        name = self.stream.name
        return kind(f"stream {name!r}: {what}", stream=name, timestamp=timestamp)

    def _add_with_care(self, packet: Packet) -> None:
        """Refuse with a reason, or handle what is too rare for the fast path."""
        t, stream = packet.stamp, self.stream
        if self.is_closed():
            raise self._error(StreamClosedError, f"packet at {show(t)} after the stream was closed", t)
        if stream.offset is not None and self._context.method == CLOSE:
            why = (
                "a node with a timestamp offset cannot write in close(), because its outputs are done when "
                "its inputs are; set bounds in process() instead of the offset, and keep a timestamp "
                "(Timestamp.MAX, say) free"
            )
            raise self._error(FailedPreconditionError, why, t)
        if not PRESTREAM <= t <= POSTSTREAM:
            why = f"{show(t)} cannot be the timestamp of a packet in a stream"
            if t == UNSET:
                why += "; write Packet(payload, timestamp)"
            raise self._error(TimestampError, why, t)
        if packet.value is NO_PAYLOAD:
            self.set_next_timestamp_bound(next_allowed(t))
            return
        if t < self.bound and stream.is_ordered:
            raise self._order_error(t)
        has_others = self.packets or stream.added > sum(stream.dropped.values())
        if t == POSTSTREAM and has_others and stream.is_ordered:
            why = "a packet at Timestamp::PostStream() must be the only one of its stream"
            raise self._error(TimestampOrderError, why, t)
        if not stream.fits(packet.value):
            kind = f"{type(packet.value).__name__!r}{cure(packet.value, stream.classes)}"
            holds = f"holds a {kind}, but the stream carries {stream.type_name}"
            raise self._error(PacketTypeError, f"packet at {show(t)} {holds}", t)
        self.packets.append(packet)
        if stream.is_ordered:
            self.bound = max(self.bound, next_allowed(t))

    def _order_error(self, t: int) -> PenstockError:
        stream = self.stream
        why = "timestamps in a stream must increase"
        context = self._context
        if stream.offset is not None and context.method == PROCESS:
            promised = context.stamp + stream.offset if MIN <= context.stamp <= MAX else context.stamp
            if t < promised:
                why = (
                    f"the node promised an offset of {stream.offset} from its input at {show(context.stamp)}"
                )
        what = f"packet at {show(t)} is behind the bound {show(self.bound)}; {why}"
        return self._error(TimestampOrderError, what, t)


def late_output(output: Output) -> TimestampOrderError:
    """Return the error of a parallel call that wrote behind what an earlier call has written."""
    stream, t = output.stream, output.packets[0].stamp
    return TimestampOrderError(
        f"stream {stream.name!r}: packet at {show(t)} is behind the bound {show(stream.bound)}; parallel "
        "calls of process() leave in the order of their inputs, and timestamps in a stream must increase",
        stream=stream.name,
        timestamp=t,
    )


class OutputSidePacket:
    """One output side packet port: to be set once in a run, in any method."""

    __slots__ = ("_context", "classes", "name", "type_name")

    def __init__(
        self, context: CalculatorContext, name: str, classes: tuple[type, ...] | None, type_name: str
    ) -> None:
        self._context: Final = context
        self.name: Final = name
        self.classes: Final = classes
        self.type_name: Final = type_name

    def set(self, payload: object) -> None:
        """Make the side packet, and hand it at once to the nodes that wait for it.

        A `Packet` without timestamp is taken as it is, anything else becomes its payload.

        Raises:
            AlreadyExistsError: it was set before in this run.
            InvalidArgumentError: the packet is empty or has a timestamp.
            PacketTypeError: the payload is not of the declared type.
        """
        name = self.name
        packet = payload if isinstance(payload, Packet) else Packet(payload)
        if packet.is_empty():
            raise InvalidArgumentError(f"output side packet {name!r}: empty at its output port", stream=name)
        if packet.stamp != UNSET:
            raise InvalidArgumentError(
                f"output side packet {name!r} has a timestamp {show(packet.stamp)}; side packets have none",
                stream=name,
            )
        if self.classes is not None and not fits(packet.value, self.classes):
            raise PacketTypeError(
                f"output side packet {name!r}: its output port is given a {type(packet.value).__name__!r}"
                f"{cure(packet.value, self.classes)}, but is declared as {self.type_name}",
                stream=name,
            )
        node = self._context.node
        node.services.set_output_side_packet(node, name, packet)
