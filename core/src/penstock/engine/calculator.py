"""`Calculator`, and what its methods see: inputs, outputs and the context that holds them.

A context belongs to one invocation at a time; only the thread that runs it touches it. What a
calculator writes waits in its `Output`s: nothing else sees it until the invocation is complete.
A mistake raises where it is made and changes nothing, so that a calculator may catch it and go on.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, final

from penstock.engine.native import mypyc_attr
from penstock.engine.packet import NOTHING, Packet
from penstock.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    PacketTypeError,
    StreamClosedError,
    TimestampError,
    TimestampOrderError,
)
from penstock.timestamp import (
    DONE,
    MAX,
    MIN,
    ONE_OVER_POSTSTREAM,
    POSTSTREAM,
    PRESTREAM,
    UNSET,
    Timestamp,
    check_offset,
    next_allowed,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from concurrent.futures import Future
    from typing import SupportsIndex

    from penstock.contract import CalculatorContract
    from penstock.engine.node import Node
    from penstock.engine.stream import InputStream, OutputStream
    from penstock.ports import Ports
    from penstock.services import ServiceKey

S = TypeVar("S")
M = TypeVar("M")

OPEN: Final = 0
PROCESS: Final = 1
CLOSE: Final = 2
METHODS: Final = ("open", "process", "close")


@final
class Stop:
    """The type of `STOP`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "penstock.STOP"

    def __reduce__(self) -> str:
        return "STOP"


#: What `process` returns to end a source, or, from a calculator with inputs, the run.
STOP: Final = Stop()

#: What `process` may return; `open` and `close` likewise, but for STOP.
Outcome: TypeAlias = "Stop | Awaitable[Stop | None] | Future[Stop | None] | None"

_NO_PACKET: Final = Packet()


@mypyc_attr(allow_interpreted_subclasses=True)
class Calculator:
    """The code of a node. Subclass it, declare ports in `get_contract`, work in `process`.

    An instance is made for each node and each run, and dropped after the run. `open`, `process` and `close`
    may be `async def`, or return an awaitable or a `concurrent.futures.Future`; unless the graph
    says `max_in_flight`, they are never called at the same time for one node, but not always on
    the same thread.
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the type of every port, before anything runs.

        Must be overridden; raising makes the graph refuse to load, with this node named.
        """
        raise NotImplementedError(f"{cls.__name__} does not say which ports it has: override get_contract")

    def open(self, cc: CalculatorContext) -> Outcome:  # noqa: ARG002  # for overriding methods
        """Prepare for a run, once side packets and stream headers are there.

        May write packets and headers. An exception ends the run, and `close` is not called.
        """
        return None  # the compiler takes a body without it for an abstract one

    def process(self, cc: CalculatorContext) -> Outcome:
        """Work on one input set; for a source, make the next outputs.

        An exception ends the run; what this call wrote is dropped, and `close` is still called.
        """
        raise NotImplementedError(f"{type(self).__name__} has no process method")

    def close(self, cc: CalculatorContext) -> Outcome:  # noqa: ARG002  # as `open`
        """Finish: called once at the end for every calculator whose `open` succeeded.

        What it writes is delivered unless the run failed. There is no input any more.
        """
        return None


class NodeServices(Protocol):
    """What a context needs from above the engine; the runtime provides it."""

    def options(self, node: Node, message_type: type[M]) -> M:
        """Return the node's options of a type."""

    def service(self, node: Node, key: ServiceKey[S]) -> S:
        """Return a service that the node's contract asks for."""

    def counter(self, node: Node, name: str) -> Any:
        """Return the counter `<node>-<name>`."""

    def set_output_side_packet(self, node: Node, name: str, packet: Packet) -> None:
        """Give a side packet to the nodes that wait for it."""

    def count_dropped(self, stream: InputStream, reason: str, count: int) -> None:
        """Count packets that the node has taken from a stream as thrown away."""


class Writer(Protocol):
    """The writer of an output: a context, or the application where the stream is a graph input."""

    @property
    def method(self) -> int:
        """OPEN, PROCESS or CLOSE."""

    @property
    def stamp(self) -> int:
        """The input timestamp."""


