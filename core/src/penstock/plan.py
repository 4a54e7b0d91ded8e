"""The checked graph: `penstock.check` makes it, and a run is built from it. Immutable.

Nodes are in stable topological order and known by their position; streams have numbers too, graph
inputs first. A plan is shared by all runs of a graph; calculators are made again for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.record import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.contract import CalculatorContract
    from penstock.engine.calculator import Calculator
    from penstock.engine.guard import Guard
    from penstock.payload_types import PayloadType

#: The type of an unnamed executor without a type: found by name like any other, so that it can be replaced.
DEFAULT_EXECUTOR: Final = "ThreadPoolExecutor"


class PortPlan(Record):
    """One connected stream port of a node."""

    __slots__ = ("tag", "index", "stream", "back_edge")  # noqa: RUF023  # in the order of `__init__`

    def __init__(self, tag: str, index: int, stream: int, back_edge: bool = False) -> None:  # noqa: FBT001, FBT002
        #: `tag`, `index`: the port's place.
        self.tag: Final = tag
        self.index: Final = index
        #: Number of the stream.
        self.stream: Final = stream
        #: For inputs: whether the connection closes a cycle.
        self.back_edge: Final = back_edge


class SidePortPlan(Record):
    """One connected side packet port of a node."""

    __slots__ = (  # noqa: RUF023  # in the order of `__init__`
        "tag", "index", "name", "classes", "type_name", "optional", "produced",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913, PLR0917  # made in few places
        self,
        tag: str,
        index: int,
        name: str,
        classes: tuple[type, ...] | None = None,
        type_name: str = "any type",
        optional: bool = False,  # noqa: FBT001, FBT002
        produced: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        self.tag: Final = tag
        self.index: Final = index
        #: The name of the side packet.
        self.name: Final = name
        #: What a payload must be an instance of; None for any.
        self.classes: Final = classes
        self.type_name: Final = type_name
        #: Whether the node runs without it.
        self.optional: Final = optional
        #: For inputs: whether a node of the graph makes it (it is waited for).
        self.produced: Final = produced


class HandlerPlan(NamedTuple):
    """The input stream handler of a node: its class (an instance is made for each run) and its options.

    `options` has `get(MessageType)` and `are_given()`, as the options of a node.
    """

    name: str
    factory: Any
    options: Any


class Placing(Protocol):
    """Makes calculators of one node, each where the node's executor wants it."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the executor places them elsewhere."""

    def make(self, node: NodePlan, plan: Plan) -> Calculator:
        """Return a new calculator, or what stands for it here."""


class FailurePlan(Protocol):
    """The failure policy of one node, as the graph gives it."""

    @property
    def error_stream(self) -> str:
        """The name of its error stream, or ""."""

    def guard(self, node: NodePlan, plan: Plan, placing: Placing) -> Guard:
        """Return the guard of the node in a run. `placing` makes the calculators that it needs later."""


class NodePlan(NamedTuple):
    """One node. All port tuples are in id order (tags in byte order, then index)."""

    #: Position in `Plan.nodes`.
    id: int
    #: Canonical name, unique in the graph.
    name: str
    #: Registered name of the calculator.
    calculator: str
    #: The class.
    factory: type[Calculator]
    #: Filled in and checked; carries offset, process bounds, services.
    contract: CalculatorContract
    #: Has `get(MessageType)` and `are_given()`.
    options: Any
    inputs: tuple[PortPlan, ...]
    outputs: tuple[PortPlan, ...]
    input_side_packets: tuple[SidePortPlan, ...]
    output_side_packets: tuple[SidePortPlan, ...]
    handler: HandlerPlan
    #: Name of the executor; "" is the default one.
    executor: str = ""
    source_layer: int = 0
    max_in_flight: int = 1
    #: Makes what guards its calls; None: a failed call ends the run. Where it has an error stream, that is
    #: the last of `outputs`.
    failure: FailurePlan | None = None

    @property
    def is_source(self) -> bool:
        """Whether the node has outputs and no inputs: `process` is called until it says STOP."""
        return not self.inputs and bool(self.outputs)


