"""The checked graph: `penstock.check` makes it, and a run is built from it. Immutable.

Nodes are in stable topological order and known by their position; streams have numbers too, graph
inputs first. A plan is shared by all runs of a graph; calculators are made again for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from penstock.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.contract import CalculatorContract
    from penstock.engine.calculator import Calculator
    from penstock.engine.guard import Guard

#: The type of an unnamed executor without a type: found by name like any other, so that it can be replaced.
DEFAULT_EXECUTOR: Final = "ThreadPoolExecutor"


class PortPlan(Record):
    """One connected stream port of a node.

    Attributes:
        tag, index: the port's place.
        stream: number of the stream.
        back_edge: for inputs: whether the connection closes a cycle.
    """

    __slots__ = ("tag", "index", "stream", "back_edge")  # noqa: RUF023  # in the order of `__init__`

    def __init__(self, tag: str, index: int, stream: int, back_edge: bool = False) -> None:  # noqa: FBT001, FBT002
        self.tag: Final = tag
        self.index: Final = index
        self.stream: Final = stream
        self.back_edge: Final = back_edge


class SidePortPlan(Record):
    """One connected side packet port of a node.

    Attributes:
        name: of the side packet.
        classes: what a payload must be an instance of; None for any.
        optional: whether the node runs without it.
        produced: for inputs: whether a node of the graph makes it (it is waited for).
    """

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
        self.name: Final = name
        self.classes: Final = classes
        self.type_name: Final = type_name
        self.optional: Final = optional
        self.produced: Final = produced


class HandlerPlan(NamedTuple):
    """The input stream handler of a node: its class (an instance is made for each run) and its options.

    `options` has `get(MessageType)`, as the options of a node.
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
    """One node. All port tuples are in id order (tags in byte order, then index).

    Attributes:
        id: position in `Plan.nodes`.
        name: canonical name, unique in the graph.
        calculator: registered name of the calculator.
        factory: the class.
        contract: filled in and checked; carries offset, process bounds, services.
        options: has `get(MessageType)`.
        executor: name of the executor; "" is the default one.
        failure: makes what guards its calls; None: a failed call ends the run. Where it has an error stream,
            that is the last of `outputs`.
    """

    id: int
    name: str
    calculator: str
    factory: type[Calculator]
    contract: CalculatorContract
    options: Any
    inputs: tuple[PortPlan, ...]
    outputs: tuple[PortPlan, ...]
    input_side_packets: tuple[SidePortPlan, ...]
    output_side_packets: tuple[SidePortPlan, ...]
    handler: HandlerPlan
    executor: str = ""
    source_layer: int = 0
    max_in_flight: int = 1
    failure: FailurePlan | None = None

    @property
    def is_source(self) -> bool:
        """Whether the node has outputs and no inputs: `process` is called until it says STOP."""
        return not self.inputs and bool(self.outputs)


class StreamPlan(NamedTuple):
    """One stream.

    Attributes:
        id: position in `Plan.streams`.
        producer: id of the node that writes it, or None for a graph input.
        classes: what a payload must be an instance of when it is written; None for any.
        type_name: the type as a user reads it.
    """

    id: int
    name: str
    producer: int | None
    classes: tuple[type, ...] | None
    type_name: str


class ExecutorPlan(NamedTuple):
    """One executor of the graph.

    Attributes:
        name: "" is the default one.
        type: registered name, or "" where the application must hand one in (or the default type
            is meant, for the default executor).
        options: has `get(MessageType)`.
        num_threads: the graph's `num_threads` field, for the default executor; 0 where unset.
    """

    name: str
    type: str
    options: Any
    num_threads: int = 0


class Plan(NamedTuple):
    """The whole graph.

    Attributes:
        streams: graph inputs first, then in order of their producers.
        graph_inputs: number of graph inputs: streams[:graph_inputs].
        throttled: for each stream, which sources wait when its queue is full: ids of source nodes
            as they are, graph inputs as ~stream id. Sets are shared between streams.
        max_queue_size: packets per input stream; -1 for no limit.
        config: the checked CalculatorGraphConfig message.
        stream_ids: name → number of each stream.
        file: where the graph came from, for messages, or None.
        option_types: knows the options in `config`, for writing it as text; None where it is not written.
        declared_side_packets: those that the graph says the application gives; nodes may read others.
    """

    nodes: tuple[NodePlan, ...]
    streams: tuple[StreamPlan, ...]
    graph_inputs: int
    executors: tuple[ExecutorPlan, ...]
    throttled: tuple[frozenset[int], ...]
    max_queue_size: int
    report_deadlock: bool
    config: Any
    stream_ids: Mapping[str, int]
    file: str | None = None
    option_types: Any = None
    declared_side_packets: frozenset[str] = frozenset()


def sources_above(
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
        else:
            distinct = list({id(above[port.stream]): above[port.stream] for port in node.inputs}.values())
            largest = max(distinct, key=len, default=frozenset[int]())
            sources = largest
            if not all(one <= largest for one in distinct):
                sources = frozenset().union(*distinct)
        for port in node.outputs:
            above[port.stream] = sources
    return tuple(above)