class Input:
    """One input port during an invocation.

    Attributes:
        packet: the packet of this input set; where there is none, an empty one that carries the
            last settled timestamp (UNSTARTED if none is).
        done: what `is_done` returns. For input stream handlers.
    """

    __slots__ = ("done", "packet", "stream")

    def __init__(self, stream: InputStream) -> None:
        self.stream: Final = stream
        self.packet = _NO_PACKET
        self.done = False

    @property
    def payload(self) -> Any:
        """The payload, or None where there is no packet."""
        value = self.packet.value
        return None if value is NOTHING else value

    def is_empty(self) -> bool:
        """Return whether there is no packet at this timestamp."""
        return self.packet.value is NOTHING

    def is_done(self) -> bool:
        """Return whether nothing comes after this packet."""
        return self.done

    @property
    def header(self) -> Packet:
        """The stream's header, or an empty packet."""
        return self.stream.header

    @property
    def name(self) -> str:
        """The name of the stream."""
        return self.stream.name

    def count_dropped(self, reason: str, count: SupportsIndex = 1) -> None:
        """Count packets that came in here as thrown away unused, now or before.

        For calculators whose purpose is to drop: the graph's ledger then counts these packets as
        dropped by this node, not as delivered.

        Args:
            reason: why, in a few words that stay the same: the ledger adds up by reason.
            count: how many packets.

        Raises:
            InvalidArgumentError: `count` is negative, or more than came in here.
        """
        stream = self.stream
        number = index(count)
        if not 0 <= number <= stream.delivered:
            raise InvalidArgumentError(
                f"stream {stream.name!r}: {number} packets cannot have been dropped where {stream.delivered} "
                "came in",
                stream=stream.name,
            )
        if number and stream.node is not None:
            stream.node.services.count_dropped(stream, reason, number)

    def fill(self, packet: Packet) -> None:
        """Show `packet` in the coming invocation. For input stream handlers."""
        self.packet = packet
        stream = self.stream
        if stream.bound == DONE:
            self.done = not stream.queue

    def clear(self) -> None:
        """Release the packet, so that its payload can be freed."""
        self.packet = _NO_PACKET