class StreamPlan(NamedTuple):
    """One stream."""

    #: Position in `Plan.streams`.
    id: int
    name: str
    #: Id of the node that writes it, or None for a graph input.
    producer: int | None
    #: What a payload must be an instance of when it is written; None for any.
    classes: tuple[type, ...] | None
    #: The type as a user reads it.
    type_name: str
    #: The alternatives of the type as they are declared; () for any.
    types: tuple[PayloadType, ...] = ()


class ExecutorPlan(NamedTuple):
    """One executor of the graph."""

    #: "" is the default one.
    name: str
    #: Registered name, or "" where the application must hand one in (or the default type is meant, for the
    #: default executor).
    type: str
    #: Has `get(MessageType)` and `are_given()`.
    options: Any
    #: The graph's `num_threads` field, for the default executor; 0 where unset.
    num_threads: int = 0


class LateMessage:
    """Stands for a CalculatorGraphConfig that is made when something asks for it. It has the fields too."""

    __slots__ = ()

    #: The names of the calculators of its nodes, which have no `option_value`.
    calculators: Iterable[str]

    def message(self) -> Any:
        """Return the message, always the same."""
        raise NotImplementedError


def message_of(config: Any) -> Any:
    """Return the CalculatorGraphConfig that a graph comes from, or that stands for it."""
    return config.message() if isinstance(config, LateMessage) else config


class _Plan(NamedTuple):
    nodes: tuple[NodePlan, ...]
    #: Graph inputs first, then in order of their producers.
    streams: tuple[StreamPlan, ...]
    #: Number of graph inputs: streams[:graph_inputs].
    graph_inputs: int
    executors: tuple[ExecutorPlan, ...]
    #: For each stream, which sources wait when its queue is full: ids of source nodes as they are, graph
    #: inputs as ~stream id. Sets are shared between streams.
    throttled: tuple[frozenset[int], ...]
    #: Packets per input stream; -1 for no limit.
    max_queue_size: int
    report_deadlock: bool
    #: The checked CalculatorGraphConfig message, or a `LateMessage`.
    config: Any
    #: Name → number of each stream.
    stream_ids: Mapping[str, int]
    #: Where the graph came from, for messages, or None.
    file: str | None = None
    #: Knows the options in `config`, for writing it as text; None where it is not written.
    option_types: Any = None
    #: Those that the graph says the application gives; nodes may read others.
    declared_side_packets: frozenset[str] = frozenset()


class Plan(_Plan):
    """The whole graph."""

    __slots__ = ()

    @property
    def config(self) -> Any:
        """The checked CalculatorGraphConfig message; None for a plan that was made by hand."""
        return message_of(super().config)

    @property
    def fields(self) -> Any:
        """What has the fields of `config`, and may be something else: it is there without protobuf."""
        return super().config


def plan_throttling(
    nodes: tuple[NodePlan, ...], stream_count: int, graph_inputs: int
) -> tuple[frozenset[int], ...]:
    """Return `Plan.throttled`: for each stream the sources whose packets lead to it.

    One pass in topological order, so linear in the nodes; nodes with the same set share one object.
    A back edge counts only what was known when its reader came up, as in the reference.
    """
    above: list[frozenset[int]] = [frozenset()] * stream_count
    for stream in range(graph_inputs):
        above[stream] = frozenset((~stream,))
    for node in nodes:
        if node.is_source:
            sources = frozenset((node.id,))
        elif len(node.inputs) == 1:
            sources = above[node.inputs[0].stream]
        else:
            distinct = list({id(above[port.stream]): above[port.stream] for port in node.inputs}.values())
            largest = max(distinct, key=len, default=frozenset[int]())
            sources = largest
            if not all(one <= largest for one in distinct):
                sources = frozenset().union(*distinct)
        for port in node.outputs:
            above[port.stream] = sources
    return tuple(above)
