"""`Calculator`, and the context that its methods receive, which holds the `Input`s and `Output`s.

A context belongs to one invocation at a time; only the thread that runs it touches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from penstock.engine.input_port import NO_PACKET, Input
from penstock.engine.methods import METHODS, OPEN
from penstock.engine.native import mypyc_attr
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.timestamp import UNSET, Timestamp

if TYPE_CHECKING:
    from typing import SupportsIndex

    from penstock.contract import CalculatorContract
    from penstock.engine.node import Node
    from penstock.engine.outcome import Outcome
    from penstock.engine.output_port import Output, OutputSidePacket
    from penstock.engine.packet import Packet
    from penstock.engine.stream import InputStream, OutputStream
    from penstock.port_collection import Ports
    from penstock.services import ServiceKey

S = TypeVar("S")
M = TypeVar("M")


@mypyc_attr(allow_interpreted_subclasses=True)
class Calculator:
    """The code of a node. Subclass it, declare ports in `get_contract`, work in `process`.

    An instance is made for each node and each run, and dropped after the run; with `options_changed(cc)` it
    can take other options, with `reset(cc)` live on (`penstock_steering`). `open`, `process` and `close` may
    be `async def`, or return an awaitable or a `concurrent.futures.Future`; unless the graph says
    `max_in_flight`, they are never called at the same time for one node, but not always on the same thread.
    With it, each call has ports of its own.
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the type of every port, before anything runs.

        Must be overridden; raising makes the graph refuse to load, with this node named.
        """
        raise NotImplementedError(
            f"{cls.__name__} is a calculator that does not say which ports it has: override get_contract"
        )

    def open(self, cc: CalculatorContext) -> Outcome:  # noqa: ARG002  # for overriding methods
        """Prepare for a run, once side packets and stream headers are there.

        May write packets and headers. An exception ends the run, and `close` is not called.
        """
        return None  # the compiler takes a body without it for an abstract one

    def process(self, cc: CalculatorContext) -> Outcome:
        """Work on one input set; for a source, make the next outputs.

        An exception ends the run; what this call wrote is dropped, and `close` is still called.
        """
        raise NotImplementedError(f"{type(self).__name__} is a calculator without a process method")

    def close(self, cc: CalculatorContext) -> Outcome:  # noqa: ARG002  # as `open`
        """Finish: called once at the end for every calculator whose `open` succeeded.

        What it writes is delivered unless the run failed. There is no input any more.
        """
        return None


class NodeServices(Protocol):
    """What a context needs from above the engine; the runtime provides it."""

    def options(self, node: Node, message_type: type[M]) -> M:
        """Return the node's options of a type."""

    def has_options(self, node: Node, message_type: type[Any]) -> bool:
        """Return whether the graph gives the node options of a type."""

    def service(self, node: Node, key: ServiceKey[S]) -> S:
        """Return a service that the node's contract asks for."""

    def copied_services(self, node: Node) -> list[tuple[str, Any]]:
        """Return the name and object of each service that a node gets a copy of in another process."""

    def counter(self, node: Node, name: str) -> Any:
        """Return the counter `<node>-<name>`."""

    def set_output_side_packet(self, node: Node, name: str, packet: Packet) -> None:
        """Give a side packet to the nodes that wait for it."""

    def count_dropped(self, stream: InputStream, reason: str, count: int) -> None:
        """Count packets that the node has taken from a stream as thrown away."""

    def count_cut(self, stream: InputStream, reason: str, count: int) -> None:
        """Count elements of lists that the node has taken from a stream as left out."""

    def is_stopping(self) -> bool:
        """Return whether the run's sources have been asked to end, or the run has an error."""

    def count_unwritten(self, stream: OutputStream, reason: str, count: int) -> None:
        """Count packets that the node has thrown away in place of writing them to a stream."""

    def take_waiting(self, stream: InputStream) -> list[Packet]:
        """Take the packets that wait in the queue of a node that closes."""

    def empty_array(self, shape: object, dtype: object) -> Any:
        """Return a new array for a payload."""


class CalculatorContext:
    """What the methods of a calculator receive."""

    __slots__ = (
        "input_side_packets", "inputs", "method", "node", "output_side_packets", "outputs", "stamp",
    )  # fmt: skip

    #: `inputs`, `outputs`: the connected stream ports, `cc.inputs["TAG"]`.
    inputs: Ports[Input]
    outputs: Ports[Output]
    #: The connected side packets, as `Packet`s. Optional ones that were not given are absent: ask with `in`.
    input_side_packets: Ports[Packet]
    #: The connected output side packet ports.
    output_side_packets: Ports[OutputSidePacket]

    def __init__(self, node: Node) -> None:
        self.node: Final = node
        #: OPEN, PROCESS or CLOSE: which method runs. For the framework.
        self.method = OPEN
        #: The input timestamp as a plain int. For the framework.
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

    @property
    def is_stopping(self) -> bool:
        """Whether the run's sources have been asked to end, as by a first Ctrl-C, or the run has an error.

        A source then gets no further call but `close`. For `open` and `process` of sources that wait for
        something outside of the graph: they look at it several times a second, and return. In another process
        it is always false.
        """
        return self.node.services.is_stopping()

    def options(self, message_type: type[M]) -> M:
        """Return the node's options of a class, defaults where the graph gives none.

        Of a protobuf message class it is a copy, which is the caller's; of an attrs class it is made once
        for the node, and shared by all callers.
        """
        return self.node.services.options(self.node, message_type)

    def has_options(self, message_type: type[Any]) -> bool:
        """Return whether the graph gives the node options of a class, were they empty."""
        return self.node.services.has_options(self.node, message_type)

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

    def clear_inputs(self) -> None:
        """Release the input packets, so that their payloads can be freed. For the framework."""
        for port in self.inputs.items:
            port.packet = NO_PACKET


def _only(ports: Ports[S], what: str, node: str) -> S:
    if len(ports) != 1:
        raise InvalidArgumentError(
            f"node {node!r} has {len(ports)} {what}s, but cc.{what} is for calculators with one; use "
            f"cc.{what}s[...]",
            node=node,
        )
    return ports.items[0]