@mypyc_attr(allow_interpreted_subclasses=True)  # see `runtime.tracing`
class Output:
    """One output port during an invocation.

    Attributes:
        bound: the smallest timestamp that may be written now. For handlers and tests.
        packets: what was written and not yet delivered.
    """

    __slots__ = ("_accepted", "_context", "bound", "packets", "stream", "will_close")

    def __init__(self, stream: OutputStream, context: Writer) -> None:
        self.stream: Final = stream
        self._context: Final = context
        self._accepted: Final = stream.accepted
        self.bound = PRESTREAM
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
            and value is not NOTHING
        ):
            self.packets.append(packet)
            self.bound = stamp + 1
        else:
            self._add_with_care(packet)

    def set_next_timestamp_bound(self, bound: SupportsIndex) -> None:
        """Promise that nothing below `bound` will be written.

        Raises:
            TimestampError: neither allowed in a stream nor ONE_OVER_POSTSTREAM.
            TimestampOrderError: below the present bound.
            StreamClosedError: the stream is closed.
        """
        t = Packet(timestamp=bound).stamp
        name = self.stream.name
        if self._is_closed():
            raise self._closed_error("bound", t)
        if not PRESTREAM <= t <= ONE_OVER_POSTSTREAM:
            raise TimestampError(
                f"stream {name!r}: {show(t)} is no timestamp bound; it must be allowed in a stream, "
                "or be ONE_OVER_POSTSTREAM",
                stream=name,
                timestamp=t,
            )
        if t < self.bound and self.stream.is_ordered:
            raise TimestampOrderError(
                f"stream {name!r}: bound {show(t)} is behind the present bound {show(self.bound)}; "
                "bounds only grow",
                stream=name,
                timestamp=t,
            )
        self.bound = max(t, self.bound)

    def set_header(self, packet: Packet) -> None:
        """Give the stream a header, which its readers see from their `open` on.

        Raises:
            FailedPreconditionError: not in `open`.
            InvalidArgumentError: the packet has a timestamp.
        """
        name = self.stream.name
        self._only_in_open("set_header")
        if packet.stamp != UNSET:
            raise InvalidArgumentError(
                f"stream {name!r}: a header has no timestamp, but this one has {show(packet.stamp)}",
                stream=name,
            )
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
        return self._is_closed()

    @property
    def name(self) -> str:
        """The name of the stream."""
        return self.stream.name

    def _is_closed(self) -> bool:
        return self.will_close or self.stream.is_closed

    def _only_in_open(self, what: str) -> None:
        if self._context.method != OPEN:
            raise FailedPreconditionError(
                f"stream {self.stream.name!r}: {what} can be called in open() only, not in "
                f"{METHODS[self._context.method]}()",
                stream=self.stream.name,
            )

    def _closed_error(self, what: str, t: int) -> StreamClosedError:
        name = self.stream.name
        return StreamClosedError(
            f"stream {name!r}: {what} at {show(t)} after the stream was closed", stream=name, timestamp=t
        )

    def _add_with_care(self, packet: Packet) -> None:
        """Refuse with a reason, or handle what is too rare for the fast path."""
        t, stream, name = packet.stamp, self.stream, self.stream.name
        if self._is_closed():
            raise self._closed_error("packet", t)
        if stream.offset is not None and self._context.method == CLOSE:
            raise FailedPreconditionError(
                f"stream {name!r}: a node with a timestamp offset cannot write in close(), because its "
                "outputs are done when its inputs are; set bounds in process() instead of the offset, "
                "and keep a timestamp (Timestamp.MAX, say) free",
                stream=name,
                timestamp=t,
            )
        if not PRESTREAM <= t <= POSTSTREAM:
            raise TimestampError(
                f"stream {name!r}: {show(t)} cannot be the timestamp of a packet in a stream",
                stream=name,
                timestamp=t,
            )
        if packet.value is NOTHING:
            self.set_next_timestamp_bound(next_allowed(t))
            return
        if t < self.bound and stream.is_ordered:
            raise self._order_error(t)
        if t == POSTSTREAM and (self.packets or stream.added) and stream.is_ordered:
            raise TimestampOrderError(
                f"stream {name!r}: a packet at Timestamp::PostStream() must be the only one of its stream",
                stream=name,
                timestamp=t,
            )
        if not stream.fits(packet.value):
            raise PacketTypeError(
                f"stream {name!r}: packet at {show(t)} holds a {type(packet.value).__name__!r}, but the "
                f"stream carries {stream.type_name}",
                stream=name,
                timestamp=t,
            )
        self.packets.append(packet)
        if stream.is_ordered:
            self.bound = max(self.bound, next_allowed(t))

    def _order_error(self, t: int) -> TimestampOrderError:
        stream, name = self.stream, self.stream.name
        why = "timestamps in a stream must increase"
        context = self._context
        if stream.offset is not None and context.method == PROCESS:
            promised = context.stamp + stream.offset if MIN <= context.stamp <= MAX else context.stamp
            if t < promised:
                why = (
                    f"the node promised an offset of {stream.offset} from its input at {show(context.stamp)}"
                )
        return TimestampOrderError(
            f"stream {name!r}: packet at {show(t)} is behind the bound {show(self.bound)}; {why}",
            stream=name,
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
            raise InvalidArgumentError(f"output side packet {name!r}: an empty packet", stream=name)
        if packet.stamp != UNSET:
            raise InvalidArgumentError(
                f"output side packet {name!r} has a timestamp {show(packet.stamp)}; side packets have none",
                stream=name,
            )
        value = packet.value
        wrong_bool = isinstance(value, bool) and self.classes is not None and bool not in self.classes
        if self.classes is not None and (wrong_bool or not isinstance(value, self.classes)):
            raise PacketTypeError(
                f"output side packet {name!r} is given a {type(value).__name__!r}, but is declared as "
                f"{self.type_name}",
                stream=name,
            )
        self._context.publish_side_packet(name, packet)


class CalculatorContext:
    """What the methods of a calculator receive.

    Attributes:
        inputs, outputs: the connected stream ports, `cc.inputs["TAG"]`.
        input_side_packets: the connected side packets, as `Packet`s. Optional ones that were not
            given are absent: ask with `in`.
        output_side_packets: the connected output side packet ports.
        method: OPEN, PROCESS or CLOSE: which method runs. For the framework.
        stamp: the input timestamp as a plain int. For the framework.
    """

    __slots__ = (
        "input_side_packets", "inputs", "method", "node", "output_side_packets", "outputs", "stamp",
    )  # fmt: skip

    inputs: Ports[Input]
    outputs: Ports[Output]
    input_side_packets: Ports[Packet]
    output_side_packets: Ports[OutputSidePacket]

    def __init__(self, node: Node) -> None:
        self.node: Final = node
        self.method = OPEN
        self.stamp = UNSET

    @property
    def input_timestamp(self) -> Timestamp:
        """The timestamp of the input set: UNSTARTED in `open`, 0 in a source, DONE in `close`."""
        return Timestamp.of(self.stamp)

    @property
    def input(self) -> Input:
        """The only input.

        Raises:
            InvalidArgumentError: the node has none or several.
        """
        return _only(self.inputs, "input", self.node.name)

    @property
    def output(self) -> Output:
        """The only output.

        Raises:
            InvalidArgumentError: the node has none or several.
        """
        return _only(self.outputs, "output", self.node.name)

    @property
    def node_name(self) -> str:
        """The node's canonical name, unique in the graph."""
        return self.node.name

    def options(self, message_type: type[M]) -> M:
        """Return the node's options of a class, defaults where the graph gives none.

        Of a protobuf message class it is a copy, which is the caller's; of an attrs class it is made once
        for the node, and shared by all callers.
        """
        return self.node.services.options(self.node, message_type)

    def service(self, key: ServiceKey[S]) -> S:
        """Return a graph service that the contract asks for.

        Raises:
            NotFoundError: the contract does not ask for it, or it is optional and absent.
        """
        return self.node.services.service(self.node, key)

    def counter(self, name: str) -> Any:
        """Return the counter `<node name>-<name>` of the graph."""
        return self.node.services.counter(self.node, name)

    def set_next_timestamp_bound(self, bound: SupportsIndex) -> None:
        """Set the bound of all outputs; see `Output.set_next_timestamp_bound`."""
        for output in self.outputs:
            output.set_next_timestamp_bound(bound)

    def set_offset(self, offset: SupportsIndex) -> None:
        """Set the timestamp offset of all outputs; in `open` only."""
        for output in self.outputs:
            output.set_offset(offset)

    def set_process_timestamp_bounds(self, process: object = True) -> None:  # noqa: FBT002
        """Ask for `process` at settled timestamps without packets too; in `open` only.

        Raises:
            FailedPreconditionError: not in `open`.
        """
        if self.method != OPEN:
            raise FailedPreconditionError(
                f"node {self.node.name!r}: set_process_timestamp_bounds belongs in get_contract() or open(), "
                f"not in {METHODS[self.method]}()",
                node=self.node.name,
            )
        self.node.policy.process_bounds = bool(process)

    def publish_side_packet(self, name: str, packet: Packet) -> None:
        """Publish a side packet. For `OutputSidePacket`."""
        self.node.services.set_output_side_packet(self.node, name, packet)

    def clear_inputs(self) -> None:
        """Release the input packets, so that their payloads can be freed. For the framework."""
        for port in self.inputs.items:
            port.packet = _NO_PACKET


def _only(ports: Ports[S], what: str, node: str) -> S:
    if len(ports) != 1:
        raise InvalidArgumentError(
            f"node {node!r} has {len(ports)} {what}s; cc.{what} stands for an only one, use cc.{what}s[...]",
            node=node,
        )
    return ports.items[0]
